/**
 * Series that are told on change or logged line by line: all in one log, each entry pointing to the one before it.
 *
 * Nearly all of them say one thing at the start and nothing more, so a series costs an entry, not arrays of its own.
 */
import { QUALITY, type Series } from '../series.js';

/** Entries of one series in the log, oldest first. */
interface Extract {
  timesNs: Float64Array;
  values: Float64Array;
  quality: Uint8Array;
}

export class ChangeLog {
  private times = new Float64Array(64);
  private samples = new Float64Array(64);
  private codes = new Uint8Array(64);
  private before = new Int32Array(64);
  private count = 0;
  /** By series: its newest entry, -1 when it has none. */
  private newest = new Int32Array(64).fill(-1);
  private seriesCount = 0;

  /** @returns the number of the first of `count` new series */
  open(count: number): number {
    const first = this.seriesCount;
    this.seriesCount += count;
    while (this.newest.length < this.seriesCount) {
      const newest = new Int32Array(2 * this.newest.length).fill(-1);
      newest.set(this.newest);
      this.newest = newest;
    }
    return first;
  }

  /** A message sent on change; nothing is added when nothing changed. */
  change(series: number, timeNs: number, value: number): void {
    const newest = this.newest[series];
    if (newest >= 0 && this.samples[newest] === value) return;
    if (newest >= 0 && this.times[newest] >= timeNs) this.samples[newest] = value;
    else this.add(series, timeNs, value, QUALITY.fresh);
  }

  /** A line of a log: added even if it says the same as the last; NaN is N/A. */
  line(series: number, timeNs: number, value: number): void {
    this.add(series, timeNs, value, Number.isNaN(value) ? QUALITY.notAvailable : QUALITY.fresh);
  }

  /** A series as it is now, both ends of the window included. @param carry whether it holds from before the window */
  series(metric: string, element: string, series: number, window: ChangeWindow): Series {
    return new ChangeSeries(metric, element, this, this.newest[series], window);
  }

  /** What the entries from `newest` back say of a window. */
  extract(newest: number, { fromNs, toNs, carry }: ChangeWindow): Extract {
    let entry = newest;
    while (entry >= 0 && this.times[entry] > toNs) entry = this.before[entry];
    const last = entry;
    let count = 0;
    let first = -1;
    while (entry >= 0 && this.times[entry] >= fromNs) {
      first = entry;
      entry = this.before[entry];
      count++;
    }
    const held = carry && entry >= 0 && (first < 0 || this.times[first] !== fromNs);
    if (held) count++;
    const extract = {
      timesNs: new Float64Array(count),
      values: new Float64Array(count),
      quality: new Uint8Array(count),
    };
    for (let at = count - 1, from = last; at >= 0; at--, from = this.before[from]) {
      extract.timesNs[at] = this.times[from];
      extract.values[at] = this.samples[from];
      extract.quality[at] = this.codes[from];
    }
    if (held) {
      extract.timesNs[0] = fromNs;
      extract.quality[0] = QUALITY.repeated;
    }
    return extract;
  }

  private add(series: number, timeNs: number, value: number, code: number): void {
    if (this.count === this.times.length) this.grow();
    const entry = this.count++;
    this.times[entry] = timeNs;
    this.samples[entry] = value;
    this.codes[entry] = code;
    this.before[entry] = this.newest[series];
    this.newest[series] = entry;
  }

  private grow(): void {
    const capacity = 2 * this.times.length;
    const grown = <T extends { set(from: T): void }>(into: T, from: T): T => {
      into.set(from);
      return into;
    };
    this.times = grown(new Float64Array(capacity), this.times);
    this.samples = grown(new Float64Array(capacity), this.samples);
    this.codes = grown(new Uint8Array(capacity), this.codes);
    this.before = grown(new Int32Array(capacity), this.before);
  }
}

/** Part of a log that is asked for. */
export interface ChangeWindow {
  fromNs: number;
  toNs: number;
  /** Whether what was said before the window still holds at its start; a log says nothing of the kind. */
  carry: boolean;
}

/** Reads its entries when somebody asks, and keeps them. */
class ChangeSeries implements Series {
  private samples: Extract | undefined = undefined;

  constructor(
    readonly metric: string,
    readonly element: string,
    private readonly log: ChangeLog,
    private readonly newest: number,
    private readonly window: ChangeWindow,
  ) {}

  get timesNs(): Float64Array {
    return this.load().timesNs;
  }

  get values(): Float64Array {
    return this.load().values;
  }

  get quality(): Uint8Array {
    return this.load().quality;
  }

  private load(): Extract {
    return (this.samples ??= this.log.extract(this.newest, this.window));
  }
}
