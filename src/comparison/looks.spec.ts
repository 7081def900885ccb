import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { INDEPENDENT } from './samples.js';
import { fewestSeeds, planLooks } from './looks.js';

describe('looks of a gate', () => {
  it('of the usual 16 seeds come after 8, 12 and 16', () => {
    expect(planLooks(16, 0.05).map(({ seeds }) => seeds)).toEqual([8, 12, 16]);
  });

  it('spend the level in whole and no more, can each decide, and end with the last seed', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 5, max: 400 }),
        fc.double({ min: 0.04, max: 0.2, noNaN: true }),
        (seeds, alpha) => {
          const looks = planLooks(seeds, alpha);
          expect(looks.reduce((sum, { level }) => sum + level, 0)).toBeCloseTo(alpha, 12);
          expect(looks.at(-1)!.seeds).toBe(seeds);
          for (const [at, look] of looks.entries()) {
            expect(2 ** -look.seeds).toBeLessThanOrEqual(look.level);
            expect(look.seeds).toBeGreaterThan(looks[at - 1]?.seeds ?? 0);
          }
        },
      ),
    );
  });

  it('are refused where no outcome could be significant', () => {
    expect(fewestSeeds(0.05)).toBe(5);
    expect(fewestSeeds(0.0625)).toBe(4);
    expect(() => planLooks(4, 0.05)).toThrow(
      /with 4 seeds nothing can be shown at the level 0.05.*at least 5/,
    );
    expect(planLooks(5, 0.05)).toEqual([{ seeds: 5, level: 0.05 }]);
    expect(() => planLooks(2, 0.05, '', INDEPENDENT)).toThrow(
      expect.objectContaining({
        issues: [expect.objectContaining({ hint: expect.stringMatching(/^5 between simulated/) })],
      }),
    );
  });
});
