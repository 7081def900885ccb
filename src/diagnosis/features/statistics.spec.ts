import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sumOfSmallest } from './statistics.js';

describe('the sum of the smallest numbers', () => {
  it('is that of the sorted ones, however many are asked for', () => {
    const numbers = fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(numbers, fc.nat(), (values, draw) => {
        const count = draw % (values.length + 1);
        const sorted = [...values].sort((one, other) => one - other);
        const expected = sorted.slice(0, count).reduce((sum, value) => sum + value, 0);
        expect(sumOfSmallest(Float64Array.from(values), count)).toBe(expected);
      }),
    );
  });
});
