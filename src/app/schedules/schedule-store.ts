/**
 * The ticks of stored schedules: each becomes one run or one skip, whatever the replicas, their clocks and the database do.
 *
 * Whoever looks at a schedule locks its row, decides what is due, and writes ticks, runs and the next time in the same
 * transaction. A process that dies leaves nothing; one that stands still in mid-transaction is cut off by the database, so
 * that others go on. Time is the database's, one clock for all replicas. The primary key of ticks stands behind all this,
 * and a run's id follows from schedule and nominal time, so that a queue that remembers more than the database after a
 * failover is asked for the same run again, not for another one.
 */
import { Inject, Injectable, Logger, Optional } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { InputError, messageOf } from '../../core/problem.js';
import { databaseLoss } from '../platform/problem/database-loss.js';
import { ConflictError, NotFoundError } from '../../system/errors.js';
import { through, Turnstile } from '../../system/turnstile.js';
import { ScheduleEntity, ScheduleTickEntity, type SuspendCode } from './schedule.entity.js';
import {
  nameOf,
  openWork,
  SCHEDULE_RUNS,
  workOf,
  type Prepared,
  type ScheduledRun,
  type ScheduledRuns,
} from './scheduled-runs.js';
import { unconfirmedReason } from './unconfirmed.js';
import { readSchedule, scheduledRunId, type StoredSchedule } from './stored-schedule.js';
import {
  abortReason,
  decideTick,
  dueMs,
  nextAfterChange,
  nextTickMs,
  wakeMs,
  type Decision,
  type Living,
  type Skip,
} from '../../model/calendar/decide.js';

/** Injection token of the clock. */
export const SCHEDULE_CLOCK = Symbol('fabricdrill clock of schedules');

/** The one clock of all replicas, in ms. */
export type ScheduleClock = (manager: EntityManager) => Promise<number>;

export const databaseClock: ScheduleClock = async (manager) => {
  const [{ now }] = await manager.query<[{ now: Date }]>('SELECT clock_timestamp() AS now');
  return now.getTime();
};

/** A process that stands still for longer loses its transaction, and others take the schedule. */
const STANDS_STILL_MS = 60_000;
/** Clocks of servers that take over differ by less; more means that the clock was put back. */
const CLOCK_BACK_MS = 60_000;
/** Ticks a transaction: after a long outage there may be many, and a lock is not held for all of them. */
const TICKS_AT_ONCE = 500;
export const SCHEDULES_AT_ONCE = 100;
/**
 * Changes that people ask for, at a time: each holds a connection for its transaction, while what is due before it needs
 * another to be planned, and may wait for a replica that has the schedule.
 */
const CHANGES_AT_ONCE = 3;

export interface Settled {
  /** Runs that were stored and have to be queued. */
  runIds: string[];
  /** More ticks are due. */
  more: boolean;
}

@Injectable()
export class ScheduleStore {
  private readonly logger = new Logger('ScheduleStore');
  private readonly changes = new Turnstile(CHANGES_AT_ONCE);

  constructor(
    private readonly dataSource: DataSource,
    @Inject(SCHEDULE_RUNS) private readonly runs: ScheduledRuns,
    @Inject(SCHEDULE_CLOCK) readonly clock: ScheduleClock,
    @Optional() private readonly standsStillMs: number = STANDS_STILL_MS,
  ) {}

  /** Schedules to look at now, the longest due first, some hundred at most. */
  async toWake(except: readonly string[] = []): Promise<string[]> {
    const now = new Date(await this.clock(this.dataSource.manager));
    const rows = await this.dataSource.query<{ id: string }[]>(
      `SELECT id FROM schedules WHERE (wake_at <= $1 OR settled_at > $2) AND id <> ALL ($3::uuid[])
        ORDER BY wake_at LIMIT $4`,
      [now, new Date(now.getTime() + CLOCK_BACK_MS), except, SCHEDULES_AT_ONCE],
    );
    return rows.map(({ id }) => id);
  }

  /** Decides what is due of one schedule; undefined when another replica is at it, or it is gone. */
  async settle(id: string): Promise<Settled | undefined> {
    return this.transaction(async (manager) => {
      const row = await manager.findOne(ScheduleEntity, {
        where: { id },
        lock: { mode: 'pessimistic_write', onLocked: 'skip_locked' },
      });
      return row === null ? undefined : this.settleRow(manager, row);
    });
  }

  /**
   * Changes a schedule after all that was due under its old state has been decided.
   * @param change edits the row; the next tick is looked for again when it returns true
   */
  async change(
    id: string,
    change: (row: ScheduleEntity, now: Date) => boolean,
  ): Promise<{ row: ScheduleEntity; runIds: string[] } | undefined> {
    const runIds: string[] = [];
    for (;;) {
      const step = await through([this.changes], () => this.changeSettled(id, change));
      if (step === undefined) return undefined;
      runIds.push(...step.settled.runIds);
      if (!step.settled.more) return { row: step.row, runIds };
    }
  }

  private changeSettled(
    id: string,
    change: (row: ScheduleEntity, now: Date) => boolean,
  ): Promise<{ row: ScheduleEntity; settled: Settled } | undefined> {
    return this.transaction(async (manager) => {
      const row = await manager.findOne(ScheduleEntity, {
        where: { id },
        lock: { mode: 'pessimistic_write' },
      });
      if (row === null) return undefined;
      const settled = await this.settleRow(manager, row);
      if (settled.more) return { row, settled };
      const dueAt = dueOf(row);
      const begin = change(row, row.settledAt);
      const rules = readOrSuspend(row, row.settledAt)?.rules;
      if (begin && rules !== undefined) await beginAnew(manager, row, rules, dueAt);
      row.wakeAt = wakeOf(row, rules);
      row.updatedAt = row.settledAt;
      return { row: await manager.save(row), settled };
    });
  }

  private async settleRow(manager: EntityManager, row: ScheduleEntity): Promise<Settled> {
    const nowMs = await this.clock(manager);
    const stored = readOrSuspend(row, new Date(nowMs));
    const settled: Settled = { runIds: [], more: false };
    if (stored !== undefined) {
      if (row.settledAt.getTime() > nowMs + CLOCK_BACK_MS) await takeBack(manager, row, stored.rules, nowMs);
      await this.decideDue(manager, row, stored, nowMs, settled);
      const reason = settled.more ? undefined : abortReason(stored.rules, row.name, nowMs);
      if (reason !== undefined) await this.abortAll(manager, row.id, reason);
    }
    row.settledAt = new Date(nowMs);
    row.wakeAt = settled.more ? row.settledAt : wakeOf(row, stored?.rules);
    const { nextAt, wakeAt, settledAt, suspendedAt, suspendReason, suspendCode } = row;
    const changed = { nextAt, wakeAt, settledAt, suspendedAt, suspendReason, suspendCode };
    await manager.update(ScheduleEntity, row.id, changed);
    return settled;
  }

  private async decideDue(
    manager: EntityManager,
    row: ScheduleEntity,
    stored: StoredSchedule,
    nowMs: number,
    settled: Settled,
  ): Promise<void> {
    const { rules, spec } = stored;
    const skipped: TickRow[] = [];
    let underWay: string[] | undefined;
    for (let count = 0; row.nextAt !== null; count++) {
      const nominalMs = row.nextAt.getTime();
      const due = dueMs(rules, nominalMs);
      if (due > nowMs) break;
      if (count === TICKS_AT_ONCE) {
        settled.more = true;
        break;
      }
      underWay ??= (await openWork(manager, row.id)).map(nameOf);
      const tick = { nominalMs, suspended: row.suspendedAt !== null, underWay };
      const decision = decideTick(rules, tick, nowMs);
      const at = { nominalAt: row.nextAt, dueAt: new Date(due), decidedAt: new Date(nowMs) };
      const outcome =
        decision.outcome === 'run' ? await this.start(manager, row, stored, decision, at) : decision;
      if (outcome === 'started') {
        // a game day's runs are queued by whoever conducts it
        if (spec.gameDayRef === undefined) settled.runIds.push(scheduledRunId(row.id, nominalMs));
        underWay = undefined;
      } else if (outcome !== 'known') {
        skipped.push({ ...at, ...outcome });
      }
      row.nextAt = dateOf(nextTickMs(rules, nominalMs));
    }
    await insertSkips(manager, row.id, skipped);
  }

  /** @returns the skip that the tick becomes when its run can't start; `known` when the tick was decided before */
  private async start(
    manager: EntityManager,
    row: ScheduleEntity,
    stored: StoredSchedule,
    decision: Extract<Decision, { outcome: 'run' }>,
    at: TickTimes,
  ): Promise<'started' | 'known' | Skip> {
    const id = scheduledRunId(row.id, at.nominalAt.getTime());
    const known = await manager.findOneBy(ScheduleTickEntity, {
      scheduleId: row.id,
      nominalAt: at.nominalAt,
    });
    if (known !== null) return 'known';
    const prepared = await this.prepare({ id, scheduleId: row.id, ...(await workOf(manager, row, stored)) });
    if ('outcome' in prepared) {
      if (prepared.reason === 'suspended')
        suspend(row, 'confirmation-required', prepared.detail, at.decidedAt);
      return prepared;
    }
    if (decision.replace) {
      const tick = at.nominalAt.toISOString();
      await this.abortAll(manager, row.id, `replaced by the tick of ${tick} of its schedule "${row.name}"`);
    }
    await manager.insert(ScheduleTickEntity, {
      ...at,
      scheduleId: row.id,
      outcome: 'run',
      reason: null,
      detail: decision.note,
      runId: prepared.kind === 'run' ? id : null,
      gameDayId: prepared.kind === 'game-day' ? id : null,
    });
    await this.runs.store(manager, prepared);
    return 'started';
  }

  /** A run that can't be planned is no reason to stop the schedule; a database that is lost is one to try again. */
  private async prepare(request: ScheduledRun): Promise<Prepared | Skip> {
    try {
      return await this.runs.prepare(request);
    } catch (error) {
      if (databaseLoss(error) !== undefined) throw error;
      const unconfirmed = unconfirmedReason(error);
      if (unconfirmed !== undefined) return { outcome: 'skip', reason: 'suspended', detail: unconfirmed };
      const isExpected =
        error instanceof InputError || error instanceof ConflictError || error instanceof NotFoundError;
      if (!isExpected) this.logger.error(`schedule ${request.scheduleId}: ${(error as Error).stack}`);
      const text = messageOf(error);
      return { outcome: 'skip', reason: 'refused', detail: text.slice(0, 2000) };
    }
  }

  private async abortAll(manager: EntityManager, scheduleId: string, reason: string): Promise<void> {
    for (const open of await openWork(manager, scheduleId))
      await this.runs.requestAbort(manager, open, reason);
  }

  private transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.dataSource.transaction(async (manager) => {
      await manager.query(`SET LOCAL idle_in_transaction_session_timeout = ${this.standsStillMs}`);
      return work(manager);
    });
  }
}

type TickTimes = Pick<ScheduleTickEntity, 'nominalAt' | 'dueAt' | 'decidedAt'>;
type TickRow = TickTimes & Skip;

const dateOf = (ms: number | undefined): Date | null => (ms === undefined ? null : new Date(ms));

const UNREADABLE = 'this version does not accept its file';

/** A schedule that can't be read any more is suspended with the reason: nothing else would tell anybody. */
function readOrSuspend(row: ScheduleEntity, now: Date): StoredSchedule | undefined {
  try {
    return readSchedule(row);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    row.suspendReason = null;
    suspend(row, 'unreadable', `${UNREADABLE}: ${error.message}`.slice(0, 2000), now);
    return undefined;
  }
}

/** Whoever has suspended it before stays the one who has. */
export function suspend(row: ScheduleEntity, code: SuspendCode | null, reason: string, now: Date): void {
  row.suspendedAt ??= now;
  if (row.suspendReason !== null) return;
  Object.assign(row, { suspendReason: reason, suspendCode: code });
}

const wakeOf = (row: ScheduleEntity, rules: Living | undefined): Date | null =>
  rules === undefined ? null : dateOf(wakeMs(rules, row.nextAt?.getTime(), row.settledAt.getTime()));

/** When the next tick of a schedule is due, as far as its file can be read. */
function dueOf(row: ScheduleEntity): Date | null {
  if (row.nextAt === null) return null;
  const rules = readOrSuspend(row, row.settledAt)?.rules;
  return rules === undefined ? row.nextAt : new Date(dueMs(rules, row.nextAt.getTime()));
}

/** Looks for the next tick under new rules; what was due under the old ones has been decided. */
async function beginAnew(
  manager: EntityManager,
  row: ScheduleEntity,
  rules: Living,
  dueAt: Date | null,
): Promise<void> {
  const nowMs = row.settledAt.getTime();
  const { nextMs, skipped } = nextAfterChange(rules, row.nextAt?.getTime(), nowMs);
  if (skipped !== undefined && row.nextAt !== null) {
    const tick = { nominalAt: row.nextAt, dueAt: dueAt ?? row.nextAt, decidedAt: row.settledAt };
    await insertSkips(manager, row.id, [{ ...tick, ...skipped }]);
  }
  row.nextAt = dateOf(nextMs);
}

/** The clock was put back: what was skipped in a time that has not come is decided anew; runs stay as they are. */
async function takeBack(
  manager: EntityManager,
  row: ScheduleEntity,
  rules: Living,
  nowMs: number,
): Promise<void> {
  const nextMs = nextTickMs(rules, nowMs);
  if (nextMs === undefined || (row.nextAt !== null && row.nextAt.getTime() <= nextMs)) return;
  await manager.query(
    `DELETE FROM schedule_ticks WHERE schedule_id = $1 AND nominal_at > $2 AND outcome = 'skip'`,
    [row.id, new Date(nowMs)],
  );
  row.nextAt = new Date(nextMs);
}

async function insertSkips(
  manager: EntityManager,
  scheduleId: string,
  skips: readonly TickRow[],
): Promise<void> {
  if (skips.length === 0) return;
  await manager.query(
    `INSERT INTO schedule_ticks (schedule_id, nominal_at, due_at, decided_at, outcome, reason, detail)
     SELECT $1, nominal, due, decided, 'skip', reason, detail
       FROM unnest($2::timestamptz[], $3::timestamptz[], $4::timestamptz[], $5::text[], $6::text[])
         AS t (nominal, due, decided, reason, detail)
     ON CONFLICT (schedule_id, nominal_at) DO NOTHING`,
    [
      scheduleId,
      skips.map(({ nominalAt }) => nominalAt),
      skips.map(({ dueAt }) => dueAt),
      skips.map(({ decidedAt }) => decidedAt),
      skips.map(({ reason }) => reason),
      skips.map(({ detail }) => detail),
    ],
  );
}
