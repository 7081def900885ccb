import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { courseStart, pack } from './piece.js';

describe('a packed piece', () => {
  it('holds nothing of elements that stand still', () => {
    const rows = Float64Array.of(1, NaN, 3, 1, NaN, 3);
    expect(pack({ rows, size: 3, rounds: 2 }, Float64Array.of(1, NaN, 3))).toBeUndefined();
  });

  it('tells -0 from 0', () => {
    const piece = pack({ rows: Float64Array.of(0, -0), size: 2, rounds: 1 }, new Float64Array(2))!;
    expect([...piece.members]).toEqual([1]);
  });

  it('holds one course for all elements that take it', () => {
    const rows = Float64Array.of(1, 5, 1, 2, 6, 2);
    const piece = pack({ rows, size: 3, rounds: 2 }, new Float64Array(3))!;
    expect([...piece.members]).toEqual([0, 1, 2]);
    expect([...piece.courses]).toEqual([1, 2, 5, 6]);
    expect([...piece.courseOf!]).toEqual([0, 1, 0]);
  });

  it('gives back every course, bit for bit', () => {
    const value = fc.constantFrom(0, -0, 1, 2, NaN);
    const size = 6;
    const rounds = 3;
    fc.assert(
      fc.property(fc.array(value, { minLength: size * rounds, maxLength: size * rounds }), (all) => {
        const rows = Float64Array.from(all);
        const piece = pack({ rows, size, rounds }, new Float64Array(size).fill(1));
        for (let element = 0; element < size; element++) {
          const start = piece === undefined ? -1 : courseStart(piece, element, rounds);
          const course = Array.from({ length: rounds }, (_, round) => rows[round * size + element]);
          const unpacked = start < 0 ? [1, 1, 1] : [...piece!.courses.subarray(start, start + rounds)];
          expect(unpacked).toEqual(course);
        }
      }),
    );
  });
});
