/**
 * A schedule as it is stored: read once for each content, since checking one tries years of ticks, and asked every second.
 */
import { createHash } from 'node:crypto';
import { loadSchedule } from '../../documents/load.js';
import type { ScheduleSpec } from '../../documents/schedule.js';
import { rulesOf } from '../../documents/schedule-rules.js';
import type { ScheduleEntity } from './schedule.entity.js';
import type { Living } from '../../model/calendar/decide.js';

export interface StoredSchedule {
  spec: ScheduleSpec;
  /** Name of the real fabric that it goes to. */
  confirm: string | undefined;
  rules: Living;
}

const MOST_KEPT = 10_000;
const kept = new Map<string, StoredSchedule>();

/** Begins the digest of a schedule that begins a blind game day. */
export const SEALED_DIGEST = 'sealed ';

/** @throws InputError for a schedule that a version stored which took more */
export function readSchedule(row: Pick<ScheduleEntity, 'id' | 'definition' | 'digest'>): StoredSchedule {
  const key = `${row.id} ${row.digest}`;
  let schedule = kept.get(key);
  if (schedule === undefined) {
    const { spec, confirm } = loadSchedule(row.definition).value;
    schedule = { spec, confirm, rules: { ...rulesOf(spec), id: row.id } };
    if (kept.size >= MOST_KEPT) kept.clear();
    kept.set(key, schedule);
  }
  return schedule;
}

/** The id of a tick's run, a UUID (version 8) made from schedule and nominal time. */
export function scheduledRunId(scheduleId: string, nominalMs: number): string {
  const hex = createHash('sha256').update(`${scheduleId} ${nominalMs}`).digest('hex');
  const variant = ((parseInt(hex[16], 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
