/**
 * What lies between devices and the operator's database in an untidy world: when each is asked, polls that fail, gaps,
 * caches that answer with what they held, clocks that are off.
 *
 * A poll that fails loses all that the device would have said, as a scrape does. A gap hits devices drawn for it.
 */
import { hashText } from '../../core/prng.js';
import type { MetricName } from '../../model/telemetry/catalog.js';
import type { Topology } from '../../model/topology/model.js';
import { between, logNormalOf, normalOf, poissonOf, uniformAt } from './draws.js';
import type { Level } from './levels.js';
import { idsOf, type World } from './world.js';

const HOUR_NS = 3600e9;
const NS_PER_S = 1e9;
/** Instants at which a round may be taken within an interval: as many as a collector deals its targets out to. */
const PHASES = 8;
/** A sample still comes before the next one. */
const LATEST_SHARE = 0.4;
/** A gap that a file states. S4 */
const STATED_GAP_NS = 300e9;
const SLOWER = 3;

interface Gap {
  fromNs: number;
  toNs: number;
  /** Share of the devices that it hits, drawn by device. */
  share: number;
  draw: number;
  /** The one device that it hits, where a file states it. */
  device?: number;
}

export class PollNoise {
  private readonly ids: readonly string[];
  private readonly streams: Int32Array;
  private readonly phase: Float64Array;
  private readonly jitterNs: Float64Array;
  private readonly missing: Float64Array;
  private readonly offsetNs: Float64Array;
  private readonly slow: Uint8Array;
  private readonly gaps: Gap[] = [];
  private drawnHours = -1;
  private readonly missingSeed: number;
  private readonly jitterSeed: number;

  constructor(
    private readonly world: World,
    topology: Topology,
  ) {
    const { devices } = topology;
    this.ids = idsOf(topology).devices;
    this.streams = Int32Array.from(this.ids, (id) => hashText(id));
    this.phase = Float64Array.from(
      this.ids,
      (id) =>
        world.lasting('pollPhase', id, (_, uniform) => (100 * Math.floor(PHASES * uniform)) / PHASES, 0) /
        100,
    );
    this.jitterNs = Float64Array.from(
      this.ids,
      (id) => NS_PER_S * world.lasting('pollJitter', id, ({ jitterS }) => jitterS.spread, 0),
    );
    this.missing = Float64Array.from(
      this.ids,
      (id) => world.lasting('missingSamples', id, ({ missing }) => 100 * missing, 0) / 100,
    );
    this.offsetNs = Float64Array.from(
      devices,
      ({ index, role }) =>
        NS_PER_S * world.lasting('clockOffset', this.ids[index], offsetOf(role === 'host'), 0),
    );
    this.slow = Uint8Array.from(this.ids, (id) =>
      Number(world.uniform('slow-cache', id) < (world.level?.cache.slow ?? 0)),
    );
    this.missingSeed = world.seedOf('missing');
    this.jitterSeed = world.seedOf('jitter');
    for (const [id, atS] of world.allStated('scrapeGap')) {
      const fromNs = atS * NS_PER_S;
      this.add({ fromNs, toNs: fromNs + STATED_GAP_NS, share: 0, draw: 0, device: this.ids.indexOf(id) });
    }
  }

  /** When in an interval a device is asked, as a share of it; undefined where only the settings say. */
  phaseOf(device: number): number | undefined {
    return this.world.level === undefined && !this.world.isStated('pollPhase')
      ? undefined
      : this.phase[device];
  }

  /** Of the pipeline that brings what jobs tell. */
  get jobPhase(): number {
    return this.world.level === undefined ? 0 : this.world.uniform('job-phase', '');
  }

  /** Nothing comes back from a device in a round. @param source tells polls of one device apart */
  misses(device: number, round: number, nowNs: number, source: number): boolean {
    const uniform = uniformAt(this.missingSeed + source, this.streams[device], round);
    return uniform < this.missing[device] || this.inGap(device, nowNs);
  }

  /** Rounds after which a device's cache of a metric is brought up to date. */
  cacheRounds(metric: MetricName, device: number, intervalNs: number): number {
    const { level } = this.world;
    if (level === undefined) return 1;
    const { queueS, opticS } = level.cache;
    const ageS = metric.startsWith('queue_') ? queueS : metric.startsWith('optic_') ? opticS : 0;
    const slower = this.slow[device] === 1 ? SLOWER : 1;
    return Math.max(1, Math.round((ageS * slower * NS_PER_S) / intervalNs));
  }

  /** Which of those rounds it is, by device. */
  cacheTurn(device: number, rounds: number): number {
    return Math.floor(rounds * uniformAt(this.missingSeed - 1, this.streams[device], 0));
  }

  /** A series that answers N/A throughout. */
  isBlank(metric: string, element: string): boolean {
    const { level } = this.world;
    return level !== undefined && this.world.uniform(`blank ${metric}`, element) < level.blank;
  }

  /** The time under which what a device said is found. @param intervalNs of a poll; 0 for what it sends on its own */
  stampNs(device: number, timeNs: number, intervalNs: number): number {
    const offNs = this.offsetNs[device];
    if (intervalNs === 0) return timeNs + offNs;
    const uniform = uniformAt(this.jitterSeed, this.streams[device], Math.floor(timeNs / 1e6));
    const tail = this.world.level?.jitterS;
    const lateNs =
      tail !== undefined && tail.tailMedian > 0
        ? NS_PER_S * logNormalOf(uniform, tail.tailMedian, tail.tailSigma)
        : this.jitterNs[device] * normalOf(uniform);
    const mostNs = LATEST_SHARE * intervalNs;
    return timeNs + offNs + Math.max(-mostNs, Math.min(mostNs, lateNs));
  }

  private inGap(device: number, nowNs: number): boolean {
    const { level } = this.world;
    if (level !== undefined) this.drawGaps(level, nowNs);
    for (const { fromNs, toNs, share, draw, device: only } of this.gaps) {
      if (nowNs < fromNs || nowNs >= toNs) continue;
      if (only === undefined ? uniformAt(draw, this.streams[device], 0) < share : only === device)
        return true;
    }
    return false;
  }

  /** Hour by hour, from the one before the run on, whose gaps may reach into it. */
  private drawGaps({ gap }: Level, nowNs: number): void {
    for (; this.drawnHours * HOUR_NS <= nowNs; this.drawnHours++) {
      const hour = this.drawnHours;
      const draw = (which: string): number => this.world.uniform(`gap ${which}`, '', hour);
      const count = poissonOf(draw('count'), gap.perDay / 24);
      if (count === 0) continue;
      const fromNs = (hour + draw('start')) * HOUR_NS;
      const toNs = fromNs + NS_PER_S * between(draw('length'), gap.lastS);
      this.add({
        fromNs,
        toNs,
        share: between(draw('targets'), gap.targets),
        draw: this.world.seedOf(`gap ${hour}`),
      });
    }
  }

  private add(gap: Gap): void {
    this.gaps.push(gap);
    if (gap.toNs <= 0) return;
    const element = gap.device === undefined ? 'collector' : this.ids[gap.device];
    this.world.happened({
      event: 'scrapeGap',
      element,
      fromNs: gap.fromNs,
      toNs: gap.toNs,
      value: gap.share,
    });
  }
}

const offsetOf =
  (isHost: boolean) =>
  ({ clock }: Level, uniform: number): number => {
    if (!isHost) return clock.switch * normalOf(uniform);
    const { share, offset } = clock.far;
    if (uniform < share) return uniform < share / 2 ? -offset : offset;
    return clock.host * normalOf((uniform - share) / (1 - share));
  };
