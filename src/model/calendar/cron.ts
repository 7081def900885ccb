/**
 * Cron expressions of five fields: minute, hour, day of month, month, day of week.
 *
 * The grammar and the meaning of two restricted day fields are those of POSIX crontab(5) with the ranges, steps and names
 * of Vixie cron; days match when either field does, unless one of them begins with `*`. Fields of seconds, `L`, `W`, `#`,
 * `H` and `@daily` are refused: each means something else in some program. What an expression means on days when the
 * clocks change is said in occurrences.ts.
 */
import { nearestHint } from '../../core/nearest.js';
import { InputError } from '../../core/problem.js';

export interface Cron {
  /** As written. */
  text: string;
  /** Ascending values that match, of each field. Sunday is 0. */
  minutes: readonly number[];
  hours: readonly number[];
  daysOfMonth: readonly number[];
  /** 1 to 12. */
  months: readonly number[];
  daysOfWeek: readonly number[];
  /** Both day fields are restricted, so that one of them suffices. */
  eitherDay: boolean;
}

interface Field {
  name: string;
  /** Of several values. */
  plural: string;
  from: number;
  to: number;
  names?: readonly string[];
}

const FIELDS: readonly Field[] = [
  { name: 'minute', plural: 'minutes', from: 0, to: 59 },
  { name: 'hour', plural: 'hours', from: 0, to: 23 },
  { name: 'day of month', plural: 'days of the month', from: 1, to: 31 },
  {
    name: 'month',
    plural: 'months',
    from: 1,
    to: 12,
    names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
  },
  {
    name: 'day of week',
    plural: 'days of the week',
    from: 0,
    to: 7,
    names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'],
  },
];

const MACROS: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
};

/** The most days that a month can have, January first. */
const LONGEST_MONTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** @throws InputError that names the field, or says that no day of any year matches */
export function parseCron(text: string): Cron {
  const words = text.trim().split(/\s+/);
  const spelt = MACROS[text.trim().toLowerCase()];
  if (spelt !== undefined) throw refused(text, 'abbreviations are not known here', `write "${spelt}"`);
  if (words.length !== FIELDS.length || text.trim() === '') {
    const count = text.trim() === '' ? 0 : words.length;
    throw refused(
      text,
      `it has ${count} fields instead of five: minute, hour, day of month, month, day of week`,
      count === 6 ? 'there is no field for seconds' : 'as in "0 4 * * 1-5": at 04:00 from Monday to Friday',
    );
  }
  const [minutes, hours, daysOfMonth, months, days] = words.map((word, at) =>
    valuesOf(text, word, FIELDS[at]),
  );
  const cron: Cron = {
    text,
    minutes,
    hours,
    daysOfMonth,
    months,
    daysOfWeek: ascending(days.map((day) => day % 7)),
    eitherDay: !words[2].startsWith('*') && !words[4].startsWith('*'),
  };
  refuseNever(cron);
  return cron;
}

function valuesOf(text: string, word: string, field: Field): number[] {
  const values = word.split(',').flatMap((part) => valuesOfPart(text, part, field));
  return ascending(values);
}

function valuesOfPart(text: string, part: string, field: Field): number[] {
  const match = /^(\*|[\da-z]+)(?:-([\da-z]+))?(?:\/(\d+))?$/i.exec(part);
  if (match === null || (match[1] === '*' && match[2] !== undefined)) {
    throw refused(
      text,
      `"${part}" is no ${field.name}`,
      specialHint(part) ?? `${field.plural} are like ${examplesOf(field)}`,
    );
  }
  const [, first, last, stepText] = match;
  const step = stepText === undefined ? 1 : Number(stepText);
  if (step < 1 || step > field.to) {
    throw refused(text, `a step of the ${field.name} must be 1 to ${field.to}, not ${stepText}`);
  }
  if (stepText !== undefined && first !== '*' && last === undefined) {
    throw refused(text, `"${part}" has a step but no range`, `write ${first}-${field.to}/${stepText}`);
  }
  const from = first === '*' ? field.from : valueOf(text, first, field);
  // the second Sunday is a spelling, not one more day
  const end = field.name === 'day of week' ? 6 : field.to;
  const to = first === '*' ? end : last === undefined ? from : valueOf(text, last, field);
  if (to < from)
    throw refused(text, `the range ${part} of the ${field.name} runs backwards`, forwards(field, from, to));
  return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step);
}

function valueOf(text: string, word: string, field: Field): number {
  const named = field.names?.indexOf(word.toLowerCase()) ?? -1;
  if (named >= 0) return named + field.from;
  const value = /^\d+$/.test(word) ? Number(word) : NaN;
  if (value >= field.from && value <= field.to) return value;
  const names = field.names === undefined ? '' : ` or ${field.names.join(', ')}`;
  throw refused(
    text,
    `${word} is no ${field.name}; it must be ${field.from} to ${field.to}${names}`,
    specialHint(word) ?? shortened(word, field) ?? nearestHint(word, field.names ?? []),
  );
}

/** What other programs have and this one has not, with what to write instead. */
function specialHint(word: string): string | undefined {
  if (/^l$/i.test(word)) return 'L is not known here; 28 is a day that every month has';
  if (/^\d*(l|w|lw)$/i.test(word) || word.includes('#'))
    return 'L, W and # are not known here; name the days, as in "0 4 1-7 * *" for the first week of a month';
  if (word === '?') return 'write *';
  if (/^h(\(.*\))?$/i.test(word)) return 'H is not known here; name the time, and spread starts with jitter';
  return undefined;
}

/** `Monday` for `mon`. */
function shortened(word: string, { names = [] }: Field): string | undefined {
  const short = names.find((name) => word.length > name.length && word.toLowerCase().startsWith(name));
  return short === undefined ? undefined : `write ${short}`;
}

/** A range over the end of the field, in two parts; Sunday may be its last day as well. */
function forwards({ name, from: first, to: last }: Field, from: number, to: number): string {
  if (name === 'day of week' && to === 0) return `write ${from}-7`;
  const end = name === 'day of week' ? 6 : last;
  const part = (a: number, b: number): string => (a === b ? String(a) : `${a}-${b}`);
  return `write ${part(from, end)},${part(first, to)}`;
}

const examplesOf = ({ from, to, names }: Field): string =>
  [
    '*',
    String(from),
    `${from}-${Math.min(from + 4, to)}`,
    '*/2',
    ...(names === undefined ? [] : [names[1]]),
  ].join(', ');

const ascending = (values: readonly number[]): number[] => [...new Set(values)].sort((a, b) => a - b);

/** A day of the week comes in every month; a day of the month may not. */
function refuseNever(cron: Cron): void {
  const shortest = cron.daysOfMonth[0];
  if (cron.eitherDay || cron.months.some((month) => shortest <= LONGEST_MONTHS[month - 1])) return;
  throw refused(
    cron.text,
    `it never fires: no month of ${cron.months.join(', ')} has a day ${shortest}`,
    'for the last days of a month use 28, which every month has',
  );
}

const refused = (text: string, message: string, hint?: string): InputError =>
  InputError.at('', `"${text}" is no cron expression that can be used: ${message}`, hint);

/** Whether the date (year, month 1 to 12, day) is one of the expression's days. */
export function matchesDay(cron: Cron, month: number, day: number, dayOfWeek: number): boolean {
  if (!cron.months.includes(month)) return false;
  const byDate = cron.daysOfMonth.includes(day);
  const byWeek = cron.daysOfWeek.includes(dayOfWeek);
  return cron.eitherDay ? byDate || byWeek : byDate && byWeek;
}

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** A 29 February that has to be a Sunday as well may be forty years away (where the leap day of 2100 falls out). */
const FARTHEST_DAYS = 40 * 366;

/**
 * The first matching minute of the calendar at or after `wallMs`, or undefined when none is near.
 * @param wallMs what clocks on the wall show, as milliseconds of a calendar without zones
 * @param untilMs days after it are not looked at
 */
export function nextWallMs(cron: Cron, wallMs: number, untilMs = Infinity): number | undefined {
  const firstDay = Math.floor(wallMs / DAY_MS) * DAY_MS;
  const lastDay = Math.min(untilMs, firstDay + FARTHEST_DAYS * DAY_MS);
  for (let midnight = firstDay; midnight <= lastDay;) {
    const date = new Date(midnight);
    const month = date.getUTCMonth() + 1;
    if (!cron.months.includes(month)) {
      midnight = Date.UTC(date.getUTCFullYear(), month, 1);
      continue;
    }
    if (matchesDay(cron, month, date.getUTCDate(), date.getUTCDay())) {
      const minute = firstMinute(cron, Math.max(0, Math.ceil((wallMs - midnight) / MINUTE_MS)));
      if (minute !== undefined) return midnight + minute * MINUTE_MS;
    }
    midnight += DAY_MS;
  }
  return undefined;
}

/** The first matching minute of a day at or after `from`. */
function firstMinute(cron: Cron, from: number): number | undefined {
  for (const hour of cron.hours) {
    if (hour * 60 + 59 < from) continue;
    for (const minute of cron.minutes) if (hour * 60 + minute >= from) return hour * 60 + minute;
  }
  return undefined;
}
