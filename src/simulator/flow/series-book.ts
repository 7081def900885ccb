/**
 * All series of a run: polled samples with their losses, changes with their delay, and slices of both as evidence.
 *
 * Which series exist is fixed before anything happens, so that their set tells nothing about a fault. Whether a
 * sample is lost, N/A or repeated depends on the seed, the series and the round, never on what else was sampled.
 * Polled metrics are kept as columns over the elements of a poll group (telemetry/columns), everything else in one log.
 */
import { metricDefinition, type MetricName } from '../../telemetry/catalog.js';
import { ChangeLog } from '../../telemetry/columns/change-log.js';
import type { PollClock, RoundRange } from '../../telemetry/columns/poll-clock.js';
import { ABSENT, PollColumn } from '../../telemetry/columns/poll-column.js';
import { PolledSeries, RecentReads } from '../../telemetry/columns/polled-series.js';
import { QUALITY, type Evidence, type Series } from '../../telemetry/series.js';
import type { TelemetrySettings } from '../../telemetry/settings.js';
import { uniformAt } from './noise.js';

/** Series whose samples are kept at hand once read; some 40 MB at ten minutes of polls a second. */
const SERIES_AT_HAND = 4096;

/** All series of one metric, in the order in which evidence lists them. */
interface Opened {
  metric: MetricName;
  elements: readonly string[];
  /** Number of the first. */
  first: number;
  /** By place in `elements`: column and place in it, where the metric is polled. */
  columns?: { column: (PollColumn | undefined)[]; place: Int32Array };
  /** First number in the change log, where it is not. */
  logged: number;
  carries: boolean;
}

export class SeriesBook {
  private readonly opened: Opened[] = [];
  private readonly byMetric = new Map<MetricName, Opened>();
  private readonly changes = new ChangeLog();
  private seriesCount = 0;
  /** Any share of samples that does not arrive as measured. */
  private readonly faulty: boolean;

  constructor(
    private readonly settings: TelemetrySettings,
    private readonly seed: number,
  ) {
    this.faulty = settings.loss + settings.notAvailable + settings.repeated > 0;
  }

  /**
   * Opens a metric's series.
   * @param ids by element: its id, undefined where the metric does not exist
   * @param watched false for series that nobody keeps; they are numbered, so that the others draw as ever
   * @returns by element: the number that the other calls take, of its own kind for polled metrics and for others; -1
   * where there is no series
   */
  open(metric: MetricName, ids: readonly (string | undefined)[], watched = true): Int32Array {
    const definition = metricDefinition(metric);
    const elements = ids.filter((id) => id !== undefined);
    if (!watched) {
      this.seriesCount += elements.length;
      return new Int32Array(ids.length).fill(-1);
    }
    const polled = definition?.sampling === 'poll';
    const opened: Opened = {
      metric,
      elements,
      first: this.seriesCount,
      columns: polled
        ? {
            column: new Array<undefined>(elements.length).fill(undefined),
            place: new Int32Array(elements.length),
          }
        : undefined,
      logged: polled ? -1 : this.changes.open(elements.length),
      // A step log says nothing about the time before its first line; a status holds until it changes.
      carries: !polled && (definition?.kind === 'state' || metric.startsWith('route_')),
    };
    this.opened.push(opened);
    this.byMetric.set(metric, opened);
    let next = polled ? opened.first : opened.logged;
    this.seriesCount += elements.length;
    return Int32Array.from(ids, (id) => (id === undefined ? -1 : next++));
  }

  /** The column of a polled metric over elements that are polled together, named by their series' numbers. */
  column(metric: MetricName, clock: PollClock, numbers: Int32Array): PollColumn {
    const column = new PollColumn(clock, numbers);
    const { columns, first } = this.byMetric.get(metric)!;
    for (let place = 0; place < numbers.length; place++) {
      columns!.column[numbers[place] - first] = column;
      columns!.place[numbers[place] - first] = place;
    }
    return column;
  }

  /** Lets samples of a round get lost, or come out as N/A or as the last answer again, as the settings say. */
  disturb(column: PollColumn, round: number): void {
    if (this.faulty) column.disturb(round, this.codeOf);
  }

  private readonly codeOf = (series: number, round: number): number => {
    const { loss, notAvailable, repeated } = this.settings;
    const draw = uniformAt(this.seed, series, round);
    if (draw < loss) return ABSENT;
    if (draw < loss + notAvailable) return QUALITY.notAvailable;
    return draw < loss + notAvailable + repeated ? QUALITY.repeated : QUALITY.fresh;
  };

  /** A message sent on change; nothing is added when nothing changed. */
  change(series: number, timeNs: number, value: number): void {
    if (series >= 0) this.changes.change(series, timeNs, value);
  }

  /** A line of a log: added even if it says the same as the last. */
  log(series: number, timeNs: number, value: number): void {
    if (series >= 0) this.changes.line(series, timeNs, value);
  }

  /** All series, cut to a window (both ends included); a status that still holds is repeated at its start. */
  evidence(fromNs: number, toNs: number): Evidence {
    const reads = new RecentReads(SERIES_AT_HAND);
    const ranges = new Map<PollClock, RoundRange>();
    const series: Series[] = [];
    for (const { metric, elements, columns, logged, carries } of this.opened) {
      const window = { fromNs, toNs, carry: carries };
      for (let at = 0; at < elements.length; at++) {
        const column = columns?.column[at];
        if (columns === undefined)
          series.push(this.changes.series(metric, elements[at], logged + at, window));
        else if (column !== undefined) {
          let range = ranges.get(column.clock);
          if (range === undefined) ranges.set(column.clock, (range = column.clock.within(fromNs, toNs)));
          series.push(new PolledSeries(metric, elements[at], column, columns.place[at], range, reads));
        }
      }
    }
    return { fromNs, toNs, series };
  }
}
