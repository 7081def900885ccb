import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { powerPenaltyDb } from './optics.js';

describe('light that is missing', () => {
  it('follows the ratio of Q factors: 6.36 at 1e-10, 3.72 at 1e-4, 1.28 at 0.1', () => {
    expect(powerPenaltyDb(1e-10, 1e-4)).toBeCloseTo(10 * Math.log10(6.3613 / 3.719), 3);
    expect(powerPenaltyDb(1e-10, 0.1)).toBeCloseTo(10 * Math.log10(6.3613 / 1.2816), 3);
  });

  it('is none where nothing is wrong, grows with the errors, and stays finite', () => {
    const exponent = fc.double({ min: -12, max: Math.log10(0.5), noNaN: true });
    fc.assert(
      fc.property(exponent, exponent, (one, other) => {
        const [less, more] = [10 ** Math.min(one, other), 10 ** Math.max(one, other)];
        expect(powerPenaltyDb(1e-10, less)).toBeGreaterThanOrEqual(0);
        expect(powerPenaltyDb(1e-10, more)).toBeGreaterThanOrEqual(powerPenaltyDb(1e-10, less));
        expect(powerPenaltyDb(1e-10, more)).toBeLessThan(20);
      }),
    );
    expect(powerPenaltyDb(1e-10, 1e-11)).toBe(0);
  });
});
