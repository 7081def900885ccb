import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Prng } from '../kernel/prng.js';
import { signFlipTests, smallestP } from './sign-flips.js';

/** Straight from the definition: every choice of signs, every sum anew. */
function byDefinition(family: readonly number[][]): { worse: number; better: number }[] {
  const n = family[0].length;
  const T = (row: readonly number[], signs: number): number => {
    const scale = Math.sqrt(row.reduce((sum, x) => sum + x * x, 0));
    return scale === 0 ? 0 : row.reduce((sum, x, at) => sum + ((signs >> at) & 1 ? -x : x), 0) / scale;
  };
  const choices = Array.from({ length: 2 ** n }, (_, signs) => family.map((row) => T(row, signs)));
  return family.map((_, at) => ({
    worse: choices.filter((all) => Math.max(...all) >= choices[0][at] - 1e-9).length / choices.length,
    better: choices.filter((all) => all[at] <= choices[0][at] + 1e-9).length / choices.length,
  }));
}

const normals = (random: Prng, n: number, mean = 0): Float64Array =>
  Float64Array.from({ length: n }, () => mean + random.normal());

describe('sign-flip tests', () => {
  it('equal the definition for any small family', () => {
    const value = fc.integer({ min: -20, max: 20 }).map((x) => x / 4);
    const family = fc
      .integer({ min: 1, max: 7 })
      .chain((n) =>
        fc.array(fc.array(value, { minLength: n, maxLength: n }), { minLength: 1, maxLength: 4 }),
      );
    fc.assert(
      fc.property(family, (rows) => {
        const found = signFlipTests(
          rows.map((row) => Float64Array.from(row)),
          1,
        );
        const expected = byDefinition(rows);
        for (const [at, { worse, better }] of found.entries()) {
          expect(worse).toBeCloseTo(expected[at].worse, 12);
          expect(better).toBeCloseTo(expected[at].better, 12);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('give 2^-n when every seed is worse, and the same for every seed better', () => {
    const worse = Float64Array.from({ length: 10 }, (_, at) => 1 + at);
    expect(signFlipTests([worse], 1)[0].worse).toBe(smallestP(10));
    expect(signFlipTests([worse.map((x) => -x)], 1)[0].better).toBe(smallestP(10));
  });

  it('say nothing where every seed is exactly at the margin, and leave seeds out that do not tell', () => {
    expect(signFlipTests([new Float64Array(8)], 1)).toEqual([{ worse: 1, better: 1 }]);
    const five = Float64Array.from([1, 1, NaN, 1, 1, 1]);
    expect(signFlipTests([five], 1)[0].worse).toBe(2 ** -5);
  });

  it('a comparison never gains from company', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e6 }), (seed) => {
        const random = new Prng(seed);
        const rows = [normals(random, 8, 0.5), normals(random, 8), normals(random, 8)];
        const [alone] = signFlipTests(rows.slice(0, 1), 1);
        const [together] = signFlipTests(rows, 1);
        expect(together.worse).toBeGreaterThanOrEqual(alone.worse);
        expect(together.better).toBe(alone.better);
      }),
      { numRuns: 40 },
    );
  });

  it('find something in a family without any regression no more often than the level says', () => {
    const [families, level] = [600, 0.05];
    let alarms = 0;
    for (let seed = 0; seed < families; seed++) {
      const random = new Prng(seed).stream('null');
      const shared = normals(random, 8);
      // Half of what a comparison sees it shares with the others, as experiments of one seed do.
      const rows = Array.from({ length: 10 }, () => normals(random, 8).map((x, at) => x + shared[at]));
      if (signFlipTests(rows, 1).some(({ worse }) => worse <= level)) alarms++;
    }
    // Four standard deviations of a binomial count.
    const spread = Math.sqrt(families * level * (1 - level));
    expect(alarms).toBeLessThan(families * level + 4 * spread);
    expect(alarms).toBeGreaterThan(families * level - 4 * spread);
  });

  it('beyond 16 seeds, draws give what the closed form says for one comparison of equal values', () => {
    // 15 of 20 seeds worse by 1: at least as many heads as that among 20 fair coins.
    const values = Float64Array.from({ length: 20 }, (_, at) => (at < 15 ? 1 : -1));
    const [{ worse }] = signFlipTests([values], 3);
    const heads = [15504, 4845, 1140, 190, 20, 1].reduce((sum, ways) => sum + ways, 0) / 2 ** 20;
    expect(Math.abs(worse - heads)).toBeLessThan(4 * Math.sqrt(heads / 50_000));
    expect(signFlipTests([values], 3)).toEqual(signFlipTests([values], 3));
  });
});
