/**
 * Parity: how well a simulated twin predicted what was measured, layer by layer, and the trust that it earns.
 *
 * A layer is one question that both fabrics answer from evidence (layers.ts). Two answers agree when they are of the same
 * kind (both came back, neither rerouted) and, where they are figures, when they differ by no more than the layer's
 * tolerance: a share of what was measured, or an absolute time, or what the coarser of both could tell at all, whichever
 * is most. No data is unknown, never agreement. The grade is that of the worst layer: A within its tolerance, B within
 * twice as much, C within four times, D beyond that or of another kind. Formula and example: docs/parity.md.
 * Not modelled: that errors of several layers have one cause.
 */
import { medianInterval } from '../repeats.js';

/** What a layer says of one run. */
export type Reading =
  /** `resolution`: how finely it could be told, in the unit of the layer. */
  | { is: 'measured'; value: number; resolution: number }
  /** It is known that there was nothing of the kind: nothing rerouted, so nothing came back. */
  | { is: 'nothing' }
  /** It should have come, and did not while anybody watched. */
  | { is: 'never' }
  | { is: 'unknown' };

export interface LayerDefinition {
  name: string;
  label: string;
  unit: 's' | 'steps/s' | 'GB/s';
  /** Share of what was measured that a prediction may be off by. */
  relative: number;
  /** What it may be off by in any case, in the layer's unit. */
  absolute: number;
  description: string;
}

const RELATIVE = 0.25;
/** 100 ms: scheduling on a busy machine moves a real event by as much. */
const ABSOLUTE_S = 0.1;

const seconds = { unit: 's', relative: RELATIVE, absolute: ABSOLUTE_S } as const;
const pace = { relative: RELATIVE, absolute: 0 } as const;

export const LAYERS = [
  {
    name: 'throughput_before',
    label: 'training before',
    unit: 'steps/s',
    ...pace,
    description: 'steps a second of the jobs that the fault was to hit, before it',
  },
  {
    name: 'detect',
    label: 'detect',
    ...seconds,
    description:
      'injection to the first true change of what both fabrics tell of the faulted elements, as fine as their polls',
  },
  {
    name: 'reroute',
    label: 'reroute',
    ...seconds,
    description:
      'injection until the last port of the fabric that had to let go of prefixes has, as installed routes are logged',
  },
  {
    name: 'throughput_during',
    label: 'training during',
    unit: 'steps/s',
    ...pace,
    description:
      'steps a second of the same jobs from the injection to the revert, as fine as one step in that time',
  },
  {
    name: 'traffic_during',
    label: 'job traffic during',
    unit: 'GB/s',
    ...pace,
    description: 'payload a second that their ranks delivered to each other in that time',
  },
  {
    name: 'routes_back',
    label: 'routes back',
    ...seconds,
    description: 'revert until all of these ports are next hops for as many prefixes as before, and stay it',
  },
  {
    name: 'failback',
    label: 'failback',
    ...seconds,
    description: 'revert until pace, bytes and next hops are as before, as fine as steps and polls',
  },
] as const satisfies readonly LayerDefinition[];

export type LayerName = (typeof LAYERS)[number]['name'];
export type LayerReadings = Readonly<Record<LayerName, Reading>>;

/** One side of a layer: a run, or the median of several. */
export interface Side {
  is: Reading['is'];
  /** Null unless measured. */
  value: number | null;
  /** Of the median; null unless measured. */
  low: number | null;
  high: number | null;
  /** Chance that the interval holds the median of all runs; null unless several were measured. */
  confidence: number | null;
  resolution: number | null;
  /** Runs that say the same kind of thing, of how many. */
  runs: number;
  of: number;
}

export interface LayerComparison {
  layer: LayerName;
  label: string;
  unit: LayerDefinition['unit'];
  predicted: Side;
  measured: Side;
  /** Predicted less measured; null unless both are figures. */
  difference: number | null;
  /** What the difference may be; null unless both are figures. */
  tolerance: number | null;
  /** Absolute difference as a multiple of the tolerance; null where there is none. */
  excess: number | null;
  /** Null: not known. */
  agrees: boolean | null;
}

export const GRADES = ['A', 'B', 'C', 'D'] as const;
export type Grade = (typeof GRADES)[number];

/** Multiples of its tolerance that a layer may be off by, for each grade but the last. */
const GRADE_LIMITS: readonly (readonly [Grade, number])[] = [
  ['A', 1],
  ['B', 2],
  ['C', 4],
];

export interface Trust {
  /** Of the worst layer that is known; null where none is. */
  grade: Grade | null;
  /** Layers that decide it: all that are off by as much, empty for an A. */
  because: LayerName[];
  /** Layers about which nothing is known: with any, the grade is no more than the best that it can be. */
  unknown: LayerName[];
}

/** One run of a parity check, as stored. */
export interface ParityRun {
  id: string;
  seed: number;
  state: string;
  /** Why its figures prove nothing, one sentence each; empty for a drill that did what it should. */
  doubts: string[];
  readings: LayerReadings;
}

export interface ParitySide {
  fabric: string;
  driver: string;
  runs: ParityRun[];
}

export interface ParityResult {
  experiment: string;
  version: string;
  predicted: ParitySide;
  measured: ParitySide;
  /** What the fault was aimed at, by seed; the same on both. */
  targets: { seed: number; elements: string[] }[];
  layers: LayerComparison[];
  trust: Trust;
  verdict: ParityVerdict;
}

/** `agrees` only where every layer is known and within its tolerance, and no run is in doubt. */
export type ParityVerdict = 'agrees' | 'differs' | 'inconclusive';

/** What the layers say together; runs in doubt prove no agreement. */
export function parityVerdict(layers: readonly LayerComparison[], doubted: boolean): ParityVerdict {
  if (doubted || layers.length === 0) return 'inconclusive';
  if (layers.some(({ agrees }) => agrees === false)) return 'differs';
  return layers.every(({ agrees }) => agrees === true) ? 'agrees' : 'inconclusive';
}

const nothingKnown = (of: number): Side => ({
  is: 'unknown',
  ...{ value: null, low: null, high: null, confidence: null, resolution: null },
  ...{ runs: 0, of },
});

/** Several runs of one side: what most of those say that know; as many on either side of a question is unknown. */
export function sideOf(readings: readonly Reading[]): Side {
  const known = readings.filter(({ is }) => is !== 'unknown');
  const count = (kind: Reading['is']): number => known.filter(({ is }) => is === kind).length;
  const kinds = (['measured', 'nothing', 'never'] as const).toSorted((a, b) => count(b) - count(a));
  const [is, next] = kinds;
  if (known.length === 0 || count(is) === count(next)) return nothingKnown(readings.length);
  const counts = { runs: count(is), of: readings.length };
  const figures = known.filter((one) => one.is === 'measured');
  if (is !== 'measured') return { ...nothingKnown(readings.length), is, ...counts };
  const { median, low, high, confidence } = medianInterval(figures.map(({ value }) => value));
  return {
    is,
    value: median,
    low,
    high,
    confidence: figures.length > 1 ? confidence : null,
    resolution: Math.max(...figures.map(({ resolution }) => resolution)),
    ...counts,
  };
}

/** One layer: the runs of the twin against those of the real fabric. */
export function compareLayer(
  { name, label, unit, relative, absolute }: LayerDefinition & { name: LayerName },
  predictions: readonly Reading[],
  measurements: readonly Reading[],
): LayerComparison {
  const [predicted, measured] = [sideOf(predictions), sideOf(measurements)];
  const head = { layer: name, label, unit, predicted, measured };
  const none = { difference: null, tolerance: null, excess: null };
  if (predicted.is === 'unknown' || measured.is === 'unknown') return { ...head, ...none, agrees: null };
  if (predicted.is !== measured.is) return { ...head, ...none, agrees: false };
  if (predicted.is !== 'measured') return { ...head, ...none, agrees: true };
  const difference = predicted.value! - measured.value!;
  const resolution = Math.max(predicted.resolution!, measured.resolution!);
  const tolerance = Math.max(relative * Math.abs(measured.value!), absolute, resolution);
  const excess = difference === 0 ? 0 : Math.abs(difference) / tolerance;
  return { ...head, difference, tolerance, excess, agrees: excess <= 1 };
}

/** All layers, in their published order. */
export const compareLayers = (
  predictions: readonly LayerReadings[],
  measurements: readonly LayerReadings[],
): LayerComparison[] =>
  LAYERS.map((layer) =>
    compareLayer(
      layer,
      predictions.map((one) => one[layer.name]),
      measurements.map((one) => one[layer.name]),
    ),
  );

/** The grade of one layer; null where it is not known. */
export function gradeOf({ agrees, excess }: LayerComparison): Grade | null {
  if (agrees === null) return null;
  if (excess === null) return agrees ? 'A' : 'D';
  return GRADE_LIMITS.find(([, limit]) => excess <= limit)?.[0] ?? 'D';
}

/** The worst layer decides. */
export function trustIn(layers: readonly LayerComparison[]): Trust {
  const grades = layers.map((layer) => ({ name: layer.layer, grade: gradeOf(layer) }));
  const worst = GRADES.findLast((grade) => grades.some((one) => one.grade === grade)) ?? null;
  return {
    grade: worst,
    because:
      worst === 'A'
        ? []
        : grades.filter(({ grade }) => grade === worst && worst !== null).map(({ name }) => name),
    unknown: grades.filter(({ grade }) => grade === null).map(({ name }) => name),
  };
}
