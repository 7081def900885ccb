/**
 * All series of a run: polled samples with their losses, changes with their delay, and slices of both as evidence.
 *
 * Which series exist is fixed before anything happens, so that their set tells nothing about a fault. Whether a
 * sample is lost, N/A or repeated depends on the seed, the series and the round, never on what else was sampled.
 * Polled metrics are kept as columns over the elements of a poll group (telemetry/columns), everything else in one log.
 */
import { metricDefinition, type MetricName } from '../../model/telemetry/catalog.js';
import { ChangeLog } from '../../model/telemetry/columns/change-log.js';
import { CourseStore } from '../../model/telemetry/columns/course-store.js';
import type { PollClock, RoundRange } from '../../model/telemetry/columns/poll-clock.js';
import { ClearedCounter } from '../../model/telemetry/columns/cleared-counter.js';
import { ABSENT, PollColumn } from '../../model/telemetry/columns/poll-column.js';
import { PolledSeries, RecentReads } from '../../model/telemetry/columns/polled-series.js';
import { StampedSeries, type Stamping } from '../../model/telemetry/columns/stamped-series.js';
import type { EvidenceSize } from '../../model/telemetry/evidence-size.js';
import { QUALITY, type Evidence, type Series } from '../../model/telemetry/series.js';
import type { TelemetrySettings } from '../../model/telemetry/settings.js';
import type { Topology } from '../../model/topology/model.js';
import type { PollNoise } from '../noise/poll-noise.js';
import { NO_DEVICE, TelemetryFlaws } from './telemetry-flaws.js';

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
  /** By place: the device that is asked; NO_DEVICE where none is. */
  owners: Int32Array;
}

/** Series number to what always becomes of its answers, where the flaws decide that once for all. */
type Fates = Map<number, typeof ABSENT | typeof QUALITY.notAvailable>;

const COUNTER_32 = 2 ** 32;

export class SeriesBook {
  private readonly opened: Opened[] = [];
  private readonly byMetric = new Map<MetricName, Opened>();
  private readonly changes = new ChangeLog();
  private seriesCount = 0;
  private readonly flaws: TelemetryFlaws;
  private readonly fates: Fates = new Map();
  private readonly fated = new Set<PollColumn>();
  private readonly stampedOf = new WeakMap<Float64Array, Map<number, Float64Array>>();
  private readonly cleared = new Map<PollColumn, ClearedCounter>();

  constructor(
    settings: TelemetrySettings,
    seed: number,
    topology: Pick<Topology, 'devices'> = { devices: [] },
    private readonly courses = new CourseStore(),
    /** Undefined in a quiet world. */
    private readonly noise?: PollNoise,
  ) {
    this.flaws = new TelemetryFlaws(settings, seed, topology);
  }

  /**
   * Opens a metric's series.
   * @param ids by element: its id, undefined where the metric does not exist
   * @param ownerOf device that answers for an element, by the element's index
   * @param watched false for series that nobody keeps; they are numbered, so that the others draw as ever
   * @returns by element: the number that the other calls take, of its own kind for polled metrics and for others; -1
   * where there is no series
   */
  open(
    metric: MetricName,
    ids: readonly (string | undefined)[],
    ownerOf: (index: number) => number = () => NO_DEVICE,
    watched = true,
  ): Int32Array {
    const definition = metricDefinition(metric);
    const elements = ids.filter((id) => id !== undefined);
    const numbers = new Int32Array(ids.length).fill(-1);
    if (!watched) {
      this.seriesCount += elements.length;
      return numbers;
    }
    const owners = new Int32Array(elements.length);
    for (let index = 0, place = 0; index < ids.length; index++) {
      if (ids[index] !== undefined) owners[place++] = ownerOf(index);
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
      owners,
    };
    this.opened.push(opened);
    this.byMetric.set(metric, opened);
    const first = polled ? opened.first : opened.logged;
    this.seriesCount += elements.length;
    if (polled) this.decideFates(opened);
    for (let index = 0, place = 0; index < ids.length; index++) {
      if (ids[index] === undefined) continue;
      // Nobody hears what a silent device would report.
      if (polled || !this.flaws.isSilent(owners[place])) numbers[index] = first + place;
      place++;
    }
    return numbers;
  }

  private decideFates({ metric, first, owners, elements }: Opened): void {
    const unsupported = this.flaws.isUnsupported(metric);
    for (let place = 0; place < owners.length; place++) {
      if (this.flaws.isSilent(owners[place])) this.fates.set(first + place, ABSENT);
      else if (unsupported || this.isBlank(metric, elements[place], owners[place]))
        this.fates.set(first + place, QUALITY.notAvailable);
    }
  }

  private isBlank(metric: MetricName, element: string, owner: number): boolean {
    return (
      owner !== NO_DEVICE && metric !== 'device_reachable' && this.noise?.isBlank(metric, element) === true
    );
  }

  /** The column of a polled metric over elements that are polled together, named by their series' numbers. */
  column(metric: MetricName, clock: PollClock, numbers: Int32Array): PollColumn {
    const column = new PollColumn(clock, numbers, this.courses);
    const { columns, first } = this.byMetric.get(metric)!;
    for (let place = 0; place < numbers.length; place++) {
      columns!.column[numbers[place] - first] = column;
      columns!.place[numbers[place] - first] = place;
    }
    if (numbers.some((number) => this.fates.has(number))) this.fated.add(column);
    if (this.flaws.isCleared(metric)) this.cleared.set(column, new ClearedCounter(column));
    return column;
  }

  /** Lets samples of a round get lost, or come out as N/A or as the last answer again, as the settings say. */
  disturb(column: PollColumn, round: number): void {
    const cleared = this.cleared.get(column);
    cleared?.ask();
    if (this.flaws.disturbing || this.fated.has(column)) column.disturb(round, this.codeOf);
    cleared?.collect();
  }

  private readonly codeOf = (series: number, round: number): number =>
    this.fates.get(series) ?? this.flaws.codeOf(series, round);

  /** A message sent on change; nothing is added when nothing changed. */
  change(series: number, timeNs: number, value: number): void {
    if (series >= 0) this.changes.change(series, timeNs, value);
  }

  /** A line of a log: added even if it says the same as the last. */
  log(series: number, timeNs: number, value: number): void {
    if (series >= 0) this.changes.line(series, timeNs, value);
  }

  /** What polls add up to after so long; a series of another kind counts as one sample. */
  size(durationNs: number): EvidenceSize {
    let samples = 0;
    for (const { columns, elements } of this.opened) {
      if (columns === undefined) samples += elements.length;
      else for (const column of columns.column) samples += column?.clock.roundsUntil(durationNs) ?? 0;
    }
    return { series: this.opened.reduce((sum, { elements }) => sum + elements.length, 0), samples };
  }

  /** All series, cut to a window (both ends included); a status that still holds is repeated at its start. */
  evidence(fromNs: number, toNs: number): Evidence {
    const reads = new RecentReads(SERIES_AT_HAND);
    const ranges = new Map<PollClock, RoundRange>();
    const series: Series[] = [];
    for (const { metric, elements, columns, logged, carries, first, owners } of this.opened) {
      const window = { fromNs, toNs, carry: carries };
      for (let at = 0; at < elements.length; at++) {
        const column = columns?.column[at];
        if (columns === undefined) {
          const told = this.changes.series(metric, elements[at], logged + at, window);
          series.push(this.stamped(told, metric, owners[at]));
        } else if (column !== undefined) {
          let range = ranges.get(column.clock);
          if (range === undefined) ranges.set(column.clock, (range = column.clock.within(fromNs, toNs)));
          const polled = new PolledSeries(metric, elements[at], column, columns.place[at], range, reads);
          series.push(this.stamped(polled, metric, owners[at], { series: first + at, clock: column.clock }));
        }
      }
    }
    return { fromNs, toNs, series };
  }

  /** The series under the times that the operator's database has, in as many bits as its counter. */
  private stamped(
    series: Series,
    metric: MetricName,
    owner: number,
    polled?: { series: number; clock: PollClock },
  ): Series {
    const { flaws, noise } = this;
    const stamping: Stamping = {};
    if (flaws.isShort(metric)) stamping.modulus = COUNTER_32;
    if (flaws.restamping && (polled !== undefined || owner !== NO_DEVICE)) {
      stamping.stamp = (timeNs) => {
        if (polled === undefined) return flaws.clockNs(owner, timeNs);
        const { intervalNs, phaseNs } = polled.clock;
        const round = Math.round((timeNs - phaseNs) / intervalNs);
        return flaws.clockNs(owner, timeNs) + flaws.latenessNs(polled.series, round, intervalNs);
      };
    }
    if (noise !== undefined && owner !== NO_DEVICE) {
      const { stamp } = stamping;
      const intervalNs = polled?.clock.intervalNs ?? 0;
      const found = (timeNs: number): number => noise.stampNs(owner, timeNs, intervalNs);
      if (stamp !== undefined) stamping.stamp = (timeNs) => found(timeNs) + stamp(timeNs) - timeNs;
      else stamping.stampAll = (timesNs) => this.stampedTimes(owner, timesNs, found);
    }
    return stamping.stamp === undefined && stamping.stampAll === undefined && stamping.modulus === undefined
      ? series
      : new StampedSeries(series, stamping);
  }

  /** Series of one device share their times, and so does what these are stamped with. */
  private stampedTimes(
    owner: number,
    timesNs: Float64Array,
    stamp: (timeNs: number) => number,
  ): Float64Array {
    let ofDevice = this.stampedOf.get(timesNs);
    if (ofDevice === undefined) this.stampedOf.set(timesNs, (ofDevice = new Map<number, Float64Array>()));
    let stamped = ofDevice.get(owner);
    if (stamped === undefined) ofDevice.set(owner, (stamped = timesNs.map(stamp)));
    return stamped;
  }
}
