/**
 * What a schedule starts: a run or a game day, and how these are made, written and stopped.
 */
import type { EntityManager } from 'typeorm';
import type { PlannedDay } from '../game-days/game-day-planner.js';
import type { RunEntity } from '../../store/runs/run.entity.js';
import type { ScheduleEntity } from './schedule.entity.js';
import type { StoredSchedule } from './stored-schedule.js';

/** Injection token of what makes runs. */
export const SCHEDULE_RUNS = Symbol('fabricdrill runs of schedules');

/** A run, or a game day with its runs, that could start. */
export type Prepared = { kind: 'run'; run: RunEntity } | { kind: 'game-day'; planned: PlannedDay };

/** What a schedule has started and has not ended. */
export interface OpenWork {
  kind: Prepared['kind'];
  id: string;
}

export const nameOf = ({ kind, id }: OpenWork): string => `${kind === 'run' ? 'run' : 'game day'} ${id}`;

/** How runs and game days are made, written and stopped; within the transaction that decides about them. */
export interface ScheduledRuns {
  /** Plans without storing. @throws InputError, ConflictError or NotFoundError when it can't start */
  prepare(request: ScheduledRun): Promise<Prepared>;
  store(manager: EntityManager, prepared: Prepared): Promise<void>;
  requestAbort(manager: EntityManager, open: OpenWork, reason: string): Promise<void>;
}

/** How the confirmation of a real fabric is asked for. */
export interface ConfirmedRuns {
  /** @throws ConflictError with its code for a real fabric that is not confirmed; InputError for what can't be found */
  requireConfirmation(work: ScheduledWork): Promise<void>;
}

export interface ScheduledRun extends ScheduledWork {
  id: string;
  scheduleId: string;
}

export interface ScheduledWork {
  experimentRef?: string;
  /** Documents of a game day, instead. */
  gameDay?: string;
  fabric?: string;
  seed?: number;
  /** Name of the real fabric that it goes to. */
  confirm?: string;
}

/** What a schedule runs, to be read before each tick. */
export async function workOf(
  manager: EntityManager,
  { id }: ScheduleEntity,
  { confirm, spec: { experimentRef, gameDayRef, fabric, seed } }: StoredSchedule,
): Promise<ScheduledWork> {
  if (gameDayRef === undefined) return { experimentRef, fabric, seed, confirm };
  const [row] = await manager.query<{ game_day: string }[]>(`SELECT game_day FROM schedules WHERE id = $1`, [
    id,
  ]);
  return { gameDay: row.game_day, confirm };
}

/** What a schedule has started and has not ended, the oldest first. */
export function openWork(manager: EntityManager, scheduleId: string): Promise<OpenWork[]> {
  return manager.query<OpenWork[]>(
    `SELECT 'run' AS kind, id, created_at FROM runs WHERE schedule_id = $1 AND ended_at IS NULL
      UNION ALL
     SELECT 'game-day', id, created_at FROM game_days WHERE schedule_id = $1 AND ended_at IS NULL
      ORDER BY created_at`,
    [scheduleId],
  );
}
