import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { lostAgainstTwin, shapleyShares } from './lost-time.js';
import { drill, END_S, evidenceOf, jobs, STORY } from '../testing/synthetic-drill.js';

const S = 1e9;
const calm = evidenceOf({ ...STORY, exposedStallS: 0 });
const lostS = (story: Partial<typeof STORY>): number =>
  lostAgainstTwin(evidenceOf({ ...STORY, ...story }), calm, jobs, END_S * S)! / S;

describe('lost GPU time against the twin', () => {
  it('is the time that the step counter lags behind, on every GPU of the job', () => {
    expect(lostS({ exposedStallS: 0 })).toBe(0);
    expect(lostS({ exposedStallS: 2 })).toBeCloseTo(4 * 2, 6);
    expect(lostS({ exposedStallS: 2, bystanderStallS: 1 })).toBeCloseTo(4 * 3, 6);
  });

  it('of less than a tenth of a step is none', () => {
    expect(lostS({ exposedStallS: 0.04 })).toBe(0);
    expect(lostS({ exposedStallS: 0.06 })).toBeCloseTo(4 * 0.06, 6);
  });

  it('goes on while a job waits for a step that never ends', () => {
    expect(lostS({ exposedDiesS: 30, exposedStallS: 0 })).toBeCloseTo(4 * (END_S - 30 - 0.5), 0);
  });

  it('is not known without a step log', () => {
    const { evidence } = drill({}, { evidence: { fromNs: 0, toNs: 1, series: [] } });
    expect(lostAgainstTwin(evidence, calm, jobs, END_S * S)).toBeNull();
  });
});

describe('shares of several faults', () => {
  it('are all of it for one, and halves for two that cost the same', () => {
    expect(shapleyShares(1, [0, 7])).toEqual([1]);
    expect(shapleyShares(2, [0, 5, 5, 10])).toEqual([0.5, 0.5]);
  });

  it('give what two share to both: each alone costs as much as both together', () => {
    expect(shapleyShares(2, [0, 10, 10, 10])).toEqual([0.5, 0.5]);
    expect(shapleyShares(2, [0, 10, 0, 10])).toEqual([1, 0]);
  });

  it('are not known when nothing was lost', () => {
    expect(shapleyShares(2, [0, 0, 0, 0])).toBeNull();
  });

  it('add up to one, and do not depend on the order of the faults', () => {
    const cost = fc.double({ min: 0, max: 100, noNaN: true });
    fc.assert(
      fc.property(fc.array(cost, { minLength: 7, maxLength: 7 }), (some) => {
        const worth = [0, ...some];
        fc.pre(worth[7] > 1e-6);
        const shares = shapleyShares(3, worth)!;
        expect(shares.reduce((sum, one) => sum + one, 0)).toBeCloseTo(1, 6);
        const swapped = worth.map((_, bits) => worth[(bits & 4) | ((bits & 1) << 1) | ((bits & 2) >> 1)]);
        const [a, b, c] = shapleyShares(3, swapped)!;
        expect([b, a, c].every((one, at) => Math.abs(one - shares[at]) < 1e-6)).toBe(true);
      }),
    );
  });
});
