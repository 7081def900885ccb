import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { selectSmallest, valueAtPlace } from './selection.js';

const numbers = fc.array(
  fc.double({ noNaN: true }).map((value) => value + 0),
  { minLength: 1, maxLength: 60 },
);
const some = fc.oneof(numbers, fc.array(fc.constantFrom(0, 1, 2), { minLength: 1, maxLength: 60 }));
const ascending = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);

describe('selection', () => {
  it('moves the smallest to the front and loses none', () => {
    fc.assert(
      fc.property(some, fc.nat(60), (values, wanted) => {
        const least = Math.min(wanted, values.length);
        const held = Float64Array.from(values);
        selectSmallest(held, values.length, least);
        expect(ascending([...held.subarray(0, least)])).toEqual(ascending(values).slice(0, least));
        expect(ascending([...held])).toEqual(ascending(values));
      }),
    );
  });

  it('tells the value at any place, and looks at no more than it is told to', () => {
    fc.assert(
      fc.property(some, fc.nat(59), (values, wanted) => {
        const place = wanted % values.length;
        const held = Float64Array.from([...values, -Infinity]);
        expect(valueAtPlace(held, values.length, place)).toBe(ascending(values)[place]);
        expect(held[values.length]).toBe(-Infinity);
      }),
    );
  });
});
