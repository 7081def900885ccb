/**
 * What happens to a healthy fabric though nobody injected it: links that flap, sessions that bounce, GPUs too hot, counters
 * that start again. Drawn hour by hour by element, or stated by a file at an instant.
 */
import { hashText } from '../../core/prng.js';
import { NS_PER } from '../../core/units.js';
import type { Topology } from '../../model/topology/model.js';
import { between, exponentialOf, logNormalOf, poissonOf, uniformAt } from './draws.js';
import type { Level } from './levels.js';
import { idsOf, type World } from './world.js';

const HOURS_PER_DAY = 24;
const HOURS_PER_MONTH = 30 * HOURS_PER_DAY;

const BACKGROUND_EVENTS = ['flap', 'bfdBounce', 'throttle', 'counterReset'] as const;
type BackgroundEventKind = (typeof BACKGROUND_EVENTS)[number];

export interface BackgroundEvent {
  kind: BackgroundEventKind;
  /** Index of the link, the GPU or the device. */
  subject: number;
  fromNs: number;
  /** Equal to `fromNs` for what is over at once. */
  toNs: number;
  /** Of a throttled GPU: how many times longer it computes. */
  factor: number;
}

/** What is drawn, s and factor, and how often an hour an element has it. */
const perHour: Readonly<Record<BackgroundEventKind, (level: Level) => number>> = {
  flap: ({ flap }) => flap.perMonth / HOURS_PER_MONTH,
  bfdBounce: ({ bfdBouncePerDay }) => bfdBouncePerDay / HOURS_PER_DAY,
  throttle: ({ throttle }) => throttle.perDay / HOURS_PER_DAY,
  counterReset: ({ resetPerMonth }) => resetPerMonth / HOURS_PER_MONTH,
};

/** What a file states lasts as long as such things usually do. G5, O18 */
const STATED = { flap: 5, bfdBounce: 0, throttle: 600, counterReset: 0, factor: 1.07 } as const;

export class BackgroundEvents {
  private readonly elements: Readonly<
    Record<BackgroundEventKind, { ids: readonly string[]; streams: Int32Array }>
  >;
  private readonly gpuOf: (id: string) => number;

  constructor(
    private readonly world: World,
    topology: Topology,
    betweenSwitches: Uint8Array,
  ) {
    const ids = idsOf(topology);
    const of = (all: readonly string[]) => ({
      ids: all,
      streams: Int32Array.from(all, (id) => hashText(id)),
    });
    this.elements = {
      flap: of(ids.links),
      bfdBounce: of(ids.links.map((id, link) => (betweenSwitches[link] === 1 ? id : ''))),
      throttle: of(ids.gpus),
      counterReset: of(ids.devices),
    };
    this.gpuOf = (id) => {
      const own = ids.gpus.indexOf(id);
      return own >= 0 ? own : topology.gpus.findIndex(({ host }) => ids.devices[host] === id);
    };
  }

  get isDrawn(): boolean {
    return this.world.level !== undefined;
  }

  /** Those of a file, whatever the hour. */
  stated(): BackgroundEvent[] {
    return BACKGROUND_EVENTS.flatMap((kind) =>
      [...this.world.allStated(kind)].flatMap(([id, atS]): BackgroundEvent[] => {
        const subject = kind === 'throttle' ? this.gpuOf(id) : this.elements[kind].ids.indexOf(id);
        if (subject < 0) return [];
        const fromNs = atS * NS_PER.s;
        return [{ kind, subject, fromNs, toNs: fromNs + STATED[kind] * NS_PER.s, factor: STATED.factor }];
      }),
    );
  }

  /** Those that begin in an hour of the run; -1 is the one before it. */
  ofHour(hour: number): BackgroundEvent[] {
    const { level } = this.world;
    if (level === undefined) return [];
    return BACKGROUND_EVENTS.flatMap((kind) => this.drawn(kind, level, hour));
  }

  note({ kind, subject, fromNs, toNs, factor }: BackgroundEvent): void {
    const element = this.elements[kind].ids[subject];
    this.world.happened({
      event: kind,
      element,
      fromNs,
      toNs,
      ...(kind === 'throttle' ? { value: factor } : {}),
    });
  }

  private drawn(kind: BackgroundEventKind, level: Level, hour: number): BackgroundEvent[] {
    const { ids, streams } = this.elements[kind];
    const seed = this.world.seedOf(kind);
    const mean = perHour[kind](level);
    const found: BackgroundEvent[] = [];
    for (let subject = 0; subject < streams.length; subject++) {
      if (ids[subject] === '' || poissonOf(uniformAt(seed, streams[subject], hour), mean) === 0) continue;
      const draw = (which: number): number => uniformAt(seed + which, streams[subject], hour);
      const fromNs = (hour + draw(1)) * NS_PER.h;
      const toNs = fromNs + NS_PER.s * lastsS(kind, level, draw(2));
      if (toNs > 0)
        found.push({ kind, subject, fromNs, toNs, factor: between(draw(3), level.throttle.factor) });
    }
    return found;
  }
}

const lastsS = (kind: BackgroundEventKind, { flap, throttle }: Level, uniform: number): number => {
  if (kind === 'flap') return Math.min(60, Math.max(1, logNormalOf(uniform, flap.medianS, flap.sigma)));
  return kind === 'throttle' ? exponentialOf(uniform, throttle.meanS) : 0;
};
