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
}

export class DevicePolls {
  private readonly metrics: PolledMetric[] = [];

  /** @param deviceUp by device: 1 when it answers */
  constructor(
    private readonly book: SeriesBook,
    private readonly series: SeriesNumbers,
    readonly clock: PollClock,
    private readonly devices: Int32Array,
    private readonly deviceUp: Uint8Array,
    private readonly readings: DeviceReadings,
  ) {}

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
    this.metrics.push({ column, read, elements, always });
  }

  poll(nowNs: number): void {
    const round = this.clock.rounds++;
    this.readings.nowNs = nowNs;
    this.readings.round = round;
    const stretches = this.stretches();
    for (const { column, read, elements, always } of this.metrics) {
      const { indices, starts } = elements;
      column.begin();
      if (always) column.fill(0, indices.length, indices, read);
      else {
        for (const { from, to, up } of stretches) {
          if (up) column.fill(starts[from], starts[to], indices, read);
          else column.skip(starts[from], starts[to]);
        }
      }
      this.book.disturb(column, round);
    }
  }

  /** Neighbouring devices that all answer, or all don't. */
  private stretches(): { from: number; to: number; up: boolean }[] {
    const stretches: { from: number; to: number; up: boolean }[] = [];
    for (let place = 0; place < this.devices.length; place++) {
      const up = this.deviceUp[this.devices[place]] === 1;
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
