/** Draws that the corpus is made of: one of a list, by weight, in a range, evenly in the logarithm. */
import type { Prng } from '../../../src/core/prng.js';

export const pick = <T>(random: Prng, choices: readonly T[]): T => choices[random.below(choices.length)];

export const between = (random: Prng, least: number, most: number): number =>
  least + (most - least) * random.uniform();

export const whole = (random: Prng, least: number, most: number): number =>
  least + random.below(most - least + 1);

/** For magnitudes that span decades. */
export const logBetween = (random: Prng, least: number, most: number): number =>
  least * (most / least) ** random.uniform();

/** @param weights of each choice; need not add up to one */
export const weighted = <T>(random: Prng, weights: Weights<T>): T => weightedAt(random.uniform(), weights);

export type Weights<T> = readonly (readonly [choice: T, weight: number])[];

/** @param at from 0 to 1, how far along all the weights */
export function weightedAt<T>(at: number, weights: Weights<T>): T {
  const total = weights.reduce((sum, [, weight]) => sum + weight, 0);
  let left = at * total;
  for (const [choice, weight] of weights) {
    left -= weight;
    if (left < 0) return choice;
  }
  return weights[weights.length - 1][0];
}
