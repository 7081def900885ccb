/**
 * Devices that one collector polls in one round: which elements they have, and a column for each metric of those.
 *
 * A device without power answers nothing, and so nothing is read of it: what is kept between two polls (watermarks,
 * counts) waits until it is back. Elements stand in the order of their devices, so those of neighbouring devices that
 * all answer are read in one go.
 */
import type { MetricName } from '../../model/telemetry/catalog.js';
import type { PollClock } from '../../model/telemetry/columns/poll-clock.js';
import type { PollColumn, Read } from '../../model/telemetry/columns/poll-column.js';
import type { PollNoise } from '../noise/poll-noise.js';
import type { DeviceReadings, Reading } from './device-readings.js';
import type { SeriesBook } from './series-book.js';

/** By metric: series number of each element, by the element's index; -1 where there is none. */
export type SeriesNumbers = Readonly<Record<MetricName, Int32Array>>;

/** Elements of one kind, those of the `n`-th device from `starts[n]` up to `starts[n + 1]`. */
interface Elements {
  indices: Int32Array;
  starts: Int32Array;
}

interface PolledMetric {
  column: PollColumn;
  read: Read;
  elements: Elements;
  /** The question whether a device answers has an answer whatever happens. */
  always: boolean;
  /** By place of the device: rounds between two answers that its cache does not give, and which of them; where it has one. */
  cache?: { rounds: Int32Array; turn: Int32Array };
}

export class DevicePolls {
  private readonly metrics: PolledMetric[] = [];
  /** By place, of the round under way: the device answers; with noise, a poll may also fail that it would answer. */
  private readonly answers: Uint8Array;

  /** @param deviceUp by device: 1 when it answers */
  constructor(
    private readonly book: SeriesBook,
    private readonly series: SeriesNumbers,
    readonly clock: PollClock,
    private readonly devices: Int32Array,
    private readonly deviceUp: Uint8Array,
    private readonly readings: DeviceReadings,
    /** Undefined in a quiet world. */
    private readonly noise?: PollNoise,
  ) {
    this.answers = new Uint8Array(devices.length);
  }

  /** Has a metric polled, where it is watched at all. @param elementsOf indices of a device's elements */
  add([metric, read]: Reading, elementsOf: (device: number) => readonly number[], always = false): void {
    const numbers = this.series[metric];
    const elements = this.elements((device) => elementsOf(device).filter((index) => numbers[index] >= 0));
    if (elements.indices.length === 0) return;
    const column = this.book.column(
      metric,
      this.clock,
      elements.indices.map((index) => numbers[index]),
    );
    this.metrics.push({ column, read, elements, always, cache: this.cacheOf(metric) });
  }

  poll(nowNs: number): void {
    const round = this.clock.rounds++;
    this.readings.nowNs = nowNs;
    this.readings.round = round;
    const fails = this.ask(round, nowNs);
    const stretches = this.stretches();
    for (const metric of this.metrics) {
      const { column, read, elements, always, cache } = metric;
      const { indices, starts } = elements;
      column.begin();
      if (always && !fails) column.fill(0, indices.length, indices, read);
      else if (always) this.fillReached(metric, round, nowNs);
      else {
        for (const { from, to, up } of stretches) {
          if (!up) column.skip(starts[from], starts[to]);
          else if (cache === undefined) column.fill(starts[from], starts[to], indices, read);
          else this.fillCached(metric, cache, from, to, round);
        }
      }
      this.book.disturb(column, round);
    }
  }

  /** Finds out which devices answer. @returns whether some poll fails */
  private ask(round: number, nowNs: number): boolean {
    const { answers, devices, deviceUp, noise } = this;
    let fails = false;
    for (let place = 0; place < devices.length; place++) {
      const device = devices[place];
      answers[place] = deviceUp[device];
      if (noise?.misses(device, round, nowNs, this.clock.intervalNs) !== true) continue;
      answers[place] = 0;
      fails = true;
    }
    return fails;
  }

  /** A poll that fails tells nothing, not even whether the device would answer. */
  private fillReached(
    { column, read, elements: { indices, starts } }: PolledMetric,
    round: number,
    nowNs: number,
  ): void {
    for (let place = 0; place < this.devices.length; place++) {
      const [from, to] = [starts[place], starts[place + 1]];
      if (this.noise!.misses(this.devices[place], round, nowNs, this.clock.intervalNs)) column.skip(from, to);
      else column.fill(from, to, indices, read);
    }
  }

  private fillCached(
    { column, read, elements: { indices, starts } }: PolledMetric,
    { rounds, turn }: NonNullable<PolledMetric['cache']>,
    from: number,
    to: number,
    round: number,
  ): void {
    for (let place = from; place < to; place++) {
      const [first, end] = [starts[place], starts[place + 1]];
      if (round % rounds[place] === turn[place]) column.fill(first, end, indices, read);
      else column.hold(first, end, indices, read);
    }
  }

  private cacheOf(metric: MetricName): PolledMetric['cache'] {
    const { clock, devices, noise } = this;
    if (noise === undefined) return undefined;
    const rounds = devices.map((device) => noise.cacheRounds(metric, device, clock.intervalNs));
    if (rounds.every((one) => one === 1)) return undefined;
    return { rounds, turn: devices.map((device, place) => noise.cacheTurn(device, rounds[place])) };
  }

  /** Neighbouring devices that all answer, or all don't. */
  private stretches(): { from: number; to: number; up: boolean }[] {
    const stretches: { from: number; to: number; up: boolean }[] = [];
    for (let place = 0; place < this.devices.length; place++) {
      const up = this.answers[place] === 1;
      const last = stretches.at(-1);
      if (last?.up === up) last.to = place + 1;
      else stretches.push({ from: place, to: place + 1, up });
    }
    return stretches;
  }

  private elements(elementsOf: (device: number) => readonly number[]): Elements {
    const starts = new Int32Array(this.devices.length + 1);
    const indices: number[] = [];
    for (let place = 0; place < this.devices.length; place++) {
      starts[place] = indices.length;
      for (const index of elementsOf(this.devices[place])) indices.push(index);
    }
    starts[this.devices.length] = indices.length;
    return { indices: Int32Array.from(indices), starts };
  }
}
