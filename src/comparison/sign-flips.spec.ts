import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Prng } from '../core/prng.js';
import type { FamilyTest } from './family.js';
import { signFlipTests, smallestP } from './sign-flips.js';
import { familyByDefinition } from './testing/family-by-definition.js';

/** Straight from the definition: every choice of signs, every sum anew. */
function byDefinition(family: readonly number[][]): FamilyTest[] {
  const choices = Array.from({ length: 2 ** family[0].length }, (_, signs) => signs);
  const T = (row: readonly number[], signs: number): number => {
    const scale = Math.sqrt(row.reduce((sum, x) => sum + x * x, 0));
    return scale === 0 ? 0 : row.reduce((sum, x, at) => sum + ((signs >> at) & 1 ? -x : x), 0) / scale;
  };
  return familyByDefinition(family.map((row) => choices.map((signs) => T(row, signs))));
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

  it('do not lose a regression of all seeds to one seed at which it is a hundred times as large', () => {
    const even = new Float64Array(16).fill(1);
    const uneven = even.map((value, at) => (at === 0 ? 100 : value));
    const others = Array.from({ length: 7 }, (_, at) => normals(new Prng(at), 16, -1));
    const [{ worse }] = signFlipTests([uneven, ...others], 1);
    expect(signFlipTests([even, ...others], 1)[0].worse).toBe(smallestP(16));
    expect(worse).toBeLessThanOrEqual(8 * smallestP(16));
  });

  it('are never better for a candidate that is worse, but for ties of rank', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 1e6 }),
        fc.array(fc.double({ min: 0, max: 50, noNaN: true }), { minLength: 8, maxLength: 8 }),
        (seed, more) => {
          const random = new Prng(seed);
          const rows = Array.from({ length: 5 }, () => normals(random, 8, 0.5));
          const [before] = signFlipTests(rows, 1);
          const [after] = signFlipTests([rows[0].map((x, at) => x + more[at]), ...rows.slice(1)], 1);
          expect(after.worse).toBeLessThanOrEqual(before.worse + rows.length * smallestP(8));
          expect(after.better).toBeGreaterThanOrEqual(before.better);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('do not depend on the order of comparisons or of seeds', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e6 }), (seed) => {
        const random = new Prng(seed);
        const rows = Array.from({ length: 4 }, () => normals(random, 7, 0.3));
        const found = signFlipTests(rows, 1);
        expect(signFlipTests([...rows].reverse(), 1).reverse()).toEqual(found);
        expect(
          signFlipTests(
            rows.map((row) => row.slice().reverse()),
            1,
          ),
        ).toEqual(found);
      }),
      { numRuns: 40 },
    );
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
