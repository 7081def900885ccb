/** What others see of a schedule and of its ticks. */
import { InputError } from '../../core/problem.js';
import type { ScheduleEntity, ScheduleTickEntity } from './schedule.entity.js';
import { readSchedule, SEALED_DIGEST } from './stored-schedule.js';
import { upcomingTicks, type Upcoming } from '../../model/calendar/upcoming.js';

/** How many coming ticks are shown. */
const SHOWN = 10;

export function scheduleView(row: ScheduleEntity): Record<string, unknown> {
  const { spec } = row.definition as { spec: Record<string, unknown> };
  return {
    id: row.id,
    name: row.name,
    experimentRef: spec.experimentRef ?? null,
    gameDayRef: spec.gameDayRef ?? null,
    cron: spec.cron ?? null,
    once: spec.once ?? null,
    timeZone: spec.timeZone,
    suspendedAt: row.suspendedAt?.toISOString() ?? null,
    suspendReason: row.suspendReason,
    suspendCode: row.suspendCode,
    nextAt: row.nextAt?.toISOString() ?? null,
    digest: row.digest.startsWith(SEALED_DIGEST) ? null : row.digest,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

/** @param count how many coming ticks */
export function scheduleDetails(row: ScheduleEntity, count = SHOWN): Record<string, unknown> {
  return { ...scheduleView(row), definition: row.definition, upcoming: upcomingOf(row, count) };
}

/** None where no tick is left, or where this version does not take the file, which `suspendReason` says. */
function upcomingOf(row: ScheduleEntity, count: number): Upcoming[] {
  if (row.nextAt === null) return [];
  const suspended = row.suspendedAt === null ? null : (row.suspendReason ?? '');
  try {
    // the tick before the next one is where to begin
    return upcomingTicks(readSchedule(row).rules, { id: row.id, suspended }, row.nextAt.getTime() - 1, count);
  } catch (error) {
    if (error instanceof InputError) return [];
    throw error;
  }
}

export function tickView(tick: ScheduleTickEntity): Record<string, unknown> {
  return {
    nominalAt: tick.nominalAt.toISOString(),
    dueAt: tick.dueAt.toISOString(),
    decidedAt: tick.decidedAt.toISOString(),
    outcome: tick.outcome,
    reason: tick.reason,
    detail: tick.detail,
    runId: tick.runId,
    gameDayId: tick.gameDayId,
  };
}
