/**
 * Evidence to Apache Arrow IPC and back: one long table, a row a sample, for any Arrow reader (tried: Polars).
 *
 * Columns: `metric` and `element` (dictionary-encoded utf8), `time_ns` (int64, ns from the run's start), `value`
 * (float64, null where the answer was N/A), `quality` (uint8: 0 fresh, 1 repeated, 2 N/A). Rows keep the order of the
 * series and of their samples, so that equal evidence gives equal bytes. Schema metadata carries the window, and the
 * Fabric document with its jobs, so that a file can be diagnosed by somebody who has nothing else.
 * Buffers are zstd-compressed; apache-arrow 21.2 writes the compressed size where the format asks for the
 * uncompressed one, which other readers refuse: `EvidenceWriter` puts that right.
 */
import {
  compressionRegistry,
  CompressionType,
  Dictionary,
  Field,
  Float64,
  Int32,
  Int64,
  makeData,
  RecordBatch,
  RecordBatchFileWriter,
  Schema,
  Struct,
  Table,
  tableFromIPC,
  Uint8,
  Utf8,
  vectorFromArray,
  type Data,
  type Vector,
} from 'apache-arrow';
import { compress, decompress, init } from '@bokuweb/zstd-wasm';
import { InputError } from '../../kernel/problem.js';
import { QUALITY, SeriesBuilder, type Evidence } from '../../telemetry/series.js';

export const EVIDENCE_FORMAT = 'arrow-ipc-file; zstd; fabricdrill-evidence v1';
export const EVIDENCE_MEDIA_TYPE = 'application/vnd.apache.arrow.file';

const ZSTD_LEVEL = 6;
const PREFIX_BYTES = 8;
const FABRIC_KEY = 'fabricdrill.fabric';
const NOT_COMPRESSED = -1n;

let codec: Promise<void> | undefined;

/** Loads the WebAssembly codec once per process. */
function codecReady(): Promise<void> {
  codec ??= init().then(() => {
    compressionRegistry.set(CompressionType.ZSTD, {
      encode: (data: Uint8Array) => compress(data, ZSTD_LEVEL),
      decode: (data: Uint8Array) => decompress(data),
    });
  });
  return codec;
}

class EvidenceWriter extends RecordBatchFileWriter {
  protected override _compressBodyBuffers(
    buffers: ArrayBufferView[],
  ): ReturnType<RecordBatchFileWriter['_compressBodyBuffers']> {
    const result = super._compressBodyBuffers(buffers);
    for (const [index, buffer] of buffers.entries()) {
      const prefix = result.buffers[2 * index];
      if (prefix.byteLength !== PREFIX_BYTES) continue;
      const view = new DataView(prefix.buffer, prefix.byteOffset, PREFIX_BYTES);
      if (view.getBigInt64(0, true) !== NOT_COMPRESSED) view.setBigInt64(0, BigInt(buffer.byteLength), true);
    }
    return result;
  }
}

export interface EncodedTable {
  bytes: Uint8Array;
  rows: number;
}

/**
 * @param compressed false for byte-wise comparison of two runs
 * @param fabric Fabric document, jobs included, that the evidence is of
 */
export async function encodeEvidence(
  evidence: Evidence,
  compressed = true,
  fabric?: unknown,
): Promise<EncodedTable> {
  await codecReady();
  const table = toTable(evidence, fabric);
  const writer = new EvidenceWriter({ compressionType: compressed ? CompressionType.ZSTD : null });
  writer.writeAll(table.batches);
  writer.finish();
  return { bytes: writer.toUint8Array(true), rows: table.numRows };
}

function toTable(evidence: Evidence, fabric: unknown): Table {
  const rows = evidence.series.reduce((sum, series) => sum + series.timesNs.length, 0);
  const timesNs = new BigInt64Array(rows);
  const values = new Float64Array(rows);
  const valid = new Uint8Array((rows + 7) >> 3);
  const quality = new Uint8Array(rows);
  const metrics = new Codes(rows);
  const elements = new Codes(rows);
  let row = 0;
  let nulls = 0;
  for (const series of evidence.series) {
    const metric = metrics.code(series.metric);
    const element = elements.code(series.element);
    for (let sample = 0; sample < series.timesNs.length; sample++, row++) {
      metrics.rows[row] = metric;
      elements.rows[row] = element;
      timesNs[row] = BigInt(Math.round(series.timesNs[sample]));
      quality[row] = series.quality[sample];
      if (series.quality[sample] === QUALITY.notAvailable) nulls++;
      else {
        values[row] = series.values[sample];
        valid[row >> 3] |= 1 << (row & 7);
      }
    }
  }
  const columns: [string, Data, boolean][] = [
    ['metric', metrics.column(1), false],
    ['element', elements.column(2), false],
    ['time_ns', makeData({ type: new Int64(), length: rows, nullCount: 0, data: timesNs }), false],
    [
      'value',
      makeData({ type: new Float64(), length: rows, nullCount: nulls, data: values, nullBitmap: valid }),
      true,
    ],
    ['quality', makeData({ type: new Uint8(), length: rows, nullCount: 0, data: quality }), false],
  ];
  const fields = columns.map(([name, data, nullable]) => new Field(name, data.type, nullable));
  const metadata = new Map([
    ['fabricdrill.evidence', '1'],
    ['fabricdrill.from_ns', String(evidence.fromNs)],
    ['fabricdrill.to_ns', String(evidence.toNs)],
    ...(fabric === undefined ? [] : [[FABRIC_KEY, JSON.stringify(fabric)] as const]),
  ]);
  const children = columns.map(([, data]) => data);
  return new Table(
    new RecordBatch(
      new Schema(fields, metadata),
      makeData({ type: new Struct(fields), length: rows, nullCount: 0, children }),
    ),
  );
}

/** A dictionary-encoded text column in the making. */
class Codes {
  readonly rows: Int32Array<ArrayBuffer>;
  private readonly codes = new Map<string, number>();

  constructor(rows: number) {
    this.rows = new Int32Array(rows);
  }

  code(text: string): number {
    let code = this.codes.get(text);
    if (code === undefined) this.codes.set(text, (code = this.codes.size));
    return code;
  }

  column(dictionaryId: number): Data {
    return makeData({
      type: new Dictionary(new Utf8(), new Int32(), dictionaryId, false),
      length: this.rows.length,
      nullCount: 0,
      data: this.rows,
      dictionary: vectorFromArray([...this.codes.keys()], new Utf8()),
    });
  }
}

export interface DecodedEvidence {
  evidence: Evidence;
  /** The Fabric document that came with it; undefined for a file of another writer. Not checked. */
  fabric: unknown;
}

/** The evidence of a file alone. @throws InputError when it is no such file */
export const decodeEvidence = async (bytes: Uint8Array): Promise<Evidence> =>
  (await decodeEvidenceFile(bytes)).evidence;

/**
 * Reads a file that `encodeEvidence` wrote, compressed or not; any writer's table with the same columns will do.
 * @throws InputError when it is no such file, or a row can't be one of ours
 */
export async function decodeEvidenceFile(bytes: Uint8Array): Promise<DecodedEvidence> {
  await codecReady();
  const table = openTable(bytes);
  const column = (name: string): Vector => {
    const found = table.getChild(name);
    if (found === null)
      throw InputError.at(
        '',
        `the evidence table has no column "${name}"`,
        'see docs/rest.md for the columns',
      );
    return found;
  };
  const [metric, element, timeNs, value, quality] = ['metric', 'element', 'time_ns', 'value', 'quality'].map(
    column,
  );
  const builders = new Map<string, SeriesBuilder>();
  for (let row = 0; row < table.numRows; row++) {
    const names: unknown[] = [metric.get(row), element.get(row)];
    const key = names.join('\n');
    let builder = builders.get(key);
    if (builder === undefined) {
      const [metricName, elementId] = names;
      if (typeof metricName !== 'string' || typeof elementId !== 'string')
        throw badRow(row, 'metric and element must be texts');
      builders.set(key, (builder = new SeriesBuilder(metricName, elementId)));
    }
    const sample = value.get(row) as number | null;
    const sampleNs = Number(timeNs.get(row));
    // whole ns: two instants may have become one
    if (!(sampleNs >= builder.lastTimeNs)) throw badRow(row, `time_ns of ${names.join(' of ')} goes back`);
    builder.push(sampleNs, sample ?? NaN, sample === null ? QUALITY.notAvailable : Number(quality.get(row)));
  }
  const series = [...builders.values()].map((builder) => builder.build());
  const { metadata } = table.schema;
  const window = (name: string, fallback: number): number => Number(metadata.get(name) ?? fallback);
  const lastNs = series.reduce((last, one) => Math.max(last, one.timesNs.at(-1) ?? 0), 0);
  return {
    evidence: { fromNs: window('fabricdrill.from_ns', 0), toNs: window('fabricdrill.to_ns', lastNs), series },
    fabric: fabricOf(metadata.get(FABRIC_KEY)),
  };
}

function openTable(bytes: Uint8Array): Table {
  try {
    return tableFromIPC(bytes);
  } catch (error) {
    throw InputError.at(
      '',
      `this is no Arrow IPC file: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function fabricOf(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw InputError.at('', `the file's metadata "${FABRIC_KEY}" is no JSON`);
  }
}

const badRow = (row: number, message: string): InputError =>
  InputError.at('', `row ${row + 1} of the evidence table: ${message}`);
