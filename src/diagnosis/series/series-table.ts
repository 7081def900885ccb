/**
 * Series by topology index instead of by name: a diagnosis looks the same ones up again and again, by the hundred thousand.
 *
 * The row of a metric is laid out when it is first asked for, so that metrics nobody reads cost nothing. Evidence
 * mostly lists the elements of a metric in one order: each is expected behind the last one, and searched for only where
 * it is not there.
 */
import type { EvidenceIndex, Series } from '../../model/telemetry/series.js';

type Row = readonly (Series | undefined)[];

/** Elements of one type, each with at most one series a metric. */
export class SeriesTable {
  private readonly rows = new Map<string, Row>();
  private places: Map<string, number> | undefined = undefined;

  /** @param ids of the elements, by topology index */
  constructor(
    private readonly index: EvidenceIndex,
    private readonly ids: readonly string[],
  ) {}

  get(metric: string, at: number): Series | undefined {
    return this.row(metric)[at];
  }

  /** By element; undefined where it has no such series. */
  row(metric: string): Row {
    let row = this.rows.get(metric);
    if (row === undefined) this.rows.set(metric, (row = this.layOut(metric)));
    return row;
  }

  /** Index of an element; undefined where the fabric has none of that id. */
  placeOf(id: string): number | undefined {
    this.places ??= new Map(this.ids.map((own, at) => [own, at]));
    return this.places.get(id);
  }

  private layOut(metric: string): Row {
    const row = new Array<Series | undefined>(this.ids.length).fill(undefined);
    let next = 0;
    for (const series of this.index.all(metric)) {
      const at = this.ids[next] === series.element ? next : this.placeOf(series.element);
      if (at === undefined) continue;
      row[at] = series;
      next = at + 1;
    }
    return row;
  }
}

/** Queues, by traffic class and port. */
export class QueueTable {
  private readonly rows = new Map<string, readonly Row[]>();
  /** Queues in the order of the metric that was laid out first. */
  private readonly order: { id: string; port: number; priority: number }[] = [];

  /** @param ports table of the ports that the queues belong to */
  constructor(
    private readonly index: EvidenceIndex,
    private readonly ports: SeriesTable,
    private readonly portCount: number,
  ) {}

  get(metric: string, port: number, priority: number): Series | undefined {
    return this.row(metric)[priority]?.[port];
  }

  /** Traffic classes of which a metric is told, in rising order. */
  classes(metric: string): number[] {
    return [...this.row(metric).keys()].filter((priority) => this.row(metric)[priority].length > 0);
  }

  private row(metric: string): readonly Row[] {
    let row = this.rows.get(metric);
    if (row === undefined) this.rows.set(metric, (row = this.layOut(metric)));
    return row;
  }

  private layOut(metric: string): Row[] {
    const row: (Series | undefined)[][] = [];
    let next = 0;
    for (const series of this.index.all(metric)) {
      const expected = this.order.at(next);
      const place = expected?.id === series.element ? expected : this.placeOf(series.element);
      if (place === undefined) continue;
      if (this.order.length === next) this.order.push(place);
      next++;
      while (row.length <= place.priority) row.push([]);
      if (row[place.priority].length === 0) {
        row[place.priority] = new Array<Series | undefined>(this.portCount).fill(undefined);
      }
      row[place.priority][place.port] = series;
    }
    return row;
  }

  /** `queue:leaf-3/p17/3`; undefined where it is no queue of the fabric. */
  private placeOf(id: string): { id: string; port: number; priority: number } | undefined {
    const [start, end] = [id.indexOf(':') + 1, id.lastIndexOf('/')];
    const priority = Number(id.slice(end + 1));
    const port = this.ports.placeOf(`port:${id.slice(start, end)}`);
    return port === undefined || !Number.isInteger(priority) || priority < 0
      ? undefined
      : { id, port, priority };
  }
}
