/**
 * The naive reading of a schedule: what must become of every tick, given when it was looked at. A second implementation,
 * minute by minute over the whole time and in the order of looks, to hold the real one against.
 *
 * It takes from the real one the shape of a file, and what jitter adds to a tick, which is a draw and no rule.
 */
import { WEEK_DAYS, type BlackoutSpec, type ScheduleSpec } from '../schedule.js';
import { dueMs } from '../../model/calendar/decide.js';
import { naiveOccurrences, wallClockOf } from '../../model/calendar/testing/minute-by-minute.js';

export interface ModelCase {
  id: string;
  /** With a cron expression. */
  spec: ScheduleSpec;
  /** How long each of its runs takes. */
  lengthMs: number;
  /** Its runs can't be planned. */
  refused: boolean;
  /** When it was suspended and resumed: in turn, in order. */
  turnedAtMs: readonly number[];
}

export interface ModelTick {
  nominalMs: number;
  /** `run`, or the reason of the skip. */
  outcome: string;
}

const MS_PER_NS = 1e-6;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/**
 * @param looksMs when anybody looked, ascending; whatever is due then is decided then
 * @returns ticks decided by the last look
 */
export function modelTicks(one: ModelCase, looksMs: readonly number[], fromMs: number): ModelTick[] {
  const { spec, id } = one;
  const untilMs = looksMs[looksMs.length - 1] + 1;
  const jitterMs = spec.jitter * MS_PER_NS;
  const ticks = naiveOccurrences(spec.cron!, spec.timeZone, fromMs, untilMs + jitterMs).map((nominalMs) => ({
    nominalMs,
    due: dueMs({ id, jitterMs }, nominalMs),
  }));
  const windows = spec.blackouts.map((blackout) => ({
    blackout,
    stretches: stretchesOf(blackout, spec.timeZone, fromMs, untilMs),
  }));
  const covered = (ms: number, onlyAborting = false): boolean =>
    windows.some(
      ({ blackout, stretches }) =>
        (!onlyAborting || blackout.onEnter === 'abort') &&
        stretches.some(([start, end]) => start <= ms && ms < end),
    );
  const decided: ModelTick[] = [];
  let ends: number[] = [];
  let next = 0;
  for (const look of looksMs) {
    ends = ends.filter((end) => end > look);
    for (; next < ticks.length && ticks[next].due <= look; next++) {
      const { nominalMs, due } = ticks[next];
      const isLast = next + 1 === ticks.length || ticks[next + 1].due > look;
      const outcome = outcomeOf(one, { due, look, isLast, underWay: ends.length, covered });
      if (outcome === 'run') {
        if (spec.concurrencyPolicy === 'Replace') ends = [];
        ends.push(look + one.lengthMs);
      }
      decided.push({ nominalMs, outcome });
    }
    if (ends.length > 0 && covered(look, true)) ends = [];
  }
  return decided;
}

function outcomeOf(
  { spec, refused, turnedAtMs }: ModelCase,
  tick: {
    due: number;
    look: number;
    isLast: boolean;
    underWay: number;
    covered: (ms: number) => boolean;
  },
): string {
  if (turnedAtMs.filter((ms) => ms < tick.look).length % 2 === 1) return 'suspended';
  const late = tick.look - tick.due > spec.startingDeadline * MS_PER_NS;
  if (late && spec.missedRunPolicy === 'skip') return 'missed';
  if (late && !tick.isLast) return 'missed';
  if (tick.covered(tick.due) || tick.covered(tick.look)) return 'blackout';
  if (tick.underWay > 0 && spec.concurrencyPolicy === 'Forbid') return 'still-running';
  return refused ? 'refused' : 'run';
}

/** When windows of a blackout hold, as [start, end). */
export function stretchesOf(
  blackout: BlackoutSpec,
  scheduleZone: string,
  fromMs: number,
  untilMs: number,
): [number, number][] {
  const { cron, duration } = blackout;
  const zone = blackout.timeZone ?? scheduleZone;
  if (cron === undefined) return shownWithin(blackout, zone, fromMs, untilMs);
  const lastsMs = duration! * MS_PER_NS;
  // windows may have begun before the time that is looked at
  const begin = fromMs - Math.ceil(lastsMs / DAY_MS) * DAY_MS;
  return naiveOccurrences(cron, zone, begin, untilMs).map((start) => [start, start + lastsMs]);
}

/** Minutes in which the digits of a clock lie between two times of day, joined. */
function shownWithin(
  { from, to, days = [...WEEK_DAYS] }: BlackoutSpec,
  zone: string,
  fromMs: number,
  untilMs: number,
): [number, number][] {
  const clock = wallClockOf(zone);
  const found: [number, number][] = [];
  for (let ms = fromMs; ms < untilMs; ms += MINUTE_MS) {
    const wall = new Date(clock.at(ms));
    const digits = wall.toISOString().slice(11, 16);
    const [today, yesterday] = [0, 6].map((back) => days.includes(WEEK_DAYS[(wall.getUTCDay() + back) % 7]));
    const isWithin =
      from! < to!
        ? today && digits >= from! && digits < to!
        : (today && digits >= from!) || (yesterday && digits < to!);
    if (!isWithin) continue;
    const last = found.at(-1);
    if (last?.[1] === ms) last[1] = ms + MINUTE_MS;
    else found.push([ms, ms + MINUTE_MS]);
  }
  return found;
}
