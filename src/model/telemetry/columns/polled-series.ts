/**
 * A polled series as readers know it, read from its column when somebody asks.
 *
 * What was read is kept for a while, so that a reader may go through it sample by sample; the oldest is let go when
 * the budget is used up. Times are those of the poll clock, shared by all series that miss no sample.
 */
import { QUALITY, type Series } from '../series.js';
import { ABSENT, type PollColumn } from './poll-column.js';
import type { RoundRange } from './poll-clock.js';

interface Samples {
  timesNs: Float64Array;
  values: Float64Array;
  quality: Uint8Array;
}

/** Samples that were read lately, over all series of one evidence. */
export class RecentReads {
  private readonly ring: (PolledSeries | undefined)[];
  private next = 0;

  constructor(count: number) {
    this.ring = new Array<undefined>(count).fill(undefined);
  }

  /** Notes a series that has just been read; the one whose place it takes forgets its samples. */
  note(series: PolledSeries): void {
    this.ring[this.next]?.forget();
    this.ring[this.next] = series;
    this.next = (this.next + 1) % this.ring.length;
  }
}

export class PolledSeries implements Series {
  private samples: Samples | undefined = undefined;

  constructor(
    readonly metric: string,
    readonly element: string,
    private readonly column: PollColumn,
    private readonly place: number,
    private readonly range: RoundRange,
    private readonly reads: RecentReads,
  ) {}

  get timesNs(): Float64Array {
    if (this.samples !== undefined) return this.samples.timesNs;
    // who only counts samples need not read them
    return this.regular ? this.column.clock.samples(this.range).timesNs : this.load().timesNs;
  }

  get values(): Float64Array {
    return (this.samples ?? this.load()).values;
  }

  get quality(): Uint8Array {
    return (this.samples ?? this.load()).quality;
  }

  get regular(): boolean {
    return this.column.isRegular(this.place);
  }

  get constant(): boolean {
    return this.regular && this.column.isConstant(this.place);
  }

  forget(): void {
    this.samples = undefined;
  }

  private load(): Samples {
    const { column, place, range } = this;
    const values = column.readValues(place, range);
    const { timesNs, fresh } = column.clock.samples(range);
    this.samples = column.isRegular(place)
      ? { timesNs, values, quality: fresh }
      : withCodes(timesNs, values, column.readCodes(place, range));
    this.reads.note(this);
    return this.samples;
  }
}

/** Leaves out what did not arrive, and the values of N/A answers. */
function withCodes(timesNs: Float64Array, values: Float64Array, codes: Uint8Array): Samples {
  let count = 0;
  let exceptions = 0;
  for (let at = 0; at < codes.length; at++) {
    if (codes[at] !== ABSENT) count++;
    if (codes[at] !== QUALITY.fresh) exceptions++;
  }
  if (exceptions === 0) return { timesNs, values, quality: codes };
  const kept = {
    timesNs: new Float64Array(count),
    values: new Float64Array(count),
    quality: new Uint8Array(count),
  };
  for (let at = 0, to = 0; at < codes.length; at++) {
    if (codes[at] === ABSENT) continue;
    kept.timesNs[to] = timesNs[at];
    kept.values[to] = codes[at] === QUALITY.notAvailable ? NaN : values[at];
    kept.quality[to++] = codes[at];
  }
  return kept;
}
