/** Evidence of a few series, polled each second, for specs of one feature. */
import type { Evidence, Series } from '../../model/telemetry/series.js';

/** @param at value at a time, s; called for 0 to `seconds` */
export function polled(
  metric: string,
  element: string,
  seconds: number,
  at: (second: number) => number,
): Series {
  const times = Array.from({ length: seconds + 1 }, (_, second) => second);
  return {
    metric,
    element,
    timesNs: Float64Array.from(times, (second) => second * 1e9),
    values: Float64Array.from(times, at),
    quality: new Uint8Array(times.length),
  };
}

export const evidenceOf = (series: readonly Series[], seconds: number): Evidence => ({
  fromNs: 0,
  toNs: seconds * 1e9,
  series,
});
