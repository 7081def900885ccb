/** The last look at a run under way; the whole of its evidence replaces it. */
import type { Sql } from '../sql.js';

export interface LiveEvidence {
  /** Up to here, ns from the run's start. */
  untilNs: number;
  /** An Arrow file. */
  bytes: Buffer;
}

/** @returns undefined when nothing was looked at, or the whole is stored */
export async function liveEvidence(database: Sql, runId: string): Promise<LiveEvidence | undefined> {
  const [row] = await database.query<{ until_ns: number; bytes: Buffer }[]>(
    'SELECT until_ns, bytes FROM run_live_evidence WHERE run_id = $1',
    [runId],
  );
  return row === undefined ? undefined : { untilNs: row.until_ns, bytes: row.bytes };
}
