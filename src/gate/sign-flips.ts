/**
 * Sign-flip tests over seeds, with the max-statistic correction over a family of comparisons.
 *
 * Each comparison (an objective on an experiment) has one value a seed: by how much the candidate was worse than the
 * margin allows. Were it just at the margin, each value could as well have had the other sign, for a whole seed at once,
 * since all comparisons of a seed share its draws. Over all 2^n choices of signs the chance that *any* comparison looks at
 * least this bad is the adjusted p-value (Westfall and Young 1993; Nichols and Holmes 2002): it holds for any number of
 * comparisons and whatever their correlation. It assumes values symmetric about their mean. The statistic is
 * Σx / √Σx², which grows with Student's t and is defined also when all values are equal. Beyond 16 seeds 50 000 choices are
 * drawn, and p counts the observed choice among them, so that it is never too small.
 */
import { Prng } from '../kernel/prng.js';

/** Seeds up to which all choices of signs are gone through. */
export const EXACT_SEEDS_MAX = 16;
export const MONTE_CARLO_DRAWS = 50_000;
/** Sums in another order differ in their last digits; what is this near counts as reached. */
const ROUNDING = 1e-9;

export interface FlipTest {
  /** Chance of a family in which something looks at least as bad as this comparison, were all at their margin. */
  worse: number;
  /** Chance that this comparison alone looks at least as good as it does, were it at its margin. */
  better: number;
}

/**
 * @param family one array a comparison, by seed; NaN where a seed does not tell
 * @param seed draws signs where there are too many choices to go through
 */
export function signFlipTests(family: readonly Float64Array[], seed: number): FlipTest[] {
  const seeds = Math.max(0, ...family.map((values) => values.length));
  const rows = family.map((values) =>
    Float64Array.from(values, (value) => (Number.isNaN(value) ? 0 : value)),
  );
  const scales = rows.map((row) => Math.sqrt(row.reduce((sum, value) => sum + value * value, 0)));
  const observed = rows.map((row, at) =>
    statistic(
      row.reduce((sum, value) => sum + value, 0),
      scales[at],
    ),
  );
  const tally = new Tally(observed);
  if (seeds <= EXACT_SEEDS_MAX) allFlips(rows, scales, seeds, tally);
  else drawnFlips(rows, scales, seeds, tally, seed);
  return tally.results();
}

const statistic = (sum: number, scale: number): number => (scale === 0 ? 0 : sum / scale);

/** Smallest p-value that n seeds can give. */
export const smallestP = (seeds: number): number => 2 ** -seeds;

/** Counts how often a choice gives at least what was observed; NaN, a choice that tells nothing, counts as both. */
export class Tally {
  private readonly worse: Float64Array;
  private readonly better: Float64Array;
  private total = 0;

  constructor(private readonly observed: readonly number[]) {
    this.worse = new Float64Array(observed.length);
    this.better = new Float64Array(observed.length);
  }

  count(statistics: Float64Array): void {
    let most = -Infinity;
    for (const value of statistics) {
      if (Number.isNaN(value)) most = Infinity;
      else if (value > most) most = value;
    }
    for (let at = 0; at < statistics.length; at++) {
      if (most >= this.observed[at] - ROUNDING) this.worse[at]++;
      if (!(statistics[at] > this.observed[at] + ROUNDING)) this.better[at]++;
    }
    this.total++;
  }

  results(): FlipTest[] {
    return this.observed.map((_, at) => ({
      worse: this.worse[at] / this.total,
      better: this.better[at] / this.total,
    }));
  }
}

/** All choices in the order of a Gray code, so that each differs from the one before in one seed. */
function allFlips(
  rows: readonly Float64Array[],
  scales: readonly number[],
  seeds: number,
  tally: Tally,
): void {
  const signs = new Int8Array(seeds).fill(1);
  const sums = Float64Array.from(rows, (row) => row.reduce((sum, value) => sum + value, 0));
  const statistics = new Float64Array(rows.length);
  const choices = 2 ** seeds;
  for (let choice = 0; ;) {
    for (let at = 0; at < rows.length; at++) statistics[at] = statistic(sums[at], scales[at]);
    tally.count(statistics);
    if (++choice === choices) return;
    const flipped = 31 - Math.clz32(choice & -choice);
    for (let at = 0; at < rows.length; at++) sums[at] -= 2 * signs[flipped] * (rows[at][flipped] ?? 0);
    signs[flipped] = signs[flipped] === 1 ? -1 : 1;
  }
}

function drawnFlips(
  rows: readonly Float64Array[],
  scales: readonly number[],
  seeds: number,
  tally: Tally,
  seed: number,
): void {
  const random = new Prng(seed).stream('sign-flips');
  const sums = new Float64Array(rows.length);
  const signs = new Int8Array(seeds).fill(1);
  for (let draw = 0; draw <= MONTE_CARLO_DRAWS; draw++) {
    // The first is what was observed.
    if (draw > 0) for (let one = 0; one < seeds; one++) signs[one] = random.next32() & 1 ? 1 : -1;
    for (let at = 0; at < rows.length; at++) {
      let sum = 0;
      for (let one = 0; one < rows[at].length; one++) sum += signs[one] * rows[at][one];
      sums[at] = statistic(sum, scales[at]);
    }
    tally.count(sums);
  }
}
