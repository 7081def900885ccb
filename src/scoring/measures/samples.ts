/**
 * Reading series for scoring: fresh samples only, counters as bytes or events between two instants.
 *
 * N/A and repeated answers are left out, so that a counter which went silent never reads as zero: over a gap of more
 * than three poll intervals a counter has no value. Counters that wrapped are read as if they had not.
 */
import { QUALITY } from '../../model/telemetry/series.js';
import type { Series } from '../../model/telemetry/series.js';
import { unwrapped } from '../../model/telemetry/wrapping.js';
import { median } from './statistics.js';

/** A gap of more than this many usual poll intervals is silence. */
export const SILENCE_INTERVALS = 3;

export interface Sample {
  timeNs: number;
  value: number;
}

/** Samples that say something new, in time order. */
export function freshSamples(series: Series | undefined): Sample[] {
  const samples: Sample[] = [];
  if (series === undefined) return samples;
  const { timesNs, values, quality, metric } = series;
  let falls = false;
  for (let at = 0, last = -Infinity; at < timesNs.length; at++) {
    const value = values[at];
    if (quality[at] !== QUALITY.fresh || !Number.isFinite(value)) continue;
    falls ||= value < last;
    samples.push({ timeNs: timesNs[at], value });
    last = value;
  }
  if (!falls) return samples;
  const whole = unwrapped(
    metric,
    Float64Array.from(samples, ({ value }) => value),
  );
  return samples.map(({ timeNs }, at) => ({ timeNs, value: whole[at] }));
}

/** The usual distance of samples; NaN for fewer than two. */
export const spacingNs = (samples: readonly Sample[]): number =>
  median(samples.slice(1).map((sample, at) => sample.timeNs - samples[at].timeNs));

/** The newest value at an instant, undefined before the first sample. */
export function valueAt(samples: readonly Sample[], timeNs: number): number | undefined {
  return samples.findLast((sample) => sample.timeNs <= timeNs)?.value;
}

/** The newest fresh value of a gauge at an instant, undefined before the first; asks for no sample beyond those it passes. */
export function newestValue(series: Series | undefined, timeNs: number): number | undefined {
  if (series === undefined) return undefined;
  const { timesNs, values, quality } = series;
  for (let at = timesNs.length - 1; at >= 0; at--) {
    const isFresh = quality[at] === QUALITY.fresh && Number.isFinite(values[at]);
    if (timesNs[at] <= timeNs && isFresh) return values[at];
  }
  return undefined;
}

/** A counter that can be asked for its value between two polls. */
export class Counter {
  private readonly silenceNs: number;

  constructor(readonly samples: readonly Sample[]) {
    this.silenceNs = SILENCE_INTERVALS * spacingNs(samples);
  }

  /** Linear between polls; null outside of them and in silence. */
  at(timeNs: number): number | null {
    const next = this.firstFrom(timeNs);
    if (next === this.samples.length) return null;
    const after = this.samples[next];
    if (after.timeNs === timeNs) return after.value;
    if (next === 0) return null;
    const before = this.samples[next - 1];
    const gapNs = after.timeNs - before.timeNs;
    if (gapNs > this.silenceNs) return null;
    return before.value + ((after.value - before.value) * (timeNs - before.timeNs)) / gapNs;
  }

  /** Position of the first sample at or after an instant; the number of samples when there is none. */
  private firstFrom(timeNs: number): number {
    let low = 0;
    let high = this.samples.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.samples[middle].timeNs < timeNs) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Increase per ns between two instants; null when it is not known or the counter was reset. */
  rate(fromNs: number, toNs: number): number | null {
    const from = this.at(fromNs);
    const to = this.at(toNs);
    return from === null || to === null || to < from || toNs <= fromNs ? null : (to - from) / (toNs - fromNs);
  }
}

export interface Span {
  fromNs: number;
  toNs: number;
}

/** Poll intervals that lie wholly between two instants. */
export const pollSpans = (samples: readonly Sample[], fromNs: number, toNs: number): Span[] =>
  samples
    .slice(1)
    .map((sample, at) => ({ fromNs: samples[at].timeNs, toNs: sample.timeNs }))
    .filter((span) => span.fromNs >= fromNs && span.toNs <= toNs);
