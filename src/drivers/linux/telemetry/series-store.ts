/**
 * The series of a lab: which there are is settled before the first sample, so that it can not tell what was injected.
 *
 * Times of a series rise strictly; what comes from another process with an earlier stamp than the last is put right behind
 * it. Of the time before the drill only states remain, as the first sample of their series: a count or a step that began
 * then would be cut in two. What has no series is not watched. Whole windows are cut as for any recorded evidence.
 */
import { QUALITY, SeriesBuilder, type Evidence } from '../../../model/telemetry/series.js';
import { windowOf } from '../../../model/telemetry/window.js';
import type { MetricName } from '../../../model/telemetry/catalog.js';

export interface SeriesName {
  metric: MetricName;
  element: string;
}

export class SeriesStore {
  private readonly series = new Map<string, SeriesBuilder>();
  /** By series: its state before the drill began. */
  private readonly initial = new Map<SeriesBuilder, number>();
  private begun = false;

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

  /** The drill begins: states that were found before it stand at 0. */
  begin(): void {
    this.begun = true;
    for (const [series, value] of this.initial) push(series, 0, value);
    this.initial.clear();
  }

  /** NaN is an N/A answer. @param timeNs before 0: nothing is added */
  add(metric: MetricName, element: string, timeNs: number, value: number): void {
    const series = this.series.get(keyOf(metric, element));
    if (series === undefined || timeNs < 0) return;
    push(series, timeNs, value);
  }

  /** Says it only when it is another value than the last. */
  change(metric: MetricName, element: string, timeNs: number, value: number): void {
    const series = this.series.get(keyOf(metric, element));
    if (series === undefined) return;
    if (timeNs < 0 && !this.begun) this.initial.set(series, value);
    else if (series.length === 0 || !Object.is(series.last, value)) push(series, Math.max(0, timeNs), value);
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

const push = (series: SeriesBuilder, timeNs: number, value: number): void =>
  series.push(
    Math.max(timeNs, series.lastTimeNs + 1),
    value,
    Number.isNaN(value) ? QUALITY.notAvailable : QUALITY.fresh,
  );

const keyOf = (metric: string, element: string): string => `${metric} ${element}`;
