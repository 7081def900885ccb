/**
 * What counters of healthy devices show beside the jobs' own doing: what they had counted before, and what comes on top.
 */
import { hashText } from '../../core/prng.js';
import type { MetricName } from '../../model/telemetry/catalog.js';
import { metricDefinition } from '../../model/telemetry/catalog.js';
import { peerPort, type Topology } from '../../model/topology/model.js';
import { between, logUniformOf, normalOf, poissonOf, uniformAt } from './draws.js';
import { idsOf, type World } from './world.js';

/** log10 of what byte counters, and counters of corrected bits, show after months. N2, O2 */
const LIFETIME_BYTES = [12, 15] as const;
const LIFETIME_CORRECTED = [6, 12] as const;
/** Uncorrectable codewords stem from link-ups, four at a time. O9 */
const LOT = 4;
const S_PER_HOUR = 3600;
/** How much a rate by the second scatters about its mean, as a logarithm; with a mean of one. */
const BURSTY = 0.5;

/** More frequent bursts are a trait of the NIC, which the record tells, and no events. */
const MOST_NOTED_PER_S = 0.1;

/** Loss bursts and late ACKs of one NIC in one second. */
export interface SecondOfNic {
  bursts: number;
  packets: number;
  lateAcks: number;
}

export type CounterElement = 'port' | 'queue' | 'nic';

export class CounterNoise {
  /** By NIC, events a second. */
  private readonly burstRate: Float64Array;
  private readonly lateAckRate: number;
  /** By NIC, and by port that pauses its sender: a second of sending. */
  readonly cnpRate: Float64Array;
  readonly pauseRate: Float64Array;
  readonly pauseLastsNs: Float64Array;
  readonly controlBytesPerNs: number;
  private readonly streams: Readonly<Record<'port' | 'nic', Int32Array>>;
  private readonly statedBursts: Map<number, number>;
  private readonly statedLateAcks: Map<number, number>;
  private readonly ids: ReturnType<typeof idsOf>;

  constructor(
    private readonly world: World,
    private readonly topology: Topology,
    /** Counters that start again when read: they show nothing of before. */
    private readonly cleared: readonly string[],
  ) {
    const ids = idsOf(topology);
    this.ids = ids;
    const { level } = world;
    this.streams = {
      port: Int32Array.from(ids.ports, (id) => hashText(id)),
      nic: Int32Array.from(ids.nics, (id) => hashText(id)),
    };
    this.burstRate = Float64Array.from(ids.nics, (id) =>
      world.lasting('lossBurstRate', id, ({ lossBurst }) => lossBurst.perHour / S_PER_HOUR, 0),
    );
    this.lateAckRate = (level?.ackTimeout.perHour ?? 0) / S_PER_HOUR;
    this.cnpRate = Float64Array.from(ids.nics, (id) =>
      world.lasting(
        'cnpRate',
        id,
        ({ cnp: [least, most] }, uniform) => logUniformOf(uniform, least, most),
        0,
      ),
    );
    this.pauseRate = Float64Array.from(ids.ports, (id) =>
      world.lasting('pauseRate', id, ({ pause }, uniform) => between(uniform, pause.perS), 0),
    );
    const lastS = level?.pause.lastS ?? ([1e-5, 1e-5] as const);
    this.pauseLastsNs = Float64Array.from(
      ids.ports,
      (id) => 1e9 * logUniformOf(world.uniform('pause-lasts', id), ...lastS),
    );
    this.controlBytesPerNs = (level?.controlBytesPerS ?? 0) / 1e9;
    const seconds = (trait: 'lossBurst' | 'ackTimeout'): Map<number, number> =>
      new Map([...world.allStated(trait)].map(([id, atS]) => [ids.nics.indexOf(id), Math.floor(atS)]));
    this.statedBursts = seconds('lossBurst');
    this.statedLateAcks = seconds('ackTimeout');
  }

  /** What a counter showed before the run, by element. @param count elements; queues are class × ports + port */
  starts(metric: MetricName, element: CounterElement, count: number): Float64Array {
    const starts = new Float64Array(count);
    if (this.cleared.includes(metric)) return starts;
    const { level } = this.world;
    const streams = this.streams[element === 'nic' ? 'nic' : 'port'];
    const seed = this.world.seedOf(metric);
    for (let at = 0; at < count; at++) {
      const place = at % streams.length;
      const classIndex = (at - place) / streams.length;
      const stated = this.statedStart(metric, element, place);
      if (stated !== undefined) starts[at] = stated;
      else if (level !== undefined) {
        const { zero, log10 } = level.lifetime;
        starts[at] = this.start(metric, uniformAt(seed, streams[place], classIndex), zero, log10);
      }
    }
    return starts;
  }

  private start(metric: MetricName, uniform: number, zero: number, log10: readonly [number, number]): number {
    if (metric === 'port_fec_uncorrected_codewords') return LOT * poissonOf(uniform, 1);
    if (uniform < zero) return 0;
    const span = metric.endsWith('_bytes')
      ? LIFETIME_BYTES
      : metric === 'port_fec_corrected_codewords' || metric === 'port_fec_symbol_errors'
        ? LIFETIME_CORRECTED
        : log10;
    return Math.floor(10 ** between((uniform - zero) / (1 - zero), span));
  }

  private statedStart(metric: MetricName, element: CounterElement, place: number): number | undefined {
    if (!this.world.isStated('lifetimeEvents') || metricDefinition(metric)?.unit === 'bytes')
      return undefined;
    const { nics, ports } = this.topology;
    const device = element === 'nic' ? nics[place].host : ports[place].device;
    return this.world.statedOf('lifetimeEvents', this.ids.devices[device]);
  }

  /** What happens at a NIC in a second of the run. */
  second(nic: number, second: number, out: SecondOfNic): void {
    const stream = this.streams.nic[nic];
    const draw = (trait: string): number => uniformAt(this.world.seedOf(trait), stream, second);
    out.bursts =
      Number(this.statedBursts.get(nic) === second) + poissonOf(draw('loss-burst'), this.burstRate[nic]);
    out.lateAcks =
      Number(this.statedLateAcks.get(nic) === second) + poissonOf(draw('late-ack'), this.lateAckRate);
    const span = this.world.level?.lossBurst.packets ?? ([1, 20] as const);
    out.packets = out.bursts === 0 ? 0 : Math.floor(out.bursts * between(draw('burst-length'), span));
    if (out.bursts > 0 && this.burstRate[nic] < MOST_NOTED_PER_S)
      this.note('lossBurst', nic, second, out.packets);
    if (out.lateAcks > 0) this.note('ackTimeout', nic, second, out.lateAcks);
  }

  /** Packets that a NIC drops when its job starts for the n-th time. */
  startDiscards(nic: number, nth: number): number {
    const { level } = this.world;
    if (level === undefined) return 0;
    const uniform = uniformAt(this.world.seedOf('start-discards'), this.streams.nic[nic], nth);
    return Math.floor(between(uniform, level.startDiscards));
  }

  /** Factor on the rates of an element in a second: marks and pauses come in bursts. */
  burstiness(element: 'port' | 'nic', index: number, second: number): number {
    const uniform = uniformAt(this.world.seedOf('burstiness'), this.streams[element][index], second);
    return Math.exp(BURSTY * normalOf(uniform) - BURSTY ** 2 / 2);
  }

  /** Port that pauses what a port sends. */
  pausedBy(port: number): number {
    return peerPort(this.topology, port);
  }

  private note(event: string, nic: number, second: number, value: number): void {
    const fromNs = second * 1e9;
    this.world.happened({ event, element: this.ids.nics[nic], fromNs, toNs: fromNs + 1e9, value });
  }
}
