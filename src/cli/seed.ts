/** The --seed flag. */
import { InputError } from '../kernel/problem.js';

/** @throws InputError unless it is a whole number from 0 to 2^53 - 1 */
export function parseSeed(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seed = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(seed)) {
    throw InputError.at(
      '--seed',
      `"${text}" is no seed; a seed is a whole number from 0 to ${Number.MAX_SAFE_INTEGER}`,
    );
  }
  return seed;
}
