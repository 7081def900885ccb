/** How the baselines read series: the fresh samples only, by metric. */
import { QUALITY, type EvidenceIndex, type Series } from '../../../src/model/telemetry/series.js';

/** Fresh values, oldest first. */
export const fresh = ({ values, quality }: Series): number[] =>
  [...values].filter((value, index) => quality[index] === QUALITY.fresh && !Number.isNaN(value));

/** By how much a counter rose over the window. */
export function rise(series: Series): number {
  const values = fresh(series);
  return values.length < 2 ? 0 : values[values.length - 1] - values[0];
}

export const most = (series: Series): number => fresh(series).reduce((a, b) => Math.max(a, b), -Infinity);
export const least = (series: Series): number => fresh(series).reduce((a, b) => Math.min(a, b), Infinity);

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted.length === 0 ? NaN : sorted[sorted.length >> 1];
}

/** Elements whose figure is above a threshold, the worst first. */
export const above = (
  index: EvidenceIndex,
  metric: string,
  figure: (series: Series) => number,
  threshold: number,
): string[] =>
  index
    .all(metric)
    .map((series) => ({ element: series.element, value: figure(series) }))
    .filter(({ value }) => value > threshold && Number.isFinite(value))
    .sort((a, b) => b.value - a.value)
    .map(({ element }) => element);
