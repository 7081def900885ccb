import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { quantile, sumOfSmallest } from './statistics.js';

const numbers = fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 1, maxLength: 40 });
const inOrder = (values: readonly number[]): number[] => [...values].sort((one, other) => one - other);

describe('the sum of the smallest numbers', () => {
  it('is that of the sorted ones, however many are asked for', () => {
    fc.assert(
      fc.property(numbers, fc.nat(), (values, draw) => {
        const count = draw % (values.length + 1);
        const expected = inOrder(values)
          .slice(0, count)
          .reduce((sum, value) => sum + value, 0);
        expect(sumOfSmallest(Float64Array.from(values), values.length, count)).toBe(expected);
      }),
    );
  });
});

describe('a quantile', () => {
  it('lies where it would among the numbers in order, between two of them in proportion', () => {
    fc.assert(
      fc.property(numbers, fc.double({ min: 0, max: 1, noNaN: true }), (values, share) => {
        const sorted = inOrder(values);
        const position = (sorted.length - 1) * share;
        const [below, above] = [sorted[Math.floor(position)], sorted[Math.ceil(position)]];
        expect(quantile(values, share)).toBeCloseTo(below + (above - below) * (position % 1), 9);
      }),
    );
  });

  it('takes what is no number for larger than all numbers, and none at all for unknown', () => {
    expect(quantile([NaN, 3, 1, 2, NaN], 0.25)).toBe(2);
    expect(quantile([], 0.5)).toBeNaN();
  });
});
