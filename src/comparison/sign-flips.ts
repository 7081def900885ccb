/**
 * Sign-flip tests over seeds, corrected over a family of comparisons.
 *
 * Each comparison (an objective on an experiment) has one value a seed: by how much the candidate was worse than the
 * margin allows. Were it just at the margin, each value could as well have had the other sign, for a whole seed at once,
 * since all comparisons of a seed share its draws. Over all 2^n choices of signs the chance that *any* comparison looks at
 * least this bad is the adjusted p-value (family.ts): it holds for any number of comparisons and whatever their
 * correlation. It assumes values symmetric about their mean. The statistic is Σx / √Σx², which grows with Student's t and is
 * defined also when all values are equal. Beyond 16 seeds 50 000 choices are drawn, and p counts the observed choice among
 * them, so that it is never too small.
 */
import { Prng } from '../core/prng.js';
import { Family, type FamilyTest } from './family.js';

/** Seeds up to which all choices of signs are gone through. */
export const EXACT_SEEDS_MAX = 16;
export const MONTE_CARLO_DRAWS = 50_000;

/**
 * @param family one array a comparison, by seed; NaN where a seed does not tell
 * @param seed draws signs where there are too many choices to go through
 */
export function signFlipTests(family: readonly Float64Array[], seed: number): FamilyTest[] {
  const seeds = Math.max(0, ...family.map((values) => values.length));
  const flips = seeds <= EXACT_SEEDS_MAX ? allFlips(seeds) : drawnFlips(seeds, seed);
  const tests = new Family(flips.choices);
  for (const values of family) tests.add(flips.statistics(standardised(values)));
  return tests.results();
}

/** Values by the root of their sum of squares, which no sign changes; what does not tell counts as 0. */
function standardised(values: Float64Array): Float64Array {
  const row = values.map((value) => (Number.isNaN(value) ? 0 : value));
  const scale = Math.sqrt(row.reduce((sum, value) => sum + value * value, 0));
  return scale === 0 ? row : row.map((value) => value / scale);
}

/** Smallest p-value that n seeds can give. */
export const smallestP = (seeds: number): number => 2 ** -seeds;

/** Choices of signs, the same for every comparison; the first leaves all as they are. */
interface Flips {
  choices: number;
  /** Sum of a row's values with the signs of each choice. */
  statistics(row: Float64Array): Float64Array;
}

/** All choices in the order of a Gray code, so that each differs from the one before in one seed. */
function allFlips(seeds: number): Flips {
  const choices = 2 ** seeds;
  return {
    choices,
    statistics(row) {
      const signs = new Int8Array(seeds).fill(1);
      const sums = new Float64Array(choices);
      sums[0] = row.reduce((sum, value) => sum + value, 0);
      for (let choice = 1; choice < choices; choice++) {
        const flipped = 31 - Math.clz32(choice & -choice);
        sums[choice] = sums[choice - 1] - 2 * signs[flipped] * (row[flipped] ?? 0);
        signs[flipped] = signs[flipped] === 1 ? -1 : 1;
      }
      return sums;
    },
  };
}

const WORD = 32;

function drawnFlips(seeds: number, seed: number): Flips {
  const random = new Prng(seed).stream('sign-flips');
  const words = Math.ceil(seeds / WORD);
  const choices = MONTE_CARLO_DRAWS + 1;
  // a bit a seed, set where its sign is flipped; the first choice is what was observed
  const flipped = new Uint32Array(choices * words);
  for (let at = words; at < flipped.length; at++) flipped[at] = random.next32();
  return {
    choices,
    statistics(row) {
      const sums = new Float64Array(choices);
      for (let choice = 0; choice < choices; choice++) {
        let sum = 0;
        for (let one = 0; one < row.length; one++) {
          const bit = (flipped[choice * words + (one >>> 5)] >>> (one & 31)) & 1;
          sum += bit === 1 ? -row[one] : row[one];
        }
        sums[choice] = sum;
      }
      return sums;
    },
  };
}
