/**
 * Even draws: what a case is about comes round by turns, so that some hundred seeds hold every kind, variant and quality.
 *
 * Points of the additive recurrence of Roberts ("The unreasonable effectiveness of quasirandom sequences", 2018): in d
 * dimensions the steps are the negative powers of the root of x^(d+1) = x + 1, and any run of neighbouring seeds covers
 * the unit cube about evenly. Each seed still is one case whatever range it is asked in. Only what a case is about is drawn
 * like this; magnitudes, places and times are drawn at random.
 */
import { hashText } from '../../../src/core/prng.js';
import { purposeOf } from './seeds.js';

const DIMENSIONS = ['sort', 'entry', 'second', 'size'] as const;

/** One number of 0 to 1 (1 excluded) for each choice. */
export type EvenDraws = Readonly<Record<(typeof DIMENSIONS)[number], number>>;

const STEPS = stepsOf(DIMENSIONS.length);

export function evenDraws(seed: number): EvenDraws {
  const start = hashText(purposeOf(seed)) / 2 ** 32;
  const at = (dimension: number): number => (start + seed * STEPS[dimension]) % 1;
  return Object.fromEntries(DIMENSIONS.map((name, index) => [name, at(index)])) as EvenDraws;
}

function stepsOf(dimensions: number): number[] {
  let root = 1.5;
  for (let round = 0; round < 60; round++) root = (1 + root) ** (1 / (dimensions + 1));
  return Array.from({ length: dimensions }, (_, index) => root ** -(index + 1));
}
