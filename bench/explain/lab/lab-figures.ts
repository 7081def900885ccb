/**
 * Figures of drills on a lab beside the bounds that real stacks are to keep: how soon a loss is found, how long flows stand
 * still, when equal-cost paths are back, how long a job takes to move.
 *
 * All are read off the evidence, with the instants at which settings were turned and given back. Routes and sessions are
 * logged when they change; bytes and stalls are as fine as their polls.
 */
import { jobId } from '../../../src/core/elements.js';
import { EvidenceIndex } from '../../../src/model/telemetry/series.js';
import type { Yardstick } from '../../row.js';
import { deviationsOff } from './drop-count.js';
import type { LabResult } from './lab-drill.js';

export interface LabFigure {
  measure: string;
  yardstick: Yardstick;
  /** Of one drill, in the unit of the yardstick; null where it does not tell. */
  of(result: LabResult): number | null;
  /** Which of several drills is told: the worst unless a least is asked for. */
  best?: true;
}

/** An edge counts as standing still after so long without anything that arrives, so that shorter gaps are not seen. */
const UNSEEN_GAP_S = 0.25;

const index = ({ evidence }: LabResult): EvidenceIndex => new EvidenceIndex(evidence);

/** Ports at the ends of what was faulted. */
const portsOf = ({ run }: LabResult): string[] =>
  run.truth.flatMap(({ elements }) => elements.filter(({ type }) => type === 'port').map(({ id }) => id));

/** Seconds from an instant to the first sample after it with this value. */
function firstS(
  result: LabResult,
  metric: string,
  elements: readonly string[],
  from: number | null,
  is: (value: number) => boolean,
): number | null {
  if (from === null) return null;
  const times = elements.flatMap((element) => {
    const series = index(result).get(metric, element);
    if (series === undefined) return [];
    const at = series.values.findIndex((value, place) => series.timesNs[place] > from && is(value));
    return at === -1 ? [] : [(series.timesNs[at] - from) / 1e9];
  });
  return times.length === 0 ? null : Math.min(...times);
}

/** When the ports of the fault have no routes any more, s after the injection. */
const routesLeft = (result: LabResult): number | null => {
  const { injectedNs } = result.record;
  const times = portsOf(result).map((port) =>
    firstS(result, 'route_port_prefixes', [port], injectedNs, (value) => value === 0),
  );
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : Math.max(...known);
};

/** Longest silence of a connection of the job that the fault hit, or the bound below which it can't be seen, s. */
function longestGap(result: LabResult): number | null {
  const { injectedNs, revertedNs } = result.record;
  if (injectedNs === null || revertedNs === null) return null;
  const gains = index(result)
    .all('edge_stalled_s')
    .map(({ timesNs, values }) => {
      const within = [...values.keys()].filter(
        (at) => timesNs[at] >= injectedNs && timesNs[at] <= revertedNs,
      );
      return within.length < 2 ? 0 : values[within[within.length - 1]] - values[Math.max(0, within[0] - 1)];
    });
  return gains.length === 0 ? null : UNSEEN_GAP_S + Math.max(...gains);
}

/** When every port of the fault is a next hop for as many prefixes as before, s after the undo. */
function pathsBack(result: LabResult): number | null {
  const { injectedNs, revertedNs } = result.record;
  if (injectedNs === null || revertedNs === null) return null;
  const times = portsOf(result).flatMap((port) => {
    const series = index(result).get('route_port_prefixes', port);
    if (series === undefined) return [];
    const before = series.values[Math.max(0, series.timesNs.findIndex((time) => time > injectedNs) - 1)];
    return [
      firstS(result, 'route_port_prefixes', [port], revertedNs, (value) => value === before) ?? Infinity,
    ];
  });
  return times.length === 0 ? null : Math.max(...times);
}

const S = { unit: 's' };
const bfdDown = (result: LabResult): number | null =>
  firstS(result, 'bfd_session_status', portsOf(result), result.record.injectedNs, (value) => value === 0);

const FIGURES: Readonly<Record<string, readonly LabFigure[]>> = {
  'lab-link-down': [
    { measure: 'longest_flow_gap_s', yardstick: { ...S, floor: 0.5 }, of: longestGap },
    { measure: 'routes_left_s', yardstick: { ...S, floor: 0.5 }, of: routesLeft },
    { measure: 'ecmp_back_s', yardstick: { ...S, floor: 6 }, of: pathsBack },
  ],
  'lab-optic-error': [
    {
      measure: 'drop_ratio_off_by',
      yardstick: { unit: 'sigma', floor: 4 },
      of: ({ drops }) => (drops === undefined ? null : deviationsOff(drops)),
    },
  ],
  'lab-blackhole': [
    { measure: 'bfd_detected_s', yardstick: { ...S, floor: 2 }, of: bfdDown },
    {
      measure: 'bfd_detected_least_s',
      yardstick: { ...S, floor: 0.2, better: 'higher' },
      of: bfdDown,
      best: true,
    },
    { measure: 'ecmp_back_s', yardstick: { ...S, floor: 6 }, of: pathsBack },
  ],
  'lab-blackhole-no-bfd': [
    { measure: 'hold_time_detected_s', yardstick: { ...S, floor: 15 }, of: routesLeft },
    {
      measure: 'hold_time_detected_least_s',
      yardstick: { ...S, floor: 5, better: 'higher' },
      of: routesLeft,
      best: true,
    },
  ],
  'lab-job-migration': [
    {
      measure: 'runs_elsewhere_s',
      yardstick: { ...S, floor: 5 },
      of: (result) =>
        firstS(result, 'job_restarts', [jobId('exposed')], result.record.injectedNs, (value) => value > 0),
    },
  ],
};

export const figuresOf = (name: string): readonly LabFigure[] => FIGURES[name] ?? [];
