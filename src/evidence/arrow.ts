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
import { CompressionType, RecordBatchFileWriter } from 'apache-arrow';
import type { Evidence } from '../model/telemetry/series.js';
import { codecReady } from './codec.js';
import { EvidenceBatches } from './evidence-batches.js';

export { decodeEvidence, decodeEvidenceFile, type DecodedEvidence } from './read-evidence.js';

export const EVIDENCE_MEDIA_TYPE = 'application/vnd.apache.arrow.file';

const PREFIX_BYTES = 8;
/** Some 25 MB before compression. */
const ROWS_PER_BATCH = 1 << 20;
const NOT_COMPRESSED = -1n;

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
