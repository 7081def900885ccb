/**
 * Mean and nearest-rank p99 against a plain sort.
 */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Durations } from './latencies.js';

const of = (values: number[]): Durations => {
  const durations = new Durations();
  for (const value of values) durations.add(value);
  return durations;
};

describe('durations between two polls', () => {
  it('have no mean and no p99 when nothing ended', () => {
    expect(of([]).meanNs).toBeNaN();
    expect(of([]).p99Ns).toBeNaN();
  });

  it('have as p99 the largest of a few, and the value that 99 % do not exceed of many', () => {
    expect(of([3, 9, 4]).p99Ns).toBe(9);
    expect(of(Array.from({ length: 200 }, (_, index) => 200 - index)).p99Ns).toBe(198);
  });

  it('agree with sorting, whatever the values', () => {
    const value = fc.oneof(fc.integer({ min: 0, max: 5 }), fc.double({ min: 0, max: 1e12, noNaN: true }));
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 400 }), (values) => {
        const sorted = [...values].sort((a, b) => a - b);
        const durations = of(values);
        expect(durations.meanNs).toBe(values.reduce((sum, one) => sum + one, 0) / values.length);
        expect(durations.p99Ns).toBe(sorted[Math.ceil(0.99 * values.length) - 1]);
        durations.clear();
        expect(durations.p99Ns).toBeNaN();
      }),
    );
  });
});
