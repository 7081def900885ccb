/**
 * From a schedule's file to the rules that its ticks are decided by, and what the shape of the file does not say: zones
 * that do not exist, expressions that never fire, windows that let nothing through.
 *
 * The same file is right or wrong on any day: ticks are tried over the years from a fixed date, not from now.
 */
import { InputError, withPointer, type InputIssue } from '../core/problem.js';
import { formatDurationNs, NS_PER } from '../core/units.js';
import { blackoutAt, firstOpenMs, type Blackout } from '../model/calendar/blackouts.js';
import { parseCron, type Cron } from '../model/calendar/cron.js';
import { nextTickMs, windowText, type Rules } from '../model/calendar/decide.js';
import { nextOccurrence } from '../model/calendar/occurrences.js';
import { checkZone } from '../model/calendar/zone-names.js';
import { formatWall, instantsOf, nextChangeMs } from '../model/calendar/zone.js';
import { WEEK_DAYS, type BlackoutSpec, type ScheduleSpec } from './schedule.js';

/** A year before a leap year, so that every day of the calendar comes soon. */
const TRIED_FROM_MS = Date.UTC(2027, 0, 1);
const TRIED_UNTIL_MS = Date.UTC(2036, 0, 1);
/** Each lies behind a window that begins anew; daily ones over the years are some thousands. */
const MOST_TRIED = 5000;
/** Neighbours that jitter must keep in order. */
const MOST_GAPS = 500;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** @throws InputError with every mistake, at its place in the document */
export function rulesOf(spec: ScheduleSpec): Rules {
  const issues: InputIssue[] = [];
  const collect = <T>(pointer: string, step: () => T): T | undefined => {
    try {
      return withPointer(pointer, step);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      issues.push(...error.issues);
      return undefined;
    }
  };
  collect('/spec', () => refuseUnclearWork(spec));
  const zone = collect('/spec/timeZone', () => (checkZone(spec.timeZone), spec.timeZone));
  const cron = collect('/spec/cron', () => cronOf(spec));
  const blackouts = spec.blackouts.map((one, at) =>
    collect(`/spec/blackouts/${at}`, () => blackoutOf(one, spec.timeZone)),
  );
  const onceMs =
    zone === undefined || spec.once === undefined
      ? undefined
      : collect('/spec/once', () => instantOf(zone, spec.once!));
  if (issues.length > 0) throw new InputError(issues);
  const rules: Rules = {
    when: cron === undefined ? { onceMs: onceMs! } : { cron },
    zone: zone!,
    concurrency: spec.concurrencyPolicy,
    startingDeadlineMs: spec.startingDeadline / NS_PER.ms,
    missed: spec.missedRunPolicy,
    jitterMs: Math.round(spec.jitter / NS_PER.ms),
    blackouts: blackouts as Blackout[],
  };
  collect('/spec/jitter', () => refuseWideJitter(rules));
  collect('/spec/blackouts', () => refuseClosed(rules));
  if (issues.length > 0) throw new InputError(issues);
  return rules;
}

/** One thing is run, and a game day says itself on which fabrics. */
function refuseUnclearWork({ experimentRef, gameDayRef, fabric, seed }: ScheduleSpec): void {
  if (experimentRef === undefined && gameDayRef === undefined) {
    throw InputError.at('/experimentRef', 'is missing', 'name an experiment, or a game day in gameDayRef');
  }
  if (gameDayRef === undefined) return;
  if (experimentRef !== undefined) {
    throw InputError.at('/gameDayRef', 'it names an experiment too', 'a schedule runs one or the other');
  }
  for (const [key, value] of Object.entries({ fabric, seed })) {
    if (value === undefined) continue;
    throw InputError.at(`/${key}`, 'a game day says that for each of its experiments', 'remove it here');
  }
}

function cronOf({ cron, once }: ScheduleSpec): Cron | undefined {
  if ((cron === undefined) === (once === undefined)) {
    throw InputError.at(
      '',
      cron === undefined ? 'the schedule says neither cron nor once' : 'the schedule says both cron and once',
      'write cron for a recurring time, such as "0 4 * * *", or once for a single one, such as 2027-03-01T04:00',
    );
  }
  return cron === undefined ? undefined : parseCron(cron);
}

/** A local date and time; where it is shown twice, the first time. */
function instantOf(zone: string, local: string): number {
  const wall = Date.parse(`${local}Z`);
  if (Number.isNaN(wall) || !new Date(wall).toISOString().startsWith(local)) {
    throw InputError.at('', `${local} is no date and time of the calendar`);
  }
  const [first] = instantsOf(zone, wall);
  if (first !== undefined) return first;
  const changeMs = nextChangeMs(zone, wall - 2 * DAY_MS, wall + 2 * DAY_MS) ?? wall;
  throw InputError.at(
    '',
    `${local} does not exist in ${zone}: the clocks are put forward there`,
    `the first time after it is ${formatWall(zone, changeMs).slice(0, 16).replace(' ', 'T')}`,
  );
}

const WINDOW_HINT =
  'as in { from: "22:00", to: "06:00", days: [Fri] } or { cron: "0 22 * * 5", duration: 56h }';

function blackoutOf(spec: BlackoutSpec, scheduleZone: string): Blackout {
  const { from, to, days, cron, duration, onEnter, timeZone } = spec;
  if (timeZone !== undefined) withPointer('/timeZone', () => checkZone(timeZone));
  const isDaily = from !== undefined || to !== undefined || days !== undefined;
  const isCron = cron !== undefined || duration !== undefined;
  if (isDaily && isCron) {
    const message = 'a blackout has from and to, or cron and duration, not some of each';
    throw InputError.at('', message, WINDOW_HINT);
  }
  const { label, when } = isCron ? recurringWindow(spec) : dailyWindow(spec);
  return {
    label: timeZone === undefined || timeZone === scheduleZone ? label : `${label} in ${timeZone}`,
    zone: timeZone ?? scheduleZone,
    when,
    onEnter,
  };
}

function recurringWindow({ cron, duration }: BlackoutSpec): Pick<Blackout, 'label' | 'when'> {
  if (cron === undefined) throw InputError.at('', 'a blackout with a duration needs cron', WINDOW_HINT);
  if (duration === undefined) throw InputError.at('', 'a blackout with cron needs a duration', WINDOW_HINT);
  return {
    label: `"${cron}" for ${formatDurationNs(duration)}`,
    when: { start: withPointer('/cron', () => parseCron(cron)), lastsMs: duration / NS_PER.ms },
  };
}

function dailyWindow({ from, to, days }: BlackoutSpec): Pick<Blackout, 'label' | 'when'> {
  if (from === undefined || to === undefined) {
    throw InputError.at('', 'a blackout needs from and to, or cron and duration', WINDOW_HINT);
  }
  if (from === to) {
    const hint = 'for whole days use cron with a duration of 24h';
    throw InputError.at('/to', 'from and to are the same time', hint);
  }
  return {
    label: `${from} to ${to}${days === undefined ? '' : ` (${days.join(', ')})`}`,
    when: {
      fromMs: timeOfDayMs(from),
      toMs: timeOfDayMs(to),
      days: (days ?? WEEK_DAYS).map((day) => WEEK_DAYS.indexOf(day)),
    },
  };
}

function timeOfDayMs(text: string): number {
  const [hour, minute] = text.split(':').map(Number);
  return (hour * 60 + minute) * MINUTE_MS;
}

/** Ticks must stay in order, or one would start before the one that comes before it. */
function refuseWideJitter({ when, zone, jitterMs }: Rules): void {
  if (!('cron' in when) || jitterMs === 0) return;
  let shortestMs = Infinity;
  let atMs = nextOccurrence(when.cron, zone, TRIED_FROM_MS);
  for (let gap = 0; gap < MOST_GAPS && atMs !== undefined && atMs < TRIED_UNTIL_MS; gap++) {
    const following = nextOccurrence(when.cron, zone, atMs);
    if (following !== undefined) shortestMs = Math.min(shortestMs, following - atMs);
    atMs = following;
  }
  if (jitterMs < shortestMs) return;
  throw InputError.at(
    '',
    `starts that are spread over ${formatDurationNs(jitterMs * 1e6)} would run into the next tick`,
    `ticks come as close as ${formatDurationNs(shortestMs * 1e6)}; jitter must be shorter`,
  );
}

/** @throws InputError when no tick of the coming years lies outside all windows */
function refuseClosed(rules: Rules): void {
  const { blackouts, when } = rules;
  if (blackouts.length === 0) return;
  if (!('cron' in when)) {
    const covering = blackoutAt(blackouts, when.onceMs);
    if (covering === undefined) return;
    throw InputError.at(
      '',
      `the one time of this schedule lies in the ${windowText(covering)}`,
      'name a time after it, or leave the window out',
    );
  }
  let tickMs = nextTickMs(rules, TRIED_FROM_MS);
  for (let tried = 0; tried < MOST_TRIED && tickMs !== undefined && tickMs < TRIED_UNTIL_MS; tried++) {
    const openMs = firstOpenMs(blackouts, tickMs, TRIED_UNTIL_MS);
    if (openMs === tickMs) return;
    if (openMs === undefined) break;
    tickMs = nextTickMs(rules, openMs - 1);
  }
  throw InputError.at(
    '',
    `the blackouts cover every tick of "${when.cron.text}"; nothing would ever run`,
    'leave a gap between the windows in which the schedule has a tick',
  );
}
