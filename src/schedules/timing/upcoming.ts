/** The coming ticks of a schedule, as a plan and a listing show them. */
import { blackoutAt } from './blackouts.js';
import { dueMs, nextTickMs, type Rules } from './decide.js';
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

/** @param id of the schedule, once it is stored */
export function upcomingTicks(rules: Rules, id: string | null, afterMs: number, count: number): Upcoming[] {
  const found: Upcoming[] = [];
  for (
    let ms = nextTickMs(rules, afterMs);
    ms !== undefined && found.length < count;
    ms = nextTickMs(rules, ms)
  ) {
    const startsMs =
      id !== null ? dueMs({ id, jitterMs: rules.jitterMs }, ms) : rules.jitterMs === 0 ? ms : null;
    const covering = blackoutAt(rules.blackouts, rules.zone, startsMs ?? ms);
    found.push({
      nominalAt: new Date(ms).toISOString(),
      local: formatWall(rules.zone, ms),
      startsAt: startsMs === null ? null : new Date(startsMs).toISOString(),
      skipped: covering === undefined ? null : `blackout until ${formatWall(rules.zone, covering.untilMs)}`,
    });
  }
  return found;
}
