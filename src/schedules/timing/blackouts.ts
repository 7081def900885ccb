/**
 * Blackout windows: recurring stretches of time in which no drill starts.
 *
 * A window begins like a cron tick and lasts a given time, or goes from one time of day to another, which may be on the
 * next day. The first kind is as long on the day the clocks change as on any other, the second ends by the clock on the
 * wall. A window holds its first instant and not its last.
 */
import { parseCron, type Cron } from './cron.js';
import { nextOccurrence } from './occurrences.js';

export interface Blackout {
  start: Cron;
  /** How long it lasts, or the daily time at which it ends. */
  end: { afterMs: number } | { at: Cron };
  /** Of runs under way when it begins: let them finish, or abort and revert them. */
  onEnter: 'finish' | 'abort';
}

export interface Stretch {
  fromMs: number;
  /** Not included. */
  untilMs: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** From one time of day to another it is a day at most, and some hours where clocks are put back. */
const LONGEST_DAY_MS = 28 * HOUR_MS;
/** Far more than windows of a week that follow one another without a gap. */
const MOST_JOINED = 10_000;

/** A window between two times of day, `HH:MM`, on days of the week (0 to 6; the day on which it begins). */
export function dailyBlackout(
  from: string,
  to: string,
  days: readonly number[] | undefined,
  onEnter: Blackout['onEnter'],
): Blackout {
  const cronAt = (time: string, on: string): Cron => {
    const [hour, minute] = time.split(':').map(Number);
    return parseCron(`${minute} ${hour} * * ${on}`);
  };
  return { start: cronAt(from, days?.join(',') ?? '*'), end: { at: cronAt(to, '*') }, onEnter };
}

/**
 * The window of this blackout that an instant lies in. Starts are looked for ever farther back, so that of many that
 * overlap a late one is found, which reaches far; an earlier start never ends later.
 */
function stretchAt(blackout: Blackout, zone: string, atMs: number): Stretch | undefined {
  const longestMs = 'at' in blackout.end ? LONGEST_DAY_MS : blackout.end.afterMs;
  for (let spanMs = MINUTE_MS; ; spanMs *= 2) {
    const fromMs = nextOccurrence(blackout.start, zone, atMs - Math.min(spanMs, longestMs));
    if (fromMs !== undefined && fromMs <= atMs) {
      const untilMs = endOf(blackout, zone, fromMs);
      return untilMs > atMs ? { fromMs, untilMs } : undefined;
    }
    if (spanMs >= longestMs) return undefined;
  }
}

const endOf = ({ end }: Blackout, zone: string, fromMs: number): number =>
  // a daily time comes every day
  'at' in end ? nextOccurrence(end.at, zone, fromMs)! : fromMs + end.afterMs;

export interface Entered extends Stretch {
  blackout: Blackout;
}

/** The window that an instant lies in, if any; of several the first in the list. */
export function blackoutAt(blackouts: readonly Blackout[], zone: string, atMs: number): Entered | undefined {
  for (const blackout of blackouts) {
    const stretch = stretchAt(blackout, zone, atMs);
    if (stretch !== undefined) return { ...stretch, blackout };
  }
  return undefined;
}

/** Whether runs under way at an instant are to be aborted. */
export const abortsAt = (blackouts: readonly Blackout[], zone: string, atMs: number): Entered | undefined =>
  blackoutAt(
    blackouts.filter(({ onEnter }) => onEnter === 'abort'),
    zone,
    atMs,
  );

/** When the next window begins that aborts what is under way. */
export function nextAbortMs(
  blackouts: readonly Blackout[],
  zone: string,
  afterMs: number,
): number | undefined {
  const starts = blackouts
    .filter(({ onEnter }) => onEnter === 'abort')
    .flatMap(({ start }) => nextOccurrence(start, zone, afterMs) ?? []);
  return starts.length === 0 ? undefined : Math.min(...starts);
}

/** The first instant from `atMs` on that no window covers; undefined when windows join until `untilMs`. */
export function firstOpenMs(
  blackouts: readonly Blackout[],
  zone: string,
  atMs: number,
  untilMs: number,
): number | undefined {
  let openMs = atMs;
  for (let joined = 0; joined < MOST_JOINED && openMs < untilMs; joined++) {
    const covering = blackoutAt(blackouts, zone, openMs);
    if (covering === undefined) return openMs;
    openMs = covering.untilMs;
  }
  return undefined;
}
