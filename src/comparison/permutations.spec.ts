import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Prng } from '../core/prng.js';
import type { FamilyTest } from './family.js';
import { canShow, permutationTests, smallestExchangeP, type TwoSamples } from './permutations.js';
import { familyByDefinition } from './testing/family-by-definition.js';

const sample = (values: readonly number[]): Float64Array => Float64Array.from(values);
const mean = (values: readonly number[]): number => values.reduce((sum, x) => sum + x, 0) / values.length;

/** Straight from the definition: every subset of half of the runs, every mean anew. */
function byDefinition(family: readonly { before: number[]; after: number[] }[]): FamilyTest[] {
  const runs = family[0].after.length;
  const subsets = Array.from({ length: 2 ** (2 * runs) }, (_, bits) => bits).filter(
    (bits) => bits.toString(2).replaceAll('0', '').length === runs,
  );
  const T = ({ before, after }: { before: number[]; after: number[] }, bits: number): number => {
    const all = [...after, ...before];
    const scale = Math.sqrt(all.reduce((sum, x) => sum + (x - mean(all)) ** 2, 0));
    const side = (wanted: number): number[] => all.filter((_, at) => ((bits >> at) & 1) === wanted);
    return scale === 0 ? 0 : (mean(side(1)) - mean(side(0))) / scale;
  };
  // the observed choice is the first of them: no smaller number has as many bits
  return familyByDefinition(family.map((one) => subsets.map((bits) => T(one, bits))));
}

describe('permutation tests of two samples', () => {
  it('equal the definition for any small family', () => {
    const value = fc.integer({ min: -20, max: 20 }).map((x) => x / 4);
    const family = fc.integer({ min: 1, max: 4 }).chain((runs) => {
      const side = fc.array(value, { minLength: runs, maxLength: runs });
      return fc.array(fc.record({ before: side, after: side }), { minLength: 1, maxLength: 3 });
    });
    fc.assert(
      fc.property(family, (rows) => {
        const expected = byDefinition(rows);
        const found = permutationTests(
          rows.map(({ before, after }) => ({ baseline: sample(before), candidate: sample(after) })),
          1,
        );
        for (const [at, { worse, better }] of found.entries()) {
          expect(worse).toBeCloseTo(expected[at].worse, 12);
          expect(better).toBeCloseTo(expected[at].better, 12);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('can show something at 5 % from three runs a side on, in either direction', () => {
    expect(smallestExchangeP(3)).toBe(0.05);
    const [low, high] = [sample([1, 2, 3]), sample([7, 8, 9])];
    expect(permutationTests([{ baseline: low, candidate: high }], 1)[0].worse).toBe(0.05);
    expect(permutationTests([{ baseline: high, candidate: low }], 1)[0].better).toBe(0.05);
    expect(canShow(3, 3, 0.05)).toBe(true);
    expect(canShow(3, 2, 0.05)).toBe(false);
  });

  it('take a choice that leaves one side without a known run for as bad and as good as any', () => {
    const [{ worse, better }] = permutationTests(
      [{ baseline: sample([1, NaN]), candidate: sample([2, NaN]) }],
      1,
    );
    // of six choices two have both known runs on one side, four have one on each
    expect(worse).toBe((2 + 2) / 6);
    expect(better).toBe(1);
  });

  it('find something in a family without any regression no more often than the level says', () => {
    const [families, level, runs] = [600, 0.05, 4];
    let alarms = 0;
    for (let seed = 0; seed < families; seed++) {
      const random = new Prng(seed).stream('null');
      const side = (): number[] => Array.from({ length: runs }, () => random.normal());
      const shared = { before: side(), after: side() };
      // half of what a comparison sees it shares with the others, as objectives on one drill do
      const rows = Array.from({ length: 8 }, (): TwoSamples => ({
        baseline: sample(side().map((x, at) => x + shared.before[at])),
        candidate: sample(side().map((x, at) => x + shared.after[at])),
      }));
      if (permutationTests(rows, 1).some(({ worse }) => worse <= level)) alarms++;
    }
    // of 70 choices three are within 5 %; four standard deviations of a binomial count
    const rate = 3 / 70;
    const spread = Math.sqrt(families * rate * (1 - rate));
    expect(alarms).toBeLessThan(families * rate + 4 * spread);
    expect(alarms).toBeGreaterThan(families * rate - 4 * spread);
  });

  it('beyond eight runs, draws come near what all choices give', () => {
    const random = new Prng(5).stream('draws');
    const side = (by: number): Float64Array => Float64Array.from({ length: 9 }, () => by + random.normal());
    const [{ worse }] = permutationTests([{ baseline: side(0), candidate: side(0.6) }], 3);
    const again = permutationTests([{ baseline: side(0), candidate: side(30) }], 3)[0].worse;
    expect(worse).toBeGreaterThan(0);
    expect(worse).toBeLessThan(1);
    // nothing but the observed choice, and its mirror image by chance, is as bad
    expect(again).toBeLessThan(5 * smallestExchangeP(9) + 2 / 50_000);
  });
});
