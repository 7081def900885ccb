/**
 * What becomes of a tick: a run, or a skip with its reason. Pure: the same rules, tick, runs under way and time give the
 * same answer in every replica.
 *
 * Each tick is decided for itself, in the order of nominal times, when it is first looked at at or after it was due. How
 * many are looked at together, after an outage, makes no difference but one: of ticks that were missed, `runOnce` makes
 * up for the last, if none that is due follows it.
 */
import { hashText } from '../../core/prng.js';
import { formatDurationNs } from '../../core/units.js';
import { abortsAt, blackoutAt, nextAbortMs, type Blackout, type Entered } from './blackouts.js';
import type { Cron } from './cron.js';
import { nextOccurrence } from './occurrences.js';
import { formatWall } from './zone.js';

export interface Rules {
  /** A cron expression, or one instant. */
  when: { cron: Cron } | { onceMs: number };
  zone: string;
  concurrency: 'Forbid' | 'Allow' | 'Replace';
  /** How late a run may start. */
  startingDeadlineMs: number;
  missed: 'skip' | 'runOnce';
  /** Starts are spread over this long; 0 for none. */
  jitterMs: number;
  blackouts: readonly Blackout[];
}

/** A schedule that lives: its rules and what its jitter is drawn from. */
export interface Living extends Rules {
  id: string;
}

export const SKIP_REASONS = [
  'suspended',
  'missed',
  'blackout',
  'still-running',
  'refused',
  'replaced',
] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

export type Decision =
  | { outcome: 'run'; replace: boolean; note: string | null }
  | { outcome: 'skip'; reason: SkipReason; detail: string };

/** The nominal time after an instant; undefined when there is none any more. */
export function nextTickMs(rules: Rules, afterMs: number): number | undefined {
  if ('cron' in rules.when) return nextOccurrence(rules.when.cron, rules.zone, afterMs);
  return rules.when.onceMs > afterMs ? rules.when.onceMs : undefined;
}

/** When the run of a tick is to start: its nominal time, and what the seeded jitter adds, less than `jitterMs`. */
export function dueMs({ id, jitterMs }: Pick<Living, 'id' | 'jitterMs'>, nominalMs: number): number {
  if (jitterMs === 0) return nominalMs;
  return nominalMs + Math.floor((hashText(`${id} ${nominalMs}`) / 2 ** 32) * jitterMs);
}

/**
 * Decides a tick that is due.
 * @param underWay runs of this schedule that have not ended
 */
export function decideTick(
  rules: Living,
  tick: { nominalMs: number; suspended: boolean; underWay: readonly string[] },
  nowMs: number,
): Decision {
  if (tick.suspended) return skip('suspended', 'the schedule was suspended');
  const due = dueMs(rules, tick.nominalMs);
  const lateMs = nowMs - due;
  const isMissed = lateMs > rules.startingDeadlineMs;
  if (isMissed && !(rules.missed === 'runOnce' && isLastDue(rules, tick.nominalMs, nowMs))) {
    return skip('missed', missedText(rules, lateMs));
  }
  const covering = blackoutAt(rules.blackouts, due) ?? blackoutAt(rules.blackouts, nowMs);
  if (covering !== undefined) return skip('blackout', `in the ${windowText(covering)}`);
  if (tick.underWay.length > 0 && rules.concurrency === 'Forbid') {
    return skip('still-running', `${tick.underWay[0]} had not ended, and concurrencyPolicy is Forbid`);
  }
  return {
    outcome: 'run',
    replace: rules.concurrency === 'Replace' && tick.underWay.length > 0,
    note: isMissed ? `made up for, ${duration(lateMs)} late` : null,
  };
}

export type Skip = Extract<Decision, { outcome: 'skip' }>;

const skip = (reason: SkipReason, detail: string): Skip => ({ outcome: 'skip', reason, detail });

/** Which window it is, and until when: `blackout 22:00 to 06:00 (Fri), until 2026-12-05 06:00 +09:00`. */
export const windowText = ({ blackout: { label, zone }, untilMs }: Entered): string =>
  `blackout ${label}, until ${formatWall(zone, untilMs)}`;

function isLastDue(rules: Living, nominalMs: number, nowMs: number): boolean {
  const following = nextTickMs(rules, nominalMs);
  return following === undefined || dueMs(rules, following) > nowMs;
}

function missedText(rules: Rules, lateMs: number): string {
  const late = `looked at ${duration(lateMs)} late, more than the starting deadline of ${duration(rules.startingDeadlineMs)}`;
  return rules.missed === 'skip' ? late : `${late}; a later tick stands for it`;
}

const duration = (ms: number): string => formatDurationNs(Math.round(ms / 1000) * 1e9);

/** Why whatever is under way must be aborted now, if it must. */
export function abortReason({ blackouts }: Rules, name: string, nowMs: number): string | undefined {
  const entered = abortsAt(blackouts, nowMs);
  return entered && `its schedule "${name}" has entered the ${windowText(entered)}`;
}

/**
 * The next tick of a schedule whose rules are replaced. One whose nominal time has come and whose start jitter puts off
 * stays if the new rules have it as their latest; else it is skipped.
 * @param nextMs nominal time of the next tick under the old rules
 */
export function nextAfterChange(
  rules: Rules,
  nextMs: number | undefined,
  nowMs: number,
): { nextMs: number | undefined; skipped?: Skip } {
  const comingMs = nextTickMs(rules, nowMs);
  if (nextMs === undefined || nextMs > nowMs) return { nextMs: comingMs };
  const stays = nextTickMs(rules, nextMs - 1) === nextMs && nextTickMs(rules, nextMs) === comingMs;
  if (stays) return { nextMs };
  const detail = 'the schedule was replaced after its nominal time and before its run had started';
  return { nextMs: comingMs, skipped: skip('replaced', detail) };
}

/**
 * When the schedule has to be looked at again: for its next tick, or for a window that aborts what is under way.
 * @param nextMs nominal time of the next tick
 */
export function wakeMs(rules: Living, nextMs: number | undefined, nowMs: number): number | undefined {
  const times = [
    ...(nextMs === undefined ? [] : [dueMs(rules, nextMs)]),
    ...[nextAbortMs(rules.blackouts, nowMs) ?? []].flat(),
  ];
  return times.length === 0 ? undefined : Math.min(...times);
}
