/**
 * The series of a lab: which there are is settled before the first sample, so that it can not tell what was injected.
 *
 * Times of a series rise strictly; what comes from another process with an earlier stamp than the last is put right behind
 * it. What has no series is not watched. Whole windows are cut as for any recorded evidence.
 */
import { QUALITY, SeriesBuilder, type Evidence } from '../../../telemetry/series.js';
import { windowOf } from '../../../telemetry/window.js';
import type { MetricName } from '../../../telemetry/catalog.js';

export interface SeriesName {
  metric: MetricName;
  element: string;
}

export class SeriesStore {
  private readonly series = new Map<string, SeriesBuilder>();

  constructor(names: readonly SeriesName[]) {
    for (const { metric, element } of names) {
      this.series.set(keyOf(metric, element), new SeriesBuilder(metric, element));
    }
  }

  get names(): SeriesName[] {
    return [...this.series.values()].map(({ metric, element }) => ({
      metric: metric as MetricName,
      element,
    }));
  }

  /** NaN is an N/A answer. */
  add(metric: MetricName, element: string, timeNs: number, value: number): void {
    const series = this.series.get(keyOf(metric, element));
    if (series === undefined) return;
    const atNs = Math.max(timeNs, series.lastTimeNs + 1, 0);
    series.push(atNs, value, Number.isNaN(value) ? QUALITY.notAvailable : QUALITY.fresh);
  }

  /** Says it only when it is another value than the last. */
  change(metric: MetricName, element: string, timeNs: number, value: number): void {
    const series = this.series.get(keyOf(metric, element));
    if (series === undefined) return;
    if (series.length > 0 && Object.is(series.last, value)) return;
    this.add(metric, element, timeNs, value);
  }

  evidence(fromNs: number, toNs: number): Evidence {
    const all: Evidence = {
      fromNs: 0,
      toNs,
      series: [...this.series.values()].map((series) => series.build(0, series.countBefore(toNs, true))),
    };
    return fromNs <= 0 ? all : windowOf(all, fromNs, toNs);
  }
}

const keyOf = (metric: string, element: string): string => `${metric} ${element}`;
