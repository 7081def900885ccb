/**
 * What an operator could watch: metrics sampled over elements, as typed-array series.
 *
 * A series is one metric on one element: times and values side by side, times strictly rising, from one clock of the
 * fabric, in ns from the run's start. `quality` keeps three things apart that dashboards blur: a fresh sample, a
 * repeated (stale) one, and an N/A answer; a lost sample is simply not there. Values are numbers; states are encoded
 * as the catalogue says (`oper status`: 1 up, 0 down).
 */

/** Sample quality codes. */
export const QUALITY = { fresh: 0, repeated: 1, notAvailable: 2 } as const;

/** Arrays may be shared between series and worked out when asked for: take them once, and never write to them. */
export interface Series {
  /** Metric name from the catalogue. */
  metric: string;
  /** Element id with prefix. */
  element: string;
  timesNs: Float64Array;
  /** NaN where quality is notAvailable. */
  values: Float64Array;
  /** One code of QUALITY per sample. */
  quality: Uint8Array;
  /** Known without a look at the samples: all are fresh numbers. Undefined where that isn't known. */
  readonly regular?: boolean;
  /** Known likewise: all are fresh and the same number. */
  readonly constant?: boolean;
}

/**
 * A series with some of its fields replaced. Series may be views that read their samples only when asked, so that an
 * object spread would miss them.
 */
export function seriesWith(
  { metric, element, timesNs, values, quality }: Series,
  changes: Partial<Series>,
): Series {
  return { metric, element, timesNs, values, quality, ...changes };
}

/** Everything observed in a window; the diagnoser's only view of what happened. */
export interface Evidence {
  /** Window observed, ns from the run's start. */
  fromNs: number;
  toNs: number;
  series: readonly Series[];
}

/** Looks series up by metric and element. Built once per evidence; elements of a metric when it is first asked for. */
export class EvidenceIndex {
  private readonly byMetric = new Map<string, Series[]>();
  private readonly byElement = new Map<string, ReadonlyMap<string, Series>>();

  constructor(readonly evidence: Evidence) {
    let metric: string | undefined;
    let group: Series[] = [];
    for (const series of evidence.series) {
      if (series.metric !== metric) {
        metric = series.metric;
        group = this.byMetric.get(metric) ?? [];
        this.byMetric.set(metric, group);
      }
      group.push(series);
    }
  }

  get(metric: string, element: string): Series | undefined {
    let elements = this.byElement.get(metric);
    if (elements === undefined) {
      const found = new Map<string, Series>();
      for (const series of this.all(metric)) found.set(series.element, series);
      this.byElement.set(metric, (elements = found));
    }
    return elements.get(element);
  }

  /** All series of a metric, in evidence order. */
  all(metric: string): readonly Series[] {
    return this.byMetric.get(metric) ?? [];
  }
}

/** Collects one series; arrays grow by doubling. */
export class SeriesBuilder {
  private times = new Float64Array(64);
  private samples = new Float64Array(64);
  private codes = new Uint8Array(64);
  private count = 0;

  constructor(
    readonly metric: string,
    readonly element: string,
  ) {}

  get length(): number {
    return this.count;
  }

  /** The newest value, NaN when empty. */
  get last(): number {
    return this.count === 0 ? NaN : this.samples[this.count - 1];
  }

  /** Time of the newest sample, -Infinity when empty. */
  get lastTimeNs(): number {
    return this.count === 0 ? -Infinity : this.times[this.count - 1];
  }

  /** Replaces the newest sample's value, for a second change at the same instant. */
  amend(value: number): void {
    if (this.count > 0) this.samples[this.count - 1] = value;
  }

  push(timeNs: number, value: number, quality: number = QUALITY.fresh): void {
    if (this.count === this.times.length) this.grow();
    this.times[this.count] = timeNs;
    this.samples[this.count] = value;
    this.codes[this.count++] = quality;
  }

  /** Number of samples before an instant, or up to and including it. */
  countBefore(timeNs: number, inclusive = false): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      const time = this.times[middle];
      if (time < timeNs || (inclusive && time === timeNs)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The samples from `start` up to `end`, copied. */
  build(start = 0, end = this.count): Series {
    return {
      metric: this.metric,
      element: this.element,
      timesNs: this.times.slice(start, end),
      values: this.samples.slice(start, end),
      quality: this.codes.slice(start, end),
    };
  }

  private grow(): void {
    const capacity = this.times.length * 2;
    const times = new Float64Array(capacity);
    times.set(this.times);
    this.times = times;
    const samples = new Float64Array(capacity);
    samples.set(this.samples);
    this.samples = samples;
    const codes = new Uint8Array(capacity);
    codes.set(this.codes);
    this.codes = codes;
  }
}
