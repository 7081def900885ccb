import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { unwrapped } from './wrapping.js';

const FULL = 2 ** 32;

describe('a counter of 32 bits', () => {
  it('is read as if it had no limit, as long as it is polled often enough', () => {
    const gains = fc.array(fc.integer({ min: 0, max: 2 ** 31 - 1 }), { maxLength: 40 });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: FULL - 1 }), gains, (start, steps) => {
        const whole = [start];
        for (const step of steps) whole.push(whole[whole.length - 1] + step);
        const seen = Float64Array.from(whole, (value) => value % FULL);
        expect([...unwrapped('port_rx_errors', seen)]).toEqual(whole);
      }),
    );
  });

  it('that was reset, or is of 64 bits, or is no counter, stays as it is', () => {
    const reset = Float64Array.of(1e9, 5, 10);
    const wide = Float64Array.of(3e12, 0, 10);
    const gauge = Float64Array.of(4e9, 0, 10);
    expect(unwrapped('port_rx_errors', reset)).toBe(reset);
    expect(unwrapped('port_tx_bytes', wide)).toBe(wide);
    expect(unwrapped('queue_depth_bytes', gauge)).toBe(gauge);
  });
});
