/**
 * Reading series without fooling oneself: fresh samples only, N/A is unknown, lost is not there.
 *
 * States (`port_oper_status`) hold from one sample to the next; an N/A answer makes the state unknown until the next
 * fresh one. Counters are compared between fresh samples only; a counter that goes back was reset (a reboot) and
 * adds nothing.
 */
import { QUALITY } from '../../telemetry/series.js';
import type { Series } from '../../telemetry/series.js';
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

/** Fresh samples with a real value, in time order. */
export function freshSamples(series: Series | undefined): Sample[] {
  const samples: Sample[] = [];
  if (series === undefined) return samples;
  for (let index = 0; index < series.timesNs.length; index++) {
    const value = series.values[index];
    if (series.quality[index] !== QUALITY.fresh || Number.isNaN(value)) continue;
    samples.push({ timeNs: series.timesNs[index], value });
  }
  return samples;
}

/** The states a series went through, neighbours of equal value merged; empty without samples. */
export function stateSpans(series: Series | undefined, untilNs: number): StateSpan[] {
  const spans: StateSpan[] = [];
  if (series === undefined) return spans;
  for (let index = 0; index < series.timesNs.length; index++) {
    if (series.quality[index] === QUALITY.repeated) continue;
    const value = series.quality[index] === QUALITY.notAvailable ? NaN : series.values[index];
    const last = spans.at(-1);
    if (last !== undefined && Object.is(last.value, value)) continue;
    if (last !== undefined) last.toNs = series.timesNs[index];
    spans.push({ fromNs: series.timesNs[index], toNs: untilNs, value });
  }
  return spans;
}

/** Gains of a counter between its fresh samples. */
export function increments(series: Series | undefined): Increment[] {
  const samples = freshSamples(series);
  const result: Increment[] = [];
  for (let index = 1; index < samples.length; index++) {
    const gain = samples[index].value - samples[index - 1].value;
    if (gain < 0) continue;
    result.push({ fromNs: samples[index - 1].timeNs, toNs: samples[index].timeNs, gain });
  }
  return result;
}

/** Fresh samples inside a stretch, ends included. */
export function samplesWithin(series: Series | undefined, { fromNs, toNs }: Interval): Sample[] {
  return freshSamples(series).filter((sample) => sample.timeNs >= fromNs && sample.timeNs <= toNs);
}

/** Time between the first and the last fresh sample, 0 for fewer than two. */
export function freshReachNs(series: Series | undefined): number {
  const samples = freshSamples(series);
  return samples.length < 2 ? 0 : samples[samples.length - 1].timeNs - samples[0].timeNs;
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
