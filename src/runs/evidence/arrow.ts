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
  RecordBatchFileWriter,
  tableFromIPC,
  type Table,
  type Vector,
} from 'apache-arrow';
import { compress, decompress, init } from '@bokuweb/zstd-wasm';
import { InputError } from '../../kernel/problem.js';
import { QUALITY, SeriesBuilder, type Evidence } from '../../telemetry/series.js';
import { EvidenceBatches, FABRIC_KEY } from './evidence-batches.js';

export const EVIDENCE_FORMAT = 'arrow-ipc-file; zstd; fabricdrill-evidence v1';
export const EVIDENCE_MEDIA_TYPE = 'application/vnd.apache.arrow.file';

const ZSTD_LEVEL = 6;
const PREFIX_BYTES = 8;
/** Some 25 MB before compression. */
const ROWS_PER_BATCH = 1 << 20;
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
  private ready: Uint8Array[] = [];

  /** The bytes written since the last call. */
  take(): Uint8Array[] {
    const taken = this.ready;
    this.ready = [];
    return taken;
  }

  protected override _write(chunk: ArrayBufferView): this {
    const bytes = new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (bytes.byteLength > 0) {
      this.ready.push(bytes);
      this._position += bytes.byteLength;
    }
    return this;
  }

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
  const parts: Uint8Array[] = [];
  let rows = 0;
  for await (const part of encodedParts(evidence, compressed, fabric)) {
    parts.push(...part.bytes);
    rows += part.rows;
  }
  return { bytes: Buffer.concat(parts), rows };
}

/** Some bytes of the file, and the rows that are in them. */
export interface EncodedPart {
  bytes: Uint8Array[];
  rows: number;
}

/** The same file piece by piece, a record batch at a time. @param rowsPerBatch most rows of a batch */
export async function* encodedParts(
  evidence: Evidence,
  compressed = true,
  fabric?: unknown,
  rowsPerBatch = ROWS_PER_BATCH,
): AsyncGenerator<EncodedPart> {
  await codecReady();
  const batches = new EvidenceBatches(evidence, fabric, rowsPerBatch);
  const writer = new EvidenceWriter({ compressionType: compressed ? CompressionType.ZSTD : null });
  for (const batch of batches) {
    writer.write(batch);
    yield { bytes: writer.take(), rows: batch.numRows };
  }
  writer.finish();
  yield { bytes: writer.take(), rows: 0 };
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
