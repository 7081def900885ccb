/**
 * Evidence in the database: one row that says what it is, and the file in parts, so that no part of it is ever large.
 *
 * The row is written last. Parts without it are what a worker left that died while it stored them: nobody reads them, and
 * they go when the run goes.
 */
import type { Evidence } from '../../model/telemetry/series.js';
import type { Sql } from '../sql.js';
import { EvidenceFile } from '../../evidence/evidence-file.js';

export interface StoredEvidence {
  sha256: string;
  bytes: number;
  /** The Arrow file, in order. */
  parts: () => AsyncGenerator<Buffer>;
}

/** What kind of file it is, as its row says. */
export const EVIDENCE_FORMAT = 'arrow-ipc-file; zstd; fabricdrill-evidence v1';

/** @param sql a transaction */
export async function storeEvidence(sql: Sql, runId: string, file: EvidenceFile): Promise<void> {
  let parts = 0;
  for await (const bytes of file.chunks()) await storePart(sql, runId, parts++, bytes);
  await storeFigures(sql, runId, file, parts);
}

export const storePart = (sql: Sql, runId: string, part: number, bytes: Buffer): Promise<unknown> =>
  sql.query('INSERT INTO run_evidence_parts (run_id, part, bytes) VALUES ($1, $2, $3)', [runId, part, bytes]);

export const storeFigures = (
  sql: Sql,
  runId: string,
  { bytes, sha256, rows }: Pick<EvidenceFile, 'bytes' | 'sha256' | 'rows'>,
  parts: number,
): Promise<unknown> =>
  sql.query(
    'INSERT INTO run_evidence (run_id, bytes, sha256, rows, parts, format) VALUES ($1, $2, $3, $4, $5, $6)',
    [runId, bytes, sha256, rows, parts, EVIDENCE_FORMAT],
  );

/** @returns undefined when the run has none */
export async function storedEvidence(database: Sql, runId: string): Promise<StoredEvidence | undefined> {
  const [row] = await database.query<{ sha256: string; bytes: string; parts: number }[]>(
    `SELECT sha256, bytes, parts FROM run_evidence WHERE run_id = $1`,
    [runId],
  );
  if (row === undefined) return undefined;
  const { sha256, bytes, parts } = row;
  return { sha256, bytes: Number(bytes), parts: () => partsOf(database, runId, parts) };
}

async function* partsOf(database: Sql, runId: string, count: number): AsyncGenerator<Buffer> {
  for (let part = 0; part < count; part++) {
    const [row] = await database.query<{ bytes: Buffer }[]>(
      `SELECT bytes FROM run_evidence_parts WHERE run_id = $1 AND part = $2`,
      [runId, part],
    );
    if (row === undefined) throw new Error(`part ${part} of the evidence of run ${runId} is missing`);
    yield row.bytes;
  }
}

/** The evidence itself, read by way of the disk. */
export async function readStored({ parts }: StoredEvidence): Promise<Evidence> {
  // the reader of Arrow files takes a while to load
  const { decodeEvidence } = await import('../../evidence/arrow.js');
  const file = await EvidenceFile.from(parts());
  try {
    return await decodeEvidence(file.handle);
  } finally {
    await file.close();
  }
}
