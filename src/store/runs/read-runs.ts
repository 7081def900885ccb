/** Runs as they are stored: found, listed, with what came out of them. */
import type { Verdict } from '../../diagnosis/verdict.js';
import type { RunState, Scorecard } from '../../scoring/scorecard.js';
import { ConflictError, NotFoundError } from '../../system/errors.js';
import { isUuid } from '../../system/uuid.js';
import { liveEvidence, type LiveEvidence } from '../evidence/live-evidence.js';
import { storedEvidence, type StoredEvidence } from '../evidence/stored-evidence.js';
import type { Sql } from '../sql.js';
import type { RunEntity } from './run.entity.js';
import { isFinal } from './run.machine.js';
import { refuseSealed } from './sealed-run.js';

/** A run without the documents that it executes, which may be large. */
export type RunSummary = Omit<RunEntity, 'definition' | 'fabricDefinition' | 'plan'>;

export interface RunFilter {
  state?: RunState;
  fabric?: string;
  experiment?: string;
  schedule?: string;
  gameDay?: string;
  since?: string;
}

/** Place of a row in a list that is ordered by time of creation, then by id. */
export interface RunPlace {
  createdAt: string;
  id: string;
}

const DOCUMENTS: Record<Exclude<keyof RunEntity, keyof RunSummary>, string> = {
  definition: 'definition',
  fabricDefinition: 'fabric_definition',
  plan: 'plan',
};

const SUMMARY: Record<keyof RunSummary, string> = {
  id: 'id',
  experimentId: 'experiment_id',
  experimentName: 'experiment_name',
  fabricName: 'fabric_name',
  driver: 'driver',
  seed: 'seed',
  state: 'state',
  reason: 'reason',
  exitCode: 'exit_code',
  idempotencyKey: 'idempotency_key',
  scheduleId: 'schedule_id',
  gameDayId: 'game_day_id',
  sealed: 'sealed',
  abortRequestedAt: 'abort_requested_at',
  abortReason: 'abort_reason',
  clearedAt: 'cleared_at',
  clearedReason: 'cleared_reason',
  leaseOwner: 'lease_owner',
  leaseUntil: 'lease_until',
  fence: 'fence',
  version: 'version',
  createdAt: 'created_at',
  startedAt: 'started_at',
  endedAt: 'ended_at',
};

/** Column of each member of a run. */
export const RUN_COLUMNS: Record<keyof RunEntity, string> = { ...SUMMARY, ...DOCUMENTS };

const selected = (columns: Record<string, string>): string =>
  Object.entries(columns)
    .map(([member, column]) => `${column} AS "${member}"`)
    .join(', ');

/** PostgreSQL hands bigint over as text. */
const fromRow = <Run extends RunSummary>(row: Run): Run => ({
  ...row,
  seed: Number(row.seed),
  fence: Number(row.fence),
});

/** @throws NotFoundError */
export async function findRun(sql: Sql, id: string): Promise<RunEntity> {
  const [run] = isUuid(id)
    ? await sql.query<RunEntity[]>(`SELECT ${selected(RUN_COLUMNS)} FROM runs WHERE id = $1`, [id])
    : [];
  if (run === undefined) throw new NotFoundError(`there is no run ${id}`, 'GET /v1/runs lists them');
  return fromRow(run);
}

/** Newest first, one row more than asked for when there are more. */
export async function listRuns(
  sql: Sql,
  filter: RunFilter,
  limit: number,
  after?: RunPlace,
): Promise<RunSummary[]> {
  const parameters: unknown[] = [];
  const given = (value: unknown): string => `$${parameters.push(value)}`;
  const conditions: string[] = [];
  const equal = (column: string, value: string | undefined): void => {
    if (value !== undefined) conditions.push(`${column} = ${given(value)}`);
  };
  equal('state', filter.state);
  equal('fabric_name', filter.fabric);
  equal('experiment_name', filter.experiment);
  equal('schedule_id', filter.schedule);
  equal('game_day_id', filter.gameDay);
  // to be found by them would tell them
  if (filter.state !== undefined || filter.experiment !== undefined) conditions.push('NOT sealed');
  if (filter.since !== undefined) conditions.push(`created_at >= ${given(new Date(filter.since))}`);
  if (after !== undefined) {
    conditions.push(`(created_at, id) < (${given(after.createdAt)}::timestamptz, ${given(after.id)}::uuid)`);
  }
  const rows = await sql.query<RunSummary[]>(
    `SELECT ${selected(SUMMARY)} FROM runs ${conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`}
      ORDER BY created_at DESC, id DESC LIMIT ${given(limit + 1)}`,
    parameters,
  );
  return rows.map(fromRow);
}

/** @throws ConflictError, NotFoundError when there is none, or it is sealed */
export async function scorecardOf(sql: Sql, run: RunEntity): Promise<Scorecard> {
  refuseSealed(run, 'scorecard');
  const [row] = await sql.query<{ scorecard: Scorecard | null }[]>(
    'SELECT scorecard FROM run_results WHERE run_id = $1',
    [run.id],
  );
  if (row?.scorecard == null) throw notYet(run, 'scorecard');
  return row.scorecard;
}

/** @throws ConflictError, NotFoundError when there is none, or it is sealed */
export async function verdictOf(sql: Sql, run: RunEntity): Promise<Verdict> {
  refuseSealed(run, 'verdict');
  const [row] = await sql.query<{ verdict: Verdict | null }[]>(
    'SELECT verdict FROM run_results WHERE run_id = $1',
    [run.id],
  );
  if (row?.verdict == null) throw notYet(run, 'verdict');
  return row.verdict;
}

/** The stored Arrow file. @throws ConflictError, NotFoundError when there is none */
export async function evidenceOf(sql: Sql, run: RunEntity): Promise<StoredEvidence> {
  const stored = await storedEvidence(sql, run.id);
  if (stored === undefined) throw notYet(run, 'evidence');
  return stored;
}

/** The last look at a run under way. @throws ConflictError when there is none */
export async function liveEvidenceOf(sql: Sql, run: RunEntity): Promise<LiveEvidence> {
  const live = await liveEvidence(sql, run.id);
  if (live !== undefined) return live;
  throw isFinal(run.state)
    ? new ConflictError('the run has ended', `GET /v1/runs/${run.id}/evidence has all of it`)
    : new ConflictError(
        'there is nothing to look at yet',
        'runs with a pace are looked at every few seconds; any other is over in a moment or has its own monitoring',
      );
}

function notYet(run: RunEntity, what: string): Error {
  if (run.sealed) {
    if (!isFinal(run.state)) {
      return new ConflictError(`run ${run.id} has no ${what} yet`, `follow /v1/runs/${run.id}/events`);
    }
    return new ConflictError(
      `run ${run.id} has ended without ${what}, and how it ended is sealed`,
      `a diagnosis that can not tell (faultFound: null) is one too: POST /v1/game-days/${run.gameDayId}/commit`,
    );
  }
  return isFinal(run.state)
    ? new NotFoundError(`run ${run.id} ended as ${run.state} without ${what}`, run.reason ?? undefined)
    : new ConflictError(
        `run ${run.id} has no ${what} yet; it is ${run.state}`,
        `follow /v1/runs/${run.id}/events`,
      );
}
