/** Levels of figures that scatter: what chance explains is the level, what it does not is none. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Prng } from '../../core/prng.js';
import { Level, type Weighed } from './level.js';

const around = (mean: number, scatter: number, count: number, seed: number): Weighed[] => {
  const random = new Prng(seed);
  return Array.from({ length: count }, () => ({ value: mean + scatter * random.normal(), weight: 1 }));
};
const plain = (values: readonly number[]): Weighed[] => values.map((value) => ({ value, weight: 1 }));

describe('the level of intervals', () => {
  it('has their weighted mean and deviation, whatever their order', () => {
    const one = fc.record({
      value: fc.double({ min: -100, max: 100, noNaN: true }),
      weight: fc.double({ min: 0.01, max: 10, noNaN: true }),
    });
    fc.assert(
      fc.property(fc.array(one, { minLength: 1, maxLength: 30 }), (intervals) => {
        const weight = intervals.reduce((sum, { weight: own }) => sum + own, 0);
        const mean = intervals.reduce((sum, { value, weight: own }) => sum + value * own, 0) / weight;
        const equal = weight ** 2 / intervals.reduce((sum, { weight: own }) => sum + own ** 2, 0);
        const squares = intervals.reduce((sum, { value, weight: own }) => sum + own * (value - mean) ** 2, 0);
        for (const order of [intervals, [...intervals].reverse()]) {
          const level = Level.of(order);
          expect(level.mean).toBeCloseTo(mean, 6);
          expect(level.intervals).toBeCloseTo(equal, 6);
          // one interval that outweighs all others leaves next to nothing to estimate a scatter from
          if (equal > 1.01)
            expect(level.deviation).toBeCloseTo(Math.sqrt((squares / weight) * (equal / (equal - 1))), 4);
        }
      }),
    );
  });

  it('takes no notice of intervals that rest on nothing', () => {
    const level = Level.of([...plain([4, 6]), { value: 1000, weight: 0 }]);
    expect([level.mean, level.intervals, level.lowest]).toEqual([5, 2, 4]);
  });
});

describe('a later window', () => {
  it('of the same mean is held in nearly every draw, though its intervals scatter by a third', () => {
    const held = Array.from({ length: 200 }, (_, seed) =>
      Level.of(around(10, 3, 6, seed)).isHeldBy(Level.of(around(10, 3, 6, 1000 + seed))),
    );
    expect(held.filter(Boolean).length).toBeGreaterThanOrEqual(194);
  });

  it('that lost more than chance explains is not', () => {
    expect(Level.of(plain([10, 10.2, 9.8])).isHeldBy(Level.of(plain([8.8, 8.9, 8.7])))).toBe(false);
  });

  it('of less than half the level is never held, however much was scattered', () => {
    expect(Level.of(plain([1, 30, 2, 40])).isHeldBy(Level.of(plain([1, 2, 1, 2])))).toBe(false);
  });

  it('proves nothing without intervals, before or after', () => {
    expect(Level.of([]).isHeldBy(Level.of(plain([1])))).toBe(false);
    expect(Level.of(plain([1])).isHeldBy(Level.of([]))).toBe(false);
  });

  it('holds no less when it carries more', () => {
    const values = fc.array(fc.double({ min: 0, max: 100, noNaN: true }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(values, values, fc.double({ min: 0, max: 50, noNaN: true }), (before, after, more) => {
        const level = Level.of(plain(before));
        const held = level.isHeldBy(Level.of(plain(after)));
        if (held) expect(level.isHeldBy(Level.of(plain(after.map((value) => value + more))))).toBe(true);
      }),
    );
  });
});
