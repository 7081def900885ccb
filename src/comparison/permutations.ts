/**
 * Permutation tests of two independent samples, corrected over a family of comparisons (family.ts).
 *
 * Runs of real fabrics share no draws: the n-th on one side has nothing in common with the n-th on the other but its
 * target. Were the candidate just at its margin, each value could as well have come from the other side. Over all choices of
 * n runs out of 2n as "the candidate's", taken at once for every comparison of the family (each has its runs exchanged in
 * the same way, which is a subgroup of all exchanges, so that the level holds), the share that looks at least as bad is the
 * p-value. The smallest is 1 in (2n over n): three runs a side can show something at 5 %, where pairs need five. The
 * statistic is the difference of means over the root of the sum of squares, which no exchange changes: it orders choices as
 * Student's t does. It assumes that runs of one side do not depend on each other; common targets make it cautious.
 */
import { Prng } from '../core/prng.js';
import { Family, type FamilyTest } from './family.js';
import { MONTE_CARLO_DRAWS } from './sign-flips.js';

/** Values of one comparison; NaN where a run does not tell. */
export interface TwoSamples {
  /** Of the baseline, moved to the margin. */
  baseline: Float64Array;
  candidate: Float64Array;
}

/** Runs a side up to which all choices are gone through: 12 870. */
const EXACT_RUNS_MAX = 8;

/** Smallest p-value that n runs a side can give. */
export const smallestExchangeP = (runs: number): number => 1 / choose(2 * runs, runs);

/** Whether so many known values could show anything at a level. */
export const canShow = (baseline: number, candidate: number, alpha: number): boolean =>
  1 / choose(baseline + candidate, candidate) <= alpha + 1e-12;

function choose(n: number, k: number): number {
  let result = 1;
  for (let at = 1; at <= k; at++) result = (result * (n - k + at)) / at;
  return Math.round(result);
}

/**
 * Larger values are worse.
 * @param family all of the same number of runs a side
 * @param seed draws choices where there are too many to go through
 */
export function permutationTests(family: readonly TwoSamples[], seed: number): FamilyTest[] {
  const runs = family[0]?.candidate.length ?? 0;
  const drawn = runs > EXACT_RUNS_MAX;
  const choices = drawn ? MONTE_CARLO_DRAWS + 1 : choose(2 * runs, runs);
  const tests = new Family(choices);
  for (const { baseline, candidate } of family) {
    const row = Float64Array.from([...candidate, ...baseline]);
    const scale = scaleOf(row);
    const statistics = new Float64Array(choices);
    const chosen = new Uint8Array(2 * runs).fill(1, 0, runs);
    let choice = 0;
    const note = (): void => void (statistics[choice++] = difference(row, chosen, scale) ?? NaN);
    if (drawn) drawnChoices(chosen, note, seed);
    else allChoices(chosen, note);
    tests.add(statistics);
  }
  return tests.results();
}

function scaleOf(row: Float64Array): number {
  const known = row.filter((value) => !Number.isNaN(value));
  const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
  return Math.sqrt(known.reduce((sum, value) => sum + (value - mean) ** 2, 0));
}

/** @returns undefined where all known values are on one side */
function difference(row: Float64Array, chosen: Uint8Array, scale: number): number | undefined {
  let [inside, insideCount, outside, outsideCount] = [0, 0, 0, 0];
  for (let at = 0; at < row.length; at++) {
    if (Number.isNaN(row[at])) continue;
    if (chosen[at] === 1) {
      inside += row[at];
      insideCount++;
    } else {
      outside += row[at];
      outsideCount++;
    }
  }
  if (insideCount === 0 || outsideCount === 0) return undefined;
  return scale === 0 ? 0 : (inside / insideCount - outside / outsideCount) / scale;
}

/** Every choice of as many as are chosen now, each once. */
function allChoices(chosen: Uint8Array, note: () => void): void {
  const size = chosen.length;
  const picked = Array.from({ length: size / 2 }, (_, at) => at);
  for (;;) {
    chosen.fill(0);
    for (const at of picked) chosen[at] = 1;
    note();
    let last = picked.length - 1;
    while (last >= 0 && picked[last] === size - picked.length + last) last--;
    if (last < 0) return;
    picked[last]++;
    for (let at = last + 1; at < picked.length; at++) picked[at] = picked[at - 1] + 1;
  }
}

/** The first is what was observed, so that p is never too small. */
function drawnChoices(chosen: Uint8Array, note: () => void, seed: number): void {
  const random = new Prng(seed).stream('exchanges');
  note();
  for (let draw = 0; draw < MONTE_CARLO_DRAWS; draw++) {
    for (let at = chosen.length - 1; at > 0; at--) {
      const other = random.below(at + 1);
      [chosen[at], chosen[other]] = [chosen[other], chosen[at]];
    }
    note();
  }
}
