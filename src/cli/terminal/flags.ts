/**
 * Values of command-line flags: whole numbers and choices, refused with the valid ones.
 */
import { listChoices, nearestHint } from '../../core/nearest.js';
import { InputError } from '../../core/problem.js';

/** @throws InputError unless the text is a whole number from least to most */
export function parseWhole(flag: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > most) {
    throw InputError.at(flag, `"${text}" is not valid; it must be a whole number from ${least} to ${most}`);
  }
  return value;
}

/** @throws InputError naming the choices and the nearest one */
export function parseChoice<Choice extends string>(
  flag: string,
  text: string,
  choices: readonly Choice[],
): Choice {
  const found = choices.find((choice) => choice === text);
  if (found !== undefined) return found;
  throw InputError.at(
    flag,
    `"${text}" is not valid; it must be one of ${listChoices(choices, 20)}`,
    nearestHint(text, choices),
  );
}

/** Ms since 1970. @throws InputError unless the text is an RFC 3339 time with its offset */
export function parseInstant(flag: string, text: string): number {
  const ms = /T.*(Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : NaN;
  if (!Number.isNaN(ms)) return ms;
  const message = `"${text}" is no instant with a time zone`;
  throw InputError.at(flag, message, `as in ${flag} 2026-11-30T01:00:00Z`);
}

/** The --seed flag. @throws InputError unless it is a whole number from 0 to 2^53 - 1 */
export const parseSeed = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : parseWhole('--seed', text, 0, Number.MAX_SAFE_INTEGER);

/** More than this many runs in a row are a benchmark. */
const MOST_REPEATS = 1000;

/** The --repeat flag. @throws InputError unless it is a whole number from 1 to 1000 */
export const parseRepeat = (text: string): number => parseWhole('--repeat', text, 1, MOST_REPEATS);

/** Seeds in a row, upwards. @throws InputError where they would grow beyond the largest */
export function seedsFrom(first: number, count: number): number[] {
  if (count - 1 > Number.MAX_SAFE_INTEGER - first) {
    const message = `${count} seeds from ${first} on go beyond the largest, ${Number.MAX_SAFE_INTEGER}`;
    throw InputError.at('--repeat', message, 'begin with a smaller --seed');
  }
  return Array.from({ length: count }, (_, at) => first + at);
}

/** Commander collector for a repeatable option. */
export const collect = (value: string, earlier: string[] | undefined): string[] => [
  ...(earlier ?? []),
  value,
];
