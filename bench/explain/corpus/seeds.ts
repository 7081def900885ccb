/**
 * Seeds of the explainability corpus: those to tune with and those to report with never meet.
 *
 * A figure reported on cases that somebody looked at while tuning is worth nothing. So the ranges are apart, each draws
 * from streams of its own, and a request that touches both is refused.
 */
import { InputError } from '../../../src/core/problem.js';
import { Prng } from '../../../src/core/prng.js';

export type Purpose = 'tuning' | 'reporting';

/** Seeds from here on are for reporting, those below for tuning. */
export const FIRST_REPORTING_SEED = 10_000;

export const purposeOf = (seed: number): Purpose => (seed < FIRST_REPORTING_SEED ? 'tuning' : 'reporting');

/** @throws InputError when the seeds are of both kinds */
export function purposeOfAll(seeds: readonly number[]): Purpose {
  const purposes = new Set(seeds.map(purposeOf));
  if (purposes.size > 1) {
    throw InputError.at(
      '--seeds',
      'these seeds mix cases to tune with and cases to report with',
      `stay below ${FIRST_REPORTING_SEED} to tune, or start at ${FIRST_REPORTING_SEED} or above to report`,
    );
  }
  return purposes.has('tuning') ? 'tuning' : 'reporting';
}

/** The root of everything that is random in one case. */
export const caseRandom = (seed: number): Prng => new Prng(seed).stream(`explain ${purposeOf(seed)}`);
