/**
 * Blackout windows: recurring stretches of time in which no drill starts.
 *
 * Two kinds. One begins like a cron tick and lasts a given time, on the day the clocks change as on any other. The other
 * goes from one time of day to another, which may be on the next day, and holds while a clock on the wall shows a time
 * between them: what the clocks leave out is left out of it, and what they show twice is in it twice. Either holds its
 * first instant and not its last.
 */
import type { Cron } from './cron.js';
import { nextOccurrence } from './occurrences.js';
import { nextChangeMs, wallMs } from './zone.js';

export interface Blackout {
  /** As its author would call it. */
  label: string;
  zone: string;
  when: RecurringWindow | DailyWindow;
  /** Of runs under way when it begins: let them finish, or abort and revert them. */
  onEnter: 'finish' | 'abort';
}

export interface RecurringWindow {
  start: Cron;
  lastsMs: number;
}

/** Times of day in ms after midnight; they differ. */
export interface DailyWindow {
  fromMs: number;
  /** Not after `fromMs` where it is on the next day. */
  toMs: number;
  /** 0 (Sunday) to 6, on which it begins. */
  days: readonly number[];
}

/** A window that an instant lies in. */
export interface Entered {
  blackout: Blackout;
  /** Not included. */
  untilMs: number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Far more than windows of a week that follow one another without a gap. */
const MOST_JOINED = 10_000;
/** A window that begins once a week is met within eight days, each of which may have a change of the clocks. */
const MOST_STEPS = 40;

/** When the window ends that an instant lies in; undefined when it lies in none of this blackout. */
function endMs({ when, zone }: Blackout, atMs: number): number | undefined {
  return 'start' in when ? endOfRecurring(when, zone, atMs) : endOfDaily(when, zone, atMs);
}

/**
 * Where there is a start near enough at all, it is looked for ever farther back, so that of many that overlap a late one
 * is found, which reaches far; an earlier start never ends later.
 */
function endOfRecurring({ start, lastsMs }: RecurringWindow, zone: string, atMs: number): number | undefined {
  const earliestMs = nextOccurrence(start, zone, atMs - lastsMs, atMs);
  if (earliestMs === undefined) return undefined;
  for (let spanMs = MINUTE_MS; spanMs < lastsMs; spanMs *= 2) {
    const startMs = nextOccurrence(start, zone, atMs - spanMs, atMs);
    if (startMs !== undefined) return startMs + lastsMs;
  }
  return earliestMs + lastsMs;
}

function endOfDaily(window: DailyWindow, zone: string, atMs: number): number | undefined {
  let untilMs = atMs;
  for (let step = 0; step < MOST_STEPS && showsWithin(window, zone, untilMs); step++) {
    untilMs = nextShownOrChange(zone, window.toMs, untilMs);
  }
  return untilMs === atMs ? undefined : untilMs;
}

/** When the clocks are changed, or show a time of day without that; whichever is first after an instant. */
function nextShownOrChange(zone: string, timeOfDayMs: number, afterMs: number): number {
  const leftMs = modulo(timeOfDayMs - wallMs(zone, afterMs) - 1, DAY_MS) + 1;
  return nextChangeMs(zone, afterMs, afterMs + leftMs) ?? afterMs + leftMs;
}

/** Whether clocks show a time within the window. */
function showsWithin({ fromMs, toMs, days }: DailyWindow, zone: string, atMs: number): boolean {
  const wall = wallMs(zone, atMs);
  const time = modulo(wall, DAY_MS);
  const day = new Date(wall).getUTCDay();
  if (fromMs < toMs) return fromMs <= time && time < toMs && days.includes(day);
  return (time >= fromMs && days.includes(day)) || (time < toMs && days.includes((day + 6) % 7));
}

const modulo = (value: number, by: number): number => ((value % by) + by) % by;

/** When a window of this blackout begins next. */
function nextStartMs({ when, zone }: Blackout, afterMs: number): number | undefined {
  if ('start' in when) return nextOccurrence(when.start, zone, afterMs);
  let atMs = endOfDaily(when, zone, afterMs) ?? afterMs;
  for (let step = 0; step < MOST_STEPS; step++) {
    if (atMs > afterMs && showsWithin(when, zone, atMs)) return atMs;
    atMs = nextShownOrChange(zone, when.fromMs, atMs);
  }
  return undefined;
}

/** The window that an instant lies in, if any; of several the first in the list. */
export function blackoutAt(blackouts: readonly Blackout[], atMs: number): Entered | undefined {
  for (const blackout of blackouts) {
    const untilMs = endMs(blackout, atMs);
    if (untilMs !== undefined) return { blackout, untilMs };
  }
  return undefined;
}

const aborting = (blackouts: readonly Blackout[]): Blackout[] =>
  blackouts.filter(({ onEnter }) => onEnter === 'abort');

/** The window in which runs under way are to be aborted, if an instant lies in one. */
export const abortsAt = (blackouts: readonly Blackout[], atMs: number): Entered | undefined =>
  blackoutAt(aborting(blackouts), atMs);

/** When the next window begins that aborts what is under way. */
export function nextAbortMs(blackouts: readonly Blackout[], afterMs: number): number | undefined {
  const starts = aborting(blackouts).flatMap((blackout) => nextStartMs(blackout, afterMs) ?? []);
  return starts.length === 0 ? undefined : Math.min(...starts);
}

/** The first instant from `atMs` on that no window covers; undefined when windows join until `untilMs`. */
export function firstOpenMs(
  blackouts: readonly Blackout[],
  atMs: number,
  untilMs: number,
): number | undefined {
  let openMs = atMs;
  for (let joined = 0; joined < MOST_JOINED && openMs < untilMs; joined++) {
    const covering = blackoutAt(blackouts, openMs);
    if (covering === undefined) return openMs;
    openMs = covering.untilMs;
  }
  return undefined;
}
