/** What others see of a schedule and of its ticks. */
import type { ScheduleEntity, ScheduleTickEntity } from './schedule.entity.js';
import { readSchedule } from './stored-schedule.js';
import { upcomingTicks } from './timing/upcoming.js';

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
    nextAt: row.nextAt?.toISOString() ?? null,
    digest: row.digest,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

export function scheduleDetails(row: ScheduleEntity): Record<string, unknown> {
  const { rules } = readSchedule(row);
  // the tick before the next one is where to begin
  const fromMs = row.nextAt === null ? undefined : row.nextAt.getTime() - 1;
  const upcoming = fromMs === undefined ? [] : upcomingTicks(rules, row.id, fromMs, SHOWN);
  return { ...scheduleView(row), definition: row.definition, upcoming };
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
