/** DCQCN's fixed point against values worked out elsewhere with the same published equations (40 and 100 Gb/s). */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { queueOfMarkRatio, ReactionCurve, restingMarkRatio } from './reaction-curve.js';

const GBPS = 1 / 8;
/** Published parameters: SIGCOMM 2015. */
const published = {
  alphaIntervalNs: 55e3,
  decreaseIntervalNs: 50e3,
  increaseIntervalNs: 55e3,
  gain: 1 / 256,
  fastRecoveryTimes: 5,
  additiveIncrease: 0.04 * GBPS,
  hyperIncrease: 0.04 * GBPS,
  minRate: 0.01 * GBPS,
  clampTargetRate: false,
  byteCounterBytes: 10e6,
};
const curve = { kminBytes: 5e3, kmaxBytes: 200e3, pmax: 0.01 };

describe('the fixed point of DCQCN', () => {
  it.each([
    [2, 40, 0.0007769886333120865, 20.151278349585684],
    [4, 40, 0.001887665920206674, 41.809485444030145],
    [8, 40, 0.0045521114549642045, 93.76617337180198],
    [10, 40, 0.006031955225972215, 122.6231269064582],
    [2, 100, 0.0002387166211929308, 9.65497411326215],
    [4, 100, 0.0005831115161102217, 16.370674564149322],
  ])('of %i flows at %i Gb/s has the known share of marks and queue', (flows, gbps, ratio, queueKb) => {
    const found = restingMarkRatio((gbps * GBPS) / flows, published, 1000);
    expect(found / ratio).toBeCloseTo(1, 6);
    expect(queueOfMarkRatio(curve, found) / 1000).toBeCloseTo(queueKb, 3);
  });

  it('sits at Kmax where even Pmax is too few', () => {
    const found = restingMarkRatio((40 * GBPS) / 16, published, 1000);
    expect(found).toBeCloseTo(0.010872745619913408, 7);
    expect(queueOfMarkRatio(curve, found)).toBe(200e3);
  });

  it('is one curve: a lower rate needs more marks, and the table gives the rate back', () => {
    const table = new ReactionCurve(published, 40 * GBPS, 1000);
    fc.assert(
      fc.property(fc.double({ min: 0.02, max: 39, noNaN: true }), (gbps) => {
        const rate = gbps * GBPS;
        const hazard = table.hazardAt(rate);
        expect(table.rateAt(hazard) / rate).toBeCloseTo(1, 6);
        expect(table.rateAt(hazard * 1.1)).toBeLessThan(rate);
        expect(-Math.expm1(-hazard) / restingMarkRatio(rate, published, 1000)).toBeCloseTo(1, 2);
      }),
    );
    expect(table.rateAt(0)).toBe(Infinity);
    expect(table.rateAt(40)).toBe(published.minRate);
  });
});
