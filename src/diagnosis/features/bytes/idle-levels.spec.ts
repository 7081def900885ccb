import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { IDLE_TOLERANCE_BYTES, idleLevels } from './idle-levels.js';
import type { Column } from '../../series/samples.js';

/** Bytes sent by time t (ms): 50 kB/ms in the busy part of each period, none in the rest. */
function sentBy(timeMs: number, periodMs: number, busyMs: number): number {
  return 50_000 * (Math.floor(timeMs / periodMs) * busyMs + Math.min(timeMs % periodMs, busyMs));
}

function poll(phaseMs: number, read: (timeMs: number) => number): Column {
  const timesMs = Array.from({ length: 60 }, (_, index) => phaseMs + index * 1000);
  return {
    count: timesMs.length,
    timesNs: Float64Array.from(timesMs, (timeMs) => timeMs * 1e6),
    values: Float64Array.from(timesMs, read),
  };
}

const traffic = fc.record({
  periodMs: fc.integer({ min: 310, max: 790 }),
  busy: fc.double({ min: 0.1, max: 0.6, noNaN: true }),
});
/** Periods that no multiple of meets the poll interval closely, so that polls fall everywhere in a step. */
const unaliased = fc.record({
  periodMs: fc.constantFrom(370, 430, 610, 730),
  busy: fc.double({ min: 0.1, max: 0.6, noNaN: true }),
});
const skewMs = fc.constantFrom(-15, -5, 0, 5, 15);

describe('counters compared at quiet moments', () => {
  it('see no loss on an honest link, whichever end is polled first', () => {
    fc.assert(
      fc.property(unaliased, skewMs, ({ periodMs, busy }, skew) => {
        const read = (timeMs: number): number => sentBy(timeMs, periodMs, busy * periodMs);
        const levels = idleLevels(
          poll(100, read),
          poll(100 + skew, (timeMs) => 12_345 + read(timeMs)),
        );
        expect(levels?.shift ?? null).toBeNull();
      }),
    );
  });

  it('see no loss without a gain on the way back when the job on an honest link stops for good', () => {
    fc.assert(
      fc.property(traffic, skewMs, ({ periodMs, busy }, skew) => {
        const read = (timeMs: number): number => sentBy(Math.min(timeMs, 30_000), periodMs, busy * periodMs);
        const [here, there] = [poll(100, read), poll(100 + skew, read)];
        const shift = idleLevels(here, there)?.shift ?? null;
        const gain = idleLevels(there, here)?.gain ?? null;
        if (shift === null) return;
        expect(gain).not.toBeNull();
        // Within the three polls of a plateau.
        expect(Math.abs((gain?.toNs ?? 0) - shift.began.toNs)).toBeLessThan(3.1e9);
      }),
    );
  });

  const lossOf = (periodMs: number, busy: number, skew: number) => {
    const stalled = (timeMs: number): number => (timeMs < 25_300 ? timeMs : Math.max(25_300, timeMs - 8000));
    const read = (timeMs: number): number => sentBy(stalled(timeMs), periodMs, busy * periodMs);
    const received = (timeMs: number): number => read(timeMs) - (timeMs > 25_300 ? 40_000 : 0);
    return idleLevels(poll(100, read), poll(100 + skew, received))?.shift ?? null;
  };

  it.each([-15, -5, 0, 5, 15])(
    'find the few packets that a stalled sender lost, polled %d ms apart',
    (skew) => {
      const shift = lossOf(370, 0.3, skew);
      expect(shift?.bytes).toBeCloseTo(40_000, 0);
      expect(shift?.began.fromNs).toBeLessThanOrEqual(25_300e6);
      expect(shift?.began.toNs).toBeGreaterThanOrEqual(25_300e6);
    },
  );

  it('find no other amount, and no loss before it happened, when polls beat with the steps', () => {
    fc.assert(
      fc.property(unaliased, skewMs, ({ periodMs, busy }, skew) => {
        const shift = lossOf(periodMs, busy, skew);
        if (shift === null) return;
        expect(Math.abs(shift.bytes - 40_000)).toBeLessThan(IDLE_TOLERANCE_BYTES);
        expect(shift.settledNs).toBeGreaterThanOrEqual(25_300e6);
      }),
    );
  });
});
