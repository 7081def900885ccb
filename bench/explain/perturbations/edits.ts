/** Edits of recorded series: a new series each time, the recorded one is never written to. */
import type { MetricName } from '../../../src/model/telemetry/catalog.js';
import { metricDefinition } from '../../../src/model/telemetry/catalog.js';
import { QUALITY, seriesWith, type Evidence, type Series } from '../../../src/model/telemetry/series.js';

/** @param edit what becomes of a series; undefined takes it away */
export function edited(evidence: Evidence, edit: (series: Series) => Series | undefined): Evidence {
  const series = evidence.series.flatMap((one) => edit(one) ?? []);
  return { fromNs: evidence.fromNs, toNs: evidence.toNs, series };
}

/** The series of some metrics edited, the others as they were. */
export function editedOf(
  evidence: Evidence,
  metrics: readonly MetricName[],
  edit: (series: Series) => Series,
): Evidence {
  const wanted = new Set<string>(metrics);
  return edited(evidence, (series) => (wanted.has(series.metric) ? edit(series) : series));
}

/** Other values at the same times; what is N/A stays so. */
export function withValues(
  series: Series,
  value: (old: number, timeNs: number, index: number) => number,
): Series {
  const { timesNs, values, quality } = series;
  return seriesWith(series, {
    values: values.map((old, index) =>
      quality[index] === QUALITY.notAvailable ? old : value(old, timesNs[index], index),
    ),
  });
}

/** Events added to a counter, each seen by the polls from its time on. */
export const withEvents = (series: Series, events: readonly { timeNs: number; count: number }[]): Series =>
  withValues(series, (old, timeNs) =>
    events.reduce((sum, event) => (event.timeNs <= timeNs ? sum + event.count : sum), old),
  );

/** Only the samples that a test keeps. */
export function withSamples(series: Series, keep: (timeNs: number, index: number) => boolean): Series {
  const kept: number[] = [];
  series.timesNs.forEach((timeNs, index) => {
    if (keep(timeNs, index)) kept.push(index);
  });
  return seriesWith(series, {
    timesNs: Float64Array.from(kept, (index) => series.timesNs[index]),
    values: Float64Array.from(kept, (index) => series.values[index]),
    quality: Uint8Array.from(kept, (index) => series.quality[index]),
  });
}

/** A state that was another one for a while; the state before comes back. */
export function withState(series: Series, state: number, fromNs: number, toNs: number): Series {
  const before = series.timesNs.findLastIndex((timeNs) => timeNs <= fromNs);
  if (before < 0) return series;
  const points = [
    ...Array.from(series.timesNs, (timeNs, index) => ({
      timeNs,
      value: series.values[index],
      quality: series.quality[index],
    })).filter(({ timeNs }) => timeNs < fromNs || timeNs > toNs),
    { timeNs: fromNs, value: state, quality: QUALITY.fresh },
    { timeNs: toNs, value: series.values[before], quality: QUALITY.fresh },
  ].sort((one, other) => one.timeNs - other.timeNs);
  return seriesWith(series, {
    timesNs: Float64Array.from(points, ({ timeNs }) => timeNs),
    values: Float64Array.from(points, ({ value }) => value),
    quality: Uint8Array.from(points, ({ quality }) => quality),
  });
}

/** Nobody answered between two times. */
export const notAvailable = (series: Series, fromNs: number, toNs: number): Series => {
  const inside = (index: number): boolean => series.timesNs[index] >= fromNs && series.timesNs[index] <= toNs;
  return seriesWith(series, {
    values: series.values.map((value, index) => (inside(index) ? NaN : value)),
    quality: series.quality.map((quality, index) => (inside(index) ? QUALITY.notAvailable : quality)),
  });
};

export const isCounter = ({ metric }: Series): boolean => metricDefinition(metric)?.kind === 'counter';
export const isPolled = ({ metric }: Series): boolean => metricDefinition(metric)?.sampling === 'poll';

/** The device that tells a series: the first part of a device's, port's, queue's or NIC's name; '' of a job's. */
export const tellerOf = ({ element }: Series): string =>
  /^(device|port|queue|nic):/.test(element) ? element.slice(element.indexOf(':') + 1).split('/')[0] : '';
