/**
 * Evidence in the database: one row that says what it is, and the file in parts, so that no part of it is ever large.
 *
 * The row is written last. Parts without it are what a worker left that died while it stored them: nobody reads them, and
 * they go when the run goes.
 */
import type { DataSource, EntityManager } from 'typeorm';
import type { Evidence } from '../../model/telemetry/series.js';
import { decodeEvidence } from '../../evidence/arrow.js';
import { EvidenceFile } from '../../evidence/evidence-file.js';

export interface StoredEvidence {
  sha256: string;
  bytes: number;
  /** The Arrow file, in order. */
  parts: () => AsyncGenerator<Buffer>;
}

type Queries = Pick<DataSource | EntityManager, 'query'>;

/** @returns undefined when the run has none */
export async function storedEvidence(database: Queries, runId: string): Promise<StoredEvidence | undefined> {
  const [row] = await database.query<{ sha256: string; bytes: string; parts: number }[]>(
    `SELECT sha256, bytes, parts FROM run_evidence WHERE run_id = $1`,
    [runId],
  );
  if (row === undefined) return undefined;
  const { sha256, bytes, parts } = row;
  return { sha256, bytes: Number(bytes), parts: () => partsOf(database, runId, parts) };
}

async function* partsOf(database: Queries, runId: string, count: number): AsyncGenerator<Buffer> {
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
  const file = await EvidenceFile.from(parts());
  try {
    return await decodeEvidence(file.handle);
  } finally {
    await file.close();
  }
}
