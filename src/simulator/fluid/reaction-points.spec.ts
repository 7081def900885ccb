import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { DcqcnSettings } from './network.js';
import { ReactionPoints } from './reaction-points.js';

const settings: DcqcnSettings = {
  alphaIntervalNs: 1000,
  decreaseIntervalNs: 4000,
  increaseIntervalNs: 300_000,
  gain: 1 / 256,
  fastRecoveryTimes: 1,
  additiveIncrease: 0.0025,
  hyperIncrease: 0.025,
  minRate: 0.125,
  clampTargetRate: false,
};
const LINE_RATE = 12.5;
const one = (changes: Partial<DcqcnSettings> = {}): ReactionPoints =>
  new ReactionPoints({ ...settings, ...changes }, Float64Array.of(LINE_RATE));

describe('a reaction point', () => {
  it('stays at line rate, without a clock, until the first mark', () => {
    const points = one();
    expect(points.advance(0, 1e9)).toBe(false);
    expect(points.rate[0]).toBe(LINE_RATE);
  });

  it('cuts by half of alpha at the end of the decrease interval of its first mark', () => {
    const points = one();
    points.mark(0, 10_000);
    expect(points.advance(0, 13_999)).toBe(false);
    expect(points.advance(0, 14_000)).toBe(true);
    // Alpha was averaged down four times by then; the first mark had set it to 1.
    expect(points.rate[0]).toBeCloseTo(LINE_RATE * (1 - (1 - 1 / 256) ** 4 / 2), 12);
  });

  it('halves the way back to line rate one increase interval after the cut, then raises the target', () => {
    const points = one();
    points.mark(0, 0);
    points.advance(0, 4000);
    const cutRate = points.rate[0];
    points.advance(0, 304_000);
    expect(points.rate[0]).toBeCloseTo((cutRate + LINE_RATE) / 2, 12);
    points.advance(0, 604_000);
    expect(points.rate[0]).toBeCloseTo((cutRate + 3 * LINE_RATE) / 4, 12);
    expect(points.target[0]).toBe(LINE_RATE);
  });

  it('keeps the target through cuts that follow each other, unless it is clamped', () => {
    const afterTwoCuts = (clampTargetRate: boolean): number => {
      const points = one({ clampTargetRate });
      points.mark(0, 0);
      points.advance(0, 4000);
      const firstCut = points.rate[0];
      points.mark(0, 5000);
      points.advance(0, 8000);
      expect(points.cuts[0]).toBe(2);
      return points.target[0] / firstCut;
    };
    expect(afterTwoCuts(true)).toBeCloseTo(1, 12);
    expect(afterTwoCuts(false)).toBeGreaterThan(1.9);
  });

  it('stays between the minimum and the line rate, whatever the marks', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 400_000 }), { maxLength: 60 }), (gapsNs) => {
        const points = one();
        let nowNs = 0;
        for (const gapNs of gapsNs) {
          nowNs += gapNs;
          points.advance(0, nowNs);
          points.mark(0, nowNs);
          expect(points.rate[0]).toBeGreaterThanOrEqual(settings.minRate);
          expect(points.rate[0]).toBeLessThanOrEqual(LINE_RATE);
          expect(points.alpha[0]).toBeGreaterThanOrEqual(0);
          expect(points.alpha[0]).toBeLessThanOrEqual(1);
        }
      }),
    );
  });

  it('never moves without DCQCN', () => {
    const points = new ReactionPoints(null, Float64Array.of(LINE_RATE));
    points.mark(0, 0);
    expect(points.advance(0, 1e9)).toBe(false);
    expect(points.rate[0]).toBe(LINE_RATE);
  });
});
