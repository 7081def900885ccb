/**
 * An Arrow IPC file to evidence, a record batch at a time: what a large file takes of memory is one batch, and of its
 * samples each distinct course once.
 *
 * Series come in the order of their first row. A file of ours has the rows of a series together; those of other writers
 * may be mixed, as long as the times of each series rise.
 */
import type { FileHandle } from 'node:fs/promises';
import { RecordBatchReader, type Vector } from 'apache-arrow';
import { InputError, messageOf } from '../core/problem.js';
import { SeriesBuilder, type Evidence, type Series } from '../model/telemetry/series.js';
import { codecReady } from './codec.js';
import { COLUMN_NAMES, columnsOf, Names, type BatchColumns } from './batch-columns.js';
import { FABRIC_KEY } from './evidence-batches.js';
import { SharedArrays } from './shared-arrays.js';

export interface DecodedEvidence {
  evidence: Evidence;
  /** The Fabric document that came with it; undefined for a file of another writer. Not checked. */
  fabric: unknown;
}

/** The evidence of a file alone. @throws InputError when it is no such file */
export const decodeEvidence = async (source: Uint8Array | FileHandle): Promise<Evidence> =>
  (await decodeEvidenceFile(source)).evidence;

/**
 * Reads a file that `encodeEvidence` wrote, compressed or not; any writer's table with the same columns will do.
 * @param source its bytes, or the open file, which stays open
 * @throws InputError when it is no such file, or a row can't be one of ours
 */
export async function decodeEvidenceFile(source: Uint8Array | FileHandle): Promise<DecodedEvidence> {
  await codecReady();
  const collector = new Collector();
  let metadata = new Map<string, string>();
  try {
    const reader =
      source instanceof Uint8Array
        ? RecordBatchReader.from(source)
        : await RecordBatchReader.from(borrowed(source));
    await reader.open();
    // the library opens a file without a word in it, and has no schema then
    if ((reader.schema as unknown) === undefined) throw InputError.at('', 'the evidence file is empty');
    ({ metadata } = reader.schema);
    checkColumns(reader.schema.fields.map(({ name }) => name));
    for await (const batch of reader) {
      if (batch.numRows === 0) continue;
      const columns = COLUMN_NAMES.map((name) => batch.getChild(name) as Vector);
      collector.add(columnsOf(batch, columns, collector.metrics, collector.elements));
    }
  } catch (error) {
    throw error instanceof InputError ? error : noArrow(error);
  }
  const series = collector.series();
  const window = (name: string, fallback: number): number => Number(metadata.get(name) ?? fallback);
  // whoever does not say what was watched was watching from the first sample to the last
  const firstNs = series.reduce((first, one) => Math.min(first, one.timesNs[0] ?? Infinity), Infinity);
  const lastNs = series.reduce((last, one) => Math.max(last, one.timesNs.at(-1) ?? 0), 0);
  return {
    evidence: {
      fromNs: window('fabricdrill.from_ns', Math.min(firstNs, lastNs)),
      toNs: window('fabricdrill.to_ns', lastNs),
      series,
    },
    fabric: fabricOf(metadata.get(FABRIC_KEY)),
  };
}

/** The reader closes what it has read; the file is the caller's. */
const borrowed = (handle: FileHandle): FileHandle =>
  ({
    fd: handle.fd,
    stat: () => handle.stat(),
    read: (buffer: Uint8Array, offset: number, length: number, position: number) =>
      handle.read(buffer, offset, length, position),
    close: () => Promise.resolve(),
  }) as FileHandle;

function checkColumns(names: readonly string[]): void {
  for (const name of COLUMN_NAMES) {
    if (names.includes(name)) continue;
    throw InputError.at('', `the evidence table has no column "${name}"`, 'see docs/rest.md for the columns');
  }
}

/** A series that is being read: its first stretch of rows as it is; rows that come later, apart from it, in a builder. */
interface Reading {
  first?: Series;
  builder?: SeriesBuilder;
  lastNs: number;
}

/** More elements than any fabric has. */
const MOST_ELEMENTS = 2 ** 26;

class Collector {
  readonly metrics = new Names();
  readonly elements = new Names();
  private readonly readings = new Map<number, Reading>();
  private readonly times = new SharedArrays<Float64Array>();
  private readonly values = new SharedArrays<Float64Array>();
  private readonly codes = new SharedArrays<Uint8Array>();
  private rowsBefore = 0;

  /** @throws InputError naming the row that can't be one of ours */
  add(columns: BatchColumns): void {
    const { rows, metrics, elements } = columns;
    for (let from = 0; from < rows;) {
      let to = from + 1;
      while (to < rows && metrics[to] === metrics[from] && elements[to] === elements[from]) to++;
      this.addStretch(columns, from, to);
      from = to;
    }
    this.rowsBefore += rows;
  }

  series(): Series[] {
    return [...this.readings.values()].map(({ first, builder }) => {
      const { metric, element, timesNs, values, quality } = builder?.build() ?? first!;
      return this.shared(metric, element, { timesNs, values, quality }, 0, timesNs.length);
    });
  }

  private addStretch(columns: BatchColumns, from: number, to: number): void {
    const [metric, element] = [columns.metrics[from], columns.elements[from]];
    if (metric < 0 || element < 0) throw this.badRow(from, 'metric and element must be texts');
    const key = metric * MOST_ELEMENTS + element;
    const [metricName, elementId] = [this.metrics.texts[metric], this.elements.texts[element]];
    let reading = this.readings.get(key);
    if (reading === undefined) this.readings.set(key, (reading = { lastNs: -Infinity }));
    const { timesNs, values, quality } = columns;
    let { lastNs } = reading;
    for (let row = from; row < to; row++) {
      // whole ns: two instants may have become one
      if (!(timesNs[row] >= lastNs)) {
        throw this.badRow(row, `time_ns of ${metricName} of ${elementId} goes back`);
      }
      lastNs = timesNs[row];
    }
    const isNew = reading.lastNs === -Infinity;
    reading.lastNs = lastNs;
    if (isNew) {
      reading.first = this.shared(metricName, elementId, columns, from, to);
      return;
    }
    const builder = (reading.builder ??= begun(reading.first!));
    for (let row = from; row < to; row++) builder.push(timesNs[row], values[row], quality[row]);
  }

  private shared(
    metric: string,
    element: string,
    { timesNs, values, quality }: Pick<Series, 'timesNs' | 'values' | 'quality'>,
    from: number,
    to: number,
  ): Series {
    return {
      metric,
      element,
      timesNs: this.times.take(timesNs, from, to),
      values: this.values.take(values, from, to),
      quality: this.codes.take(quality, from, to),
    };
  }

  private badRow(row: number, message: string): InputError {
    return InputError.at('', `row ${this.rowsBefore + row + 1} of the evidence table: ${message}`);
  }
}

function begun({ metric, element, timesNs, values, quality }: Series): SeriesBuilder {
  const builder = new SeriesBuilder(metric, element);
  for (let at = 0; at < timesNs.length; at++) builder.push(timesNs[at], values[at], quality[at]);
  return builder;
}

const noArrow = (error: unknown): InputError =>
  InputError.at('', `this is no Arrow IPC file: ${messageOf(error)}`);

function fabricOf(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw InputError.at('', `the file's metadata "${FABRIC_KEY}" is no JSON`);
  }
}
