/**
 * A run's events: stored in order, numbered per run, and streamed from the store.
 *
 * Every viewer, late or reconnecting, sees the same sequence; `Last-Event-ID` picks up where it broke. The event
 * `end` is the last one of every run. Streams read the table, so it does not matter which process runs the drill.
 */
import type { Sql } from '../sql.js';
import type { RunEventEntity } from './run.entity.js';

/** Types of events, the names that SSE clients subscribe to. */
export type RunEventType =
  'state' | 'progress' | 'injected' | 'reverted' | 'revert-failed' | 'verdict' | 'abort-requested' | 'end';

export interface RunEvent {
  seq: number;
  type: string;
  at: string;
  data: Record<string, unknown>;
}

/** Appends an event; the run's row must be locked by the caller, which keeps the numbers gapless. */
export async function appendEvent(
  sql: Sql,
  runId: string,
  type: RunEventType,
  data: Record<string, unknown>,
): Promise<void> {
  await sql.query(
    `INSERT INTO run_events (run_id, seq, at, type, data)
     VALUES ($1, (SELECT coalesce(max(seq), 0) + 1 FROM run_events WHERE run_id = $1), clock_timestamp(), $2, $3)`,
    [runId, type, JSON.stringify(data)],
  );
}

const POLL_MS = 150;

/**
 * Events after `afterSeq`, first those stored, then live ones, until `end` or the signal. Of a run that has ended,
 * those that are left, which is none when the reader has seen `end`.
 */
export async function* followEvents(
  sql: Sql,
  runId: string,
  afterSeq: number,
  signal: AbortSignal,
): AsyncGenerator<RunEvent> {
  if (await hasSeenEnd(sql, runId, afterSeq)) return;
  let seen = afterSeq;
  while (!signal.aborted) {
    const rows = await sql.query<Omit<RunEventEntity, 'runId'>[]>(
      'SELECT seq, at, type, data FROM run_events WHERE run_id = $1 AND seq > $2 ORDER BY seq LIMIT 500',
      [runId, seen],
    );
    for (const row of rows) {
      seen = row.seq;
      yield { seq: row.seq, type: row.type, at: row.at.toISOString(), data: row.data };
      if (row.type === 'end') return;
    }
    if (rows.length === 0) await pause(POLL_MS, signal);
  }
}

async function hasSeenEnd(sql: Sql, runId: string, seen: number): Promise<boolean> {
  if (seen === 0) return false;
  const ends = await sql.query<unknown[]>(
    `SELECT 1 FROM run_events WHERE run_id = $1 AND type = 'end' AND seq <= $2`,
    [runId, seen],
  );
  return ends.length > 0;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
  });
}
