/**
 * Reading series without fooling oneself: fresh samples only, N/A is unknown, lost is not there.
 *
 * States (`port_oper_status`) hold from one sample to the next; an N/A answer makes the state unknown until the next
 * fresh one. Counters are compared between fresh samples only; a counter that goes back was reset (a reboot) and
 * adds nothing.
 */
import { QUALITY } from '../../model/telemetry/series.js';
import type { Series } from '../../model/telemetry/series.js';
import { unwrapped } from '../../model/telemetry/wrapping.js';
import type { Interval } from './context.js';

/** A state that held for a while; NaN means unknown. */
export interface StateSpan extends Interval {
  value: number;
}

/** What a counter gained between two fresh samples. */
export interface Increment extends Interval {
  gain: number;
}

export interface Sample {
  timeNs: number;
  value: number;
}

/** Fresh samples with a real value, in time order, side by side; shared with the series where all of them are. */
export interface Column {
  count: number;
  timesNs: Float64Array;
  values: Float64Array;
}

const EMPTY: Column = { count: 0, timesNs: new Float64Array(0), values: new Float64Array(0) };
/** Series never change, and features ask for the same ones again and again. */
const columns = new WeakMap<Series, Column>();

export function freshColumn(series: Series | undefined): Column {
  if (series === undefined) return EMPTY;
  // most series of a large fabric are constant, and to keep them all would take more memory than to read them again
  if (series.constant === true) return readFresh(series);
  let column = columns.get(series);
  if (column === undefined) columns.set(series, (column = readFresh(series)));
  return column;
}

/** The same without keeping it, for series of which nobody asks twice. */
export const passingColumn = (series: Series | undefined): Column =>
  series === undefined ? EMPTY : (columns.get(series) ?? readFresh(series));

function readFresh(series: Series): Column {
  const { timesNs, values, quality } = series;
  const total = timesNs.length;
  if (series.constant === true) return { count: total, timesNs, values };
  if (series.regular === true) return { count: total, timesNs, values: unwrapped(series.metric, values) };
  // monitoring has words for what is no number, and some write it as an infinite one
  const isFresh = (index: number): boolean =>
    quality[index] === QUALITY.fresh && Number.isFinite(values[index]);
  let count = 0;
  for (let index = 0; index < total; index++) if (isFresh(index)) count++;
  if (count === total) return { count, timesNs, values: unwrapped(series.metric, values) };
  const column: Column = { count, timesNs: new Float64Array(count), values: new Float64Array(count) };
  let next = 0;
  for (let index = 0; index < total; index++) {
    if (!isFresh(index)) continue;
    column.timesNs[next] = timesNs[index];
    column.values[next++] = values[index];
  }
  column.values = unwrapped(series.metric, column.values);
  return column;
}

export const freshCount = (series: Series | undefined): number =>
  series?.regular === true ? series.timesNs.length : freshColumn(series).count;

/** Known without a look at its samples: it was read, and always showed the same. */
export const isStill = (series: Series | undefined): series is Series =>
  series?.constant === true && series.timesNs.length > 0;

/** The same, one by one; for series of which few are looked at. */
export function freshSamples(series: Series | undefined): Sample[] {
  const { count, timesNs, values } = freshColumn(series);
  const samples: Sample[] = new Array<Sample>(count);
  for (let index = 0; index < count; index++) {
    samples[index] = { timeNs: timesNs[index], value: values[index] };
  }
  return samples;
}

/** The states a series went through, neighbours of equal value merged; empty without samples. */
export function stateSpans(series: Series | undefined, untilNs: number): StateSpan[] {
  const spans: StateSpan[] = [];
  if (series === undefined) return spans;
  for (let index = 0; index < series.timesNs.length; index++) {
    if (series.quality[index] === QUALITY.repeated) continue;
    const told = series.quality[index] === QUALITY.fresh && Number.isFinite(series.values[index]);
    const value = told ? series.values[index] : NaN;
    const last = spans.at(-1);
    if (last !== undefined && Object.is(last.value, value)) continue;
    if (last !== undefined) last.toNs = series.timesNs[index];
    spans.push({ fromNs: series.timesNs[index], toNs: untilNs, value });
  }
  return spans;
}

const NEVER: readonly StateSpan[] = [];

/** Stretches in which a series held one state; most never held that of trouble, and cost nothing here. */
export const spansAt = (series: Series | undefined, state: number, untilNs: number): readonly StateSpan[] =>
  series?.values.includes(state) === true
    ? stateSpans(series, untilNs).filter(({ value }) => value === state)
    : NEVER;

/** Whether any state of a series was told. */
export function isStateKnown(series: Series | undefined): boolean {
  if (series === undefined) return false;
  const { values, quality } = series;
  for (let index = 0; index < values.length; index++) {
    if (quality[index] === QUALITY.fresh && Number.isFinite(values[index])) return true;
  }
  return false;
}

/** Gains of a counter between its fresh samples, side by side; where it went back nothing is told. */
export interface Gains {
  count: number;
  fromNs: Float64Array;
  toNs: Float64Array;
  gains: Float64Array;
}

export function gainsBetween({ count, timesNs, values }: Column): Gains {
  const size = Math.max(0, count - 1);
  const gains = new Float64Array(size);
  let kept = 0;
  for (let index = 1; index < count; index++) {
    const gain = values[index] - values[index - 1];
    if (gain >= 0) gains[kept++] = gain;
  }
  if (kept === size) return { count: size, fromNs: timesNs, toNs: timesNs.subarray(1), gains };
  const [fromNs, toNs] = [new Float64Array(kept), new Float64Array(kept)];
  for (let index = 1, next = 0; index < count; index++) {
    if (!(values[index] - values[index - 1] >= 0)) continue;
    fromNs[next] = timesNs[index - 1];
    toNs[next++] = timesNs[index];
  }
  return { count: kept, fromNs, toNs, gains };
}

/** Gains of a counter between its fresh samples. */
export const increments = (series: Series | undefined): Increment[] => gainsOf(series, 0);

/** Those of more than nothing: most counters of trouble never move, and cost nothing here. */
export const rises = (series: Series | undefined): readonly Increment[] =>
  series === undefined || series.constant === true ? NO_RISES : gainsOf(series, Number.MIN_VALUE);

const NO_RISES: readonly Increment[] = [];

function gainsOf(series: Series | undefined, least: number): Increment[] {
  const { count, timesNs, values } = freshColumn(series);
  const result: Increment[] = [];
  for (let index = 1; index < count; index++) {
    const gain = values[index] - values[index - 1];
    if (gain >= least) result.push({ fromNs: timesNs[index - 1], toNs: timesNs[index], gain });
  }
  return result;
}

/** Whether a counter ever gained anything. */
export function rose(series: Series | undefined): boolean {
  if (series?.constant === true) return false;
  const { count, values } = freshColumn(series);
  for (let index = 1; index < count; index++) if (values[index] > values[index - 1]) return true;
  return false;
}

/** What a counter gained between fresh samples that enclose a part of a stretch; 0 without any. */
export function gainWithin(series: Series | undefined, { fromNs, toNs }: Interval): number {
  if (series?.constant === true) return 0;
  const { count, timesNs, values } = freshColumn(series);
  let sum = 0;
  for (let index = Math.max(1, firstAfter(timesNs, count, fromNs)); index < count; index++) {
    if (timesNs[index - 1] >= toNs) break;
    sum += Math.max(0, values[index] - values[index - 1]);
  }
  return sum;
}

/** Place of the first sample after an instant, or (`at`) at it. */
export function firstAfter(timesNs: Float64Array, count: number, timeNs: number, at = false): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (timesNs[middle] < timeNs || (!at && timesNs[middle] === timeNs)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Fresh samples inside a stretch, ends included. */
export function samplesWithin(series: Series | undefined, { fromNs, toNs }: Interval): Sample[] {
  const { count, timesNs, values } = freshColumn(series);
  const samples: Sample[] = [];
  for (let index = firstAfter(timesNs, count, fromNs, true); index < count; index++) {
    const timeNs = timesNs[index];
    if (timeNs > toNs) break;
    samples.push({ timeNs, value: values[index] });
  }
  return samples;
}

/** Time between the first and the last fresh sample, 0 for fewer than two. */
export function freshReachNs(series: Series | undefined): number {
  const { count, timesNs } = freshColumn(series);
  return count < 2 ? 0 : timesNs[count - 1] - timesNs[0];
}

/** Parts of `spans` left when the `holes` (in time order, apart from each other) are cut out. */
export function cutOut<T extends Interval>(spans: readonly T[], holes: readonly Interval[]): T[] {
  let parts = [...spans];
  for (const hole of holes) {
    parts = parts.flatMap((span) => {
      if (span.fromNs >= hole.toNs || span.toNs <= hole.fromNs) return [span];
      const kept: T[] = [];
      if (span.fromNs < hole.fromNs) kept.push({ ...span, toNs: hole.fromNs });
      if (span.toNs > hole.toNs) kept.push({ ...span, fromNs: hole.toNs });
      return kept;
    });
  }
  return parts;
}

/** Union of stretches, in time order; those that touch become one. */
export function union(intervals: readonly Interval[]): Interval[] {
  const sorted = [...intervals].sort((one, other) => one.fromNs - other.fromNs || one.toNs - other.toNs);
  const merged: Interval[] = [];
  for (const { fromNs, toNs } of sorted) {
    const last = merged.at(-1);
    if (last !== undefined && fromNs <= last.toNs) last.toNs = Math.max(last.toNs, toNs);
    else merged.push({ fromNs, toNs });
  }
  return merged;
}
