/**
 * A run that was computed in memory and is over: stored in one go, as if a worker had written it on the way.
 *
 * What was reported many times a second (progress) is not kept. Nobody can ask for such a run while it is computed.
 */
import type { DrillReport } from '../../drill/compute/task.js';
import type { Plan } from '../../drill/plan/plan.js';
import type { EvidenceFile } from '../../evidence/evidence-file.js';
import type { Scorecard } from '../../scoring/scorecard.js';
import { storeExperiment } from '../documents/experiments.js';
import { storeEvidence } from '../evidence/stored-evidence.js';
import type { Sql } from '../sql.js';
import { RUN_COLUMNS } from './read-runs.js';
import type { RunEntity, UndoStatus } from './run.entity.js';
import type { Ending } from './run-store.js';

/** Somebody wants it to end before its time. */
export interface AbortRequest {
  type: 'abort-requested';
  reason: string;
}

export interface FinishedRun {
  id: string;
  /** Documents as written. */
  experiment: { name: string; source: unknown };
  fabric: { name: string; driver: string; source: unknown };
  /** Null for a drill that could not be planned. */
  plan: Plan;
  seed: number;
  version: string;
  startedAt: Date;
  endedAt: Date;
  /** What the drill reported, each report with its time; those of progress may be left out. */
  course: readonly { at: Date; report: DrillReport | AbortRequest }[];
  /** Closed by whoever made it. */
  evidence?: EvidenceFile;
  ending: Ending;
  scorecard: Scorecard;
}

/** @param sql a transaction, so that all is stored or nothing */
export async function storeFinishedRun(sql: Sql, finished: FinishedRun): Promise<void> {
  const { id, experiment, fabric, ending, startedAt, endedAt } = finished;
  const { id: experimentId } = await storeExperiment(sql, experiment.name, experiment.source);
  await insertRun(sql, {
    ...UNTOUCHED,
    id,
    experimentId,
    experimentName: experiment.name,
    fabricName: fabric.name,
    driver: fabric.driver,
    definition: experiment.source,
    fabricDefinition: fabric.source,
    plan: finished.plan,
    seed: finished.seed,
    ...ending,
    fence: 1,
    version: finished.version,
    ...abortOf(finished),
    createdAt: startedAt,
    startedAt,
    endedAt,
  });
  const events = eventsOf(finished);
  await insertAll(
    sql,
    'run_transitions',
    id,
    ['seq int', 'state text', 'at timestamptz', 'detail text'],
    transitionsOf(events),
  );
  await insertAll(sql, 'run_events', id, ['seq int', 'at timestamptz', 'type text', 'data json'], events);
  await insertAll(
    sql,
    'undo_entries',
    id,
    [
      'id text',
      'ordinal int',
      'fault text',
      'impairment json',
      'saved json',
      'status text',
      'error text',
      'intended_at timestamptz',
      'applied_at timestamptz',
      'reverted_at timestamptz',
      'verified_at timestamptz',
    ],
    undoEntriesOf(finished),
  );
  await storeResults(sql, finished);
  if (finished.evidence !== undefined) await storeEvidence(sql, id, finished.evidence);
}

function abortOf({ course }: FinishedRun): Partial<RunEntity> {
  for (const { at, report } of course) {
    if (report.type === 'abort-requested') return { abortRequestedAt: at, abortReason: report.reason };
  }
  return {};
}

/** A run that nobody has aborted, cleared, leased, scheduled or sealed. */
const UNTOUCHED = {
  idempotencyKey: null,
  scheduleId: null,
  gameDayId: null,
  sealed: false,
  abortRequestedAt: null,
  abortReason: null,
  clearedAt: null,
  clearedReason: null,
  leaseOwner: null,
  leaseUntil: null,
} as const;

const JSON_MEMBERS: readonly (keyof RunEntity)[] = ['definition', 'fabricDefinition', 'plan'];

async function insertRun(sql: Sql, run: RunEntity): Promise<void> {
  const members = Object.keys(RUN_COLUMNS) as (keyof RunEntity)[];
  await sql.query(
    `INSERT INTO runs (${members.map((member) => RUN_COLUMNS[member]).join(', ')})
     VALUES (${members.map((_, at) => `$${at + 1}`).join(', ')})`,
    members.map((member) => (JSON_MEMBERS.includes(member) ? JSON.stringify(run[member]) : run[member])),
  );
}

/** Rows of a run in one statement; columns with their types, members by the names of the columns. */
async function insertAll(
  sql: Sql,
  table: string,
  runId: string,
  columns: readonly string[],
  rows: readonly object[],
): Promise<void> {
  const names = columns.map((column) => column.split(' ')[0]).join(', ');
  await sql.query(
    `INSERT INTO ${table} (run_id, ${names})
     SELECT $1, ${names} FROM json_to_recordset($2) AS row (${columns.join(', ')})`,
    [runId, JSON.stringify(rows)],
  );
}

interface EventRow {
  seq: number;
  at: Date;
  type: string;
  data: Record<string, unknown>;
}

function eventsOf({ id, startedAt, endedAt, course, ending }: FinishedRun): EventRow[] {
  const { state, reason } = ending;
  const told: Omit<EventRow, 'seq'>[] = [
    { at: startedAt, type: 'state', data: { state: 'pending' } },
    ...course.flatMap(({ at, report }) => {
      const event = eventOf(id, report);
      return event === undefined ? [] : [{ at, ...event }];
    }),
    { at: endedAt, type: 'state', data: { state, ...(reason === null ? {} : { detail: reason }) } },
    { at: endedAt, type: 'end', data: { ...ending } },
  ];
  return told.map((event, index) => ({ seq: index + 1, ...event }));
}

function eventOf(
  runId: string,
  report: DrillReport | AbortRequest,
): Pick<EventRow, 'type' | 'data'> | undefined {
  switch (report.type) {
    case 'state': {
      const { state, detail } = report;
      return { type: 'state', data: { state, ...(detail === null ? {} : { detail }) } };
    }
    case 'applied':
      return { type: 'injected', data: { id: journalId(runId, report.id) } };
    case 'verified':
      return { type: 'reverted', data: { id: journalId(runId, report.id) } };
    case 'failed':
      return { type: 'revert-failed', data: { id: journalId(runId, report.id), reason: report.reason } };
    case 'abort-requested':
      return { type: 'abort-requested', data: { reason: report.reason } };
    case 'verdict': {
      const { faultFound, answer } = report.verdict;
      return { type: 'verdict', data: { faultFound, answer } };
    }
    default:
      return undefined;
  }
}

/** Ids in the undo journal are unique over all runs. */
export const journalId = (runId: string, impairmentId: string): string => `${runId}/${impairmentId}`;

const transitionsOf = (events: readonly EventRow[]): object[] =>
  events
    .filter(({ type }) => type === 'state')
    .map(({ at, data }, index) => ({ seq: index + 1, at, state: data.state, detail: data.detail ?? null }));

interface UndoRow {
  id: string;
  status: UndoStatus;
  [column: string]: unknown;
}

function undoEntriesOf({ id: runId, course }: FinishedRun): UndoRow[] {
  const rows = new Map<string, UndoRow>();
  for (const { at, report } of course) {
    if (report.type === 'intended') {
      const { id, fault, impairment, saved } = report.entry;
      rows.set(id, {
        id: journalId(runId, id),
        ordinal: rows.size,
        fault,
        impairment,
        saved,
        status: 'intended',
        intended_at: at,
      });
    } else if (report.type === 'applied') {
      Object.assign(rows.get(report.id)!, { status: 'applied', applied_at: at });
    } else if (report.type === 'verified') {
      Object.assign(rows.get(report.id)!, {
        status: 'verified',
        error: null,
        reverted_at: at,
        verified_at: at,
      });
    } else if (report.type === 'failed') {
      Object.assign(rows.get(report.id)!, { status: 'failed', error: report.reason });
    }
  }
  return [...rows.values()];
}

async function storeResults(sql: Sql, { id, course, scorecard }: FinishedRun): Promise<void> {
  const sealed = course.find(({ report }) => report.type === 'verdict');
  const verdict = sealed?.report.type === 'verdict' ? JSON.stringify(sealed.report.verdict) : null;
  await sql.query('INSERT INTO run_results (run_id, verdict, sealed_at, scorecard) VALUES ($1, $2, $3, $4)', [
    id,
    verdict,
    sealed?.at ?? null,
    JSON.stringify(scorecard),
  ]);
  for (const { report } of course) {
    if (report.type !== 'truth') continue;
    const { truth: _, ...record } = report.record;
    await sql.query('INSERT INTO run_truth (run_id, truth, record) VALUES ($1, $2, $3)', [
      id,
      JSON.stringify(report.truth),
      JSON.stringify(record),
    ]);
  }
}
