/** The coming ticks of a schedule, as a plan and a listing show them. */
import { blackoutAt } from './blackouts.js';
import { dueMs, nextTickMs, windowText, type Rules } from './decide.js';
import { formatWall } from './zone.js';

export interface Upcoming {
  /** RFC 3339, in UTC. */
  nominalAt: string;
  /** As a clock in the schedule's zone shows it: `2026-12-01 04:00 +09:00`. */
  local: string;
  /** With its jitter; null before the schedule is stored, which decides about it. */
  startsAt: string | null;
  /** Why no run will start, as far as it is known now; null where one will. */
  skipped: string | null;
}

/** What is known of a schedule that is stored. */
export interface StoredState {
  /** Which its jitter is drawn from. */
  id: string;
  /** Why it is suspended, if it is. */
  suspended: string | null;
}

/** @param stored null for a file */
export function upcomingTicks(
  rules: Rules,
  stored: StoredState | null,
  afterMs: number,
  count: number,
): Upcoming[] {
  const found: Upcoming[] = [];
  for (
    let ms = nextTickMs(rules, afterMs);
    ms !== undefined && found.length < count;
    ms = nextTickMs(rules, ms)
  ) {
    const startsMs = startOf(rules, stored, ms);
    const covering = blackoutAt(rules.blackouts, startsMs ?? ms);
    const suspended = stored?.suspended ?? null;
    found.push({
      nominalAt: new Date(ms).toISOString(),
      local: formatWall(rules.zone, ms),
      startsAt: startsMs === null ? null : new Date(startsMs).toISOString(),
      skipped:
        suspended !== null ? `suspended: ${suspended}` : covering === undefined ? null : windowText(covering),
    });
  }
  return found;
}

function startOf({ jitterMs }: Rules, stored: StoredState | null, nominalMs: number): number | null {
  if (stored !== null) return dueMs({ id: stored.id, jitterMs }, nominalMs);
  return jitterMs === 0 ? nominalMs : null;
}
