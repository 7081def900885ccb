import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SeriesBuilder } from '../../../model/telemetry/series.js';
import type { Series } from '../../../model/telemetry/series.js';
import { conservation } from './conservation.js';

function series(samples: readonly (readonly [timeNs: number, value: number])[]): Series {
  const builder = new SeriesBuilder('port_tx_bytes', 'port:any');
  samples.forEach(([timeNs, value]) => builder.push(timeNs, value));
  return builder.build();
}

/** Bytes sent by time t, in bursts; the receiver counts from another base and loses everything in [from, to). */
const sentBy = (timeNs: number): number => 5 * (Math.floor(timeNs / 10) * 6 + Math.min(timeNs % 10, 6));

describe('conservation over a link', () => {
  it('says nothing without two comparable readings', () => {
    expect(conservation(undefined, undefined, 0).known).toBe(false);
    expect(conservation(series([[0, 1]]), series([[0, 1]]), 0).known).toBe(false);
  });

  it('brackets a loss between the last intact and the first short reading', () => {
    const sent = series([0, 10, 20, 30].map((timeNs) => [timeNs, timeNs * 5]));
    const received = series([
      [0, 7],
      [10, 57],
      [20, 77],
      [30, 127],
    ]);
    expect(conservation(sent, received, 5)).toEqual({
      known: true,
      intact: false,
      lostBytesAtLeast: 30,
      certain: true,
      gained: null,
      began: { fromNs: 10, toNs: 20 },
      lastSeenNs: 20,
    });
  });

  it('takes a counter that went back for a reset, not for a loss', () => {
    const sent = series([0, 10, 20, 30, 40].map((timeNs) => [timeNs, timeNs * 5]));
    const received = series([
      [0, 1000],
      [10, 1050],
      [20, 0],
      [30, 50],
      [40, 100],
    ]);
    expect(conservation(sent, received, 1).began).toBeNull();
  });

  it('never sees a loss between honest counters, whenever they are polled', () => {
    const times = fc.uniqueArray(fc.integer({ min: 0, max: 500 }), { minLength: 2, maxLength: 60 });
    fc.assert(
      fc.property(times, times, fc.nat(1000), (sentAt, receivedAt, base) => {
        const ascending = (all: number[]): number[] => [...all].sort((one, other) => one - other);
        const sent = series(ascending(sentAt).map((timeNs) => [timeNs, sentBy(timeNs)]));
        const received = series(ascending(receivedAt).map((timeNs) => [timeNs, base + sentBy(timeNs)]));
        expect(conservation(sent, received, 1e-6).began).toBeNull();
      }),
    );
  });

  it('never claims more loss than there was, and proves arrival only where nothing was lost', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 0, max: 400 }), (every, lostFromNs) => {
        const lostToNs = lostFromNs + 40;
        const lost = (timeNs: number): number =>
          sentBy(Math.min(timeNs, lostToNs)) - sentBy(Math.min(timeNs, lostFromNs));
        const sent = series(Array.from({ length: 500 }, (_, timeNs) => [timeNs, sentBy(timeNs)]));
        const readings = Array.from({ length: Math.floor(500 / every) }, (_, index) => index * every);
        const received = series(readings.map((timeNs) => [timeNs, sentBy(timeNs) - lost(timeNs)]));
        const found = conservation(sent, received, 1);
        expect(found.lostBytesAtLeast).toBeLessThanOrEqual(lost(500));
        expect(found.intact).toBe(false);
        if (found.began !== null) expect(found.began.toNs).toBeGreaterThanOrEqual(lostFromNs);
        if (every === 1 && lostToNs < 499) expect(found.lostBytesAtLeast).toBe(lost(500));
      }),
    );
  });
});
