/**
 * All series of a run: polled samples with their losses, changes with their delay, and slices of both as evidence.
 *
 * Which series exist is fixed before anything happens, so that their set tells nothing about a fault. Whether a
 * sample is lost, N/A or repeated depends on the seed, the series and the round, never on what else was sampled.
 */
import { metricDefinition, type MetricName } from '../../telemetry/catalog.js';
import { QUALITY, SeriesBuilder, type Evidence, type Series } from '../../telemetry/series.js';
import type { TelemetrySettings } from '../../telemetry/settings.js';
import { uniformAt } from './noise.js';

export class SeriesBook {
  private readonly builders: SeriesBuilder[] = [];
  private readonly carries: boolean[] = [];
  /** Any share of samples that does not arrive as measured. */
  private readonly faulty: boolean;

  constructor(
    private readonly settings: TelemetrySettings,
    private readonly seed: number,
  ) {
    this.faulty = settings.loss + settings.notAvailable + settings.repeated > 0;
  }

  /** Opens a series; the number is what the other calls take. */
  open(metric: MetricName, element: string): number {
    const definition = metricDefinition(metric);
    // A step log says nothing about the time before its first line; a status holds until it changes.
    this.carries.push(
      definition?.sampling === 'on-change' && (definition.kind === 'state' || metric.startsWith('route_')),
    );
    return this.builders.push(new SeriesBuilder(metric, element)) - 1;
  }

  /** A polled value; `round` counts the polls of its source. */
  sample(series: number, round: number, timeNs: number, value: number): void {
    const builder = this.builders[series];
    if (!this.faulty) {
      builder.push(timeNs, value);
      return;
    }
    const { loss, notAvailable, repeated } = this.settings;
    const draw = uniformAt(this.seed, series, round);
    if (draw < loss) return;
    if (draw < loss + notAvailable) builder.push(timeNs, NaN, QUALITY.notAvailable);
    else if (draw < loss + notAvailable + repeated && !Number.isNaN(builder.last)) {
      builder.push(timeNs, builder.last, QUALITY.repeated);
    } else builder.push(timeNs, value);
  }

  /** A poll that the device answers with N/A. */
  notAvailable(series: number, timeNs: number): void {
    this.builders[series].push(timeNs, NaN, QUALITY.notAvailable);
  }

  /** A message sent on change; nothing is added when nothing changed. */
  change(series: number, timeNs: number, value: number): void {
    const builder = this.builders[series];
    if (builder.length > 0 && builder.last === value) return;
    if (builder.lastTimeNs >= timeNs) builder.amend(value);
    else builder.push(timeNs, value);
  }

  /** A line of a log: added even if it says the same as the last. */
  log(series: number, timeNs: number, value: number): void {
    this.builders[series].push(timeNs, value, Number.isNaN(value) ? QUALITY.notAvailable : QUALITY.fresh);
  }

  /** All series, cut to a window (both ends included); a status that still holds is repeated at its start. */
  evidence(fromNs: number, toNs: number): Evidence {
    return {
      fromNs,
      toNs,
      series: this.builders.map((builder, index) => cut(builder, fromNs, toNs, this.carries[index])),
    };
  }
}

function cut(builder: SeriesBuilder, fromNs: number, toNs: number, carry: boolean): Series {
  const from = builder.countBefore(fromNs);
  const to = Math.max(from, builder.countBefore(toNs, true));
  const held = carry && from > 0 && builder.countBefore(fromNs, true) === from;
  const series = builder.build(held ? from - 1 : from, to);
  if (held) {
    series.timesNs[0] = fromNs;
    series.quality[0] = QUALITY.repeated;
  }
  return series;
}
