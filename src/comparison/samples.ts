/**
 * How the runs of two fabrics belong together, and so which test tells them apart.
 *
 * Simulated runs with the same seed share all draws: they are pairs, and signs of their differences are flipped. Drills on
 * real fabrics share a target at most and cost real time: they are two independent samples, whose runs are exchanged
 * (permutations.ts), judged once when all have been run, since of so few runs no part of the level can be spared.
 */
import { bootstrapDifference, bootstrapMean, type Interval } from './intervals.js';
import { atMargin, beyondOf, pairsOf, samplesOf, worseOf, type Gathered, type SeedRuns } from './pairs.js';
import { canShow, permutationTests, smallestExchangeP } from './permutations.js';
import type { FamilyTest } from './family.js';
import { signFlipTests, smallestP } from './sign-flips.js';
import type { RelativeObjective } from './suite-objective.js';

export interface SampleDesign {
  name: 'paired' | 'independent';
  /** Looks before the last seed. */
  looksEarly: boolean;
  /** Smallest p-value of so many seeds. */
  smallestP: (seeds: number) => number;
  /** What one comparison rests on. */
  gather(objective: RelativeObjective, runs: readonly SeedRuns[]): Gathered;
  /** Whether what is known could show anything. */
  suffices(runs: Gathered, alpha: number): boolean;
  /** @param family every comparison that has runs */
  test(family: readonly { objective: RelativeObjective; runs: Gathered }[], seed: number): FamilyTest[];
  /** By how much the candidate is worse; null where it is not known. */
  interval(objective: RelativeObjective, runs: Gathered, seed: number): Interval | null;
  /** Runs of one comparison, as sentences call them. */
  words(known: number): string;
}

export const PAIRED: SampleDesign = {
  name: 'paired',
  looksEarly: true,
  smallestP,
  gather: pairsOf,
  suffices: ({ known }, alpha) => smallestP(known) <= alpha + 1e-12,
  test: (family, seed) =>
    signFlipTests(
      family.map(({ objective, runs }) => beyondOf(objective, runs)),
      seed,
    ),
  interval: (objective, runs, seed) => bootstrapMean(worseOf(objective, runs), seed),
  words: (known) => `${known} pair${known === 1 ? '' : 's'} of seeds`,
};

export const INDEPENDENT: SampleDesign = {
  name: 'independent',
  looksEarly: false,
  smallestP: smallestExchangeP,
  gather: samplesOf,
  suffices: ({ values }, alpha) => canShow(countOf(values.baseline), countOf(values.candidate), alpha),
  test: (family, seed) =>
    permutationTests(
      family.map(({ objective, runs }) => atMargin(objective, runs)),
      seed,
    ),
  interval: ({ figure }, { values }, seed) =>
    bootstrapDifference(values.baseline, values.candidate, figure.better === 'higher' ? -1 : 1, seed),
  words: (known) => `${known} run${known === 1 ? '' : 's'} on each`,
};

const countOf = (values: Float64Array): number => values.filter((value) => !Number.isNaN(value)).length;
