import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { medianInterval, repeatedFigures } from './repeats.js';
import { scoreRun } from './score.js';
import { unknownScores } from './scorecard.js';
import { drill } from './testing/synthetic-drill.js';

describe('the median of several seeds', () => {
  it('has the interval and confidence of the order statistics', () => {
    // tables of the sign test: n = 6 gives 96.9 % for the extremes, n = 10 gives 97.9 % for the 2nd and 9th
    expect(medianInterval([6, 1, 5, 2, 4, 3])).toEqual({ median: 3.5, low: 1, high: 6, confidence: 0.96875 });
    const ten = medianInterval([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(ten).toMatchObject({ median: 5.5, low: 2, high: 9 });
    expect(ten.confidence).toBeCloseTo(0.9785, 4);
    // of 20, at most 5 heads: 1 + 20 + 190 + 1140 + 4845 + 15504 of 2^20 on either side
    const twenty = medianInterval(Array.from({ length: 20 }, (_, at) => at + 1));
    expect(twenty).toMatchObject({ median: 10.5, low: 6, high: 15 });
    expect(twenty.confidence).toBeCloseTo(1 - (2 * 21_700) / 2 ** 20, 12);
  });

  it('says how unsure a few seeds are', () => {
    expect(medianInterval([4])).toEqual({ median: 4, low: 4, high: 4, confidence: 0 });
    expect(medianInterval([4, 9, 5])).toEqual({ median: 5, low: 4, high: 9, confidence: 0.75 });
  });

  it('lies in its interval, which has the wanted confidence from six seeds on', () => {
    const value = fc.double({ min: -1e6, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 60 }), (values) => {
        const { median, low, high, confidence } = medianInterval(values);
        expect(low! <= median! && median! <= high!).toBe(true);
        if (values.length >= 6) expect(confidence!).toBeGreaterThanOrEqual(0.95);
      }),
    );
  });
});

describe('figures over several runs', () => {
  const runs = [1, 2, 3].map((exposedStallS) => scoreRun(drill({ exposedStallS })));
  const figure = (path: string, of = runs) => repeatedFigures(of).find((one) => one.path === path)!;

  it('are the median of each, and the share of yes', () => {
    expect(figure('recovery.time_to_recover_s').median).toBe(runs[1].recovery.metrics.time_to_recover_s);
    expect(figure('recovery.recovered')).toMatchObject({ known: 3, of: 3, median: 1, confidence: null });
  });

  it('count seeds that do not tell instead of guessing', () => {
    expect(figure('recovery.score', [...runs, unknownScores()])).toMatchObject({ known: 3, of: 4 });
    expect(figure('recovery.score', [unknownScores()])).toEqual({
      path: 'recovery.score',
      known: 0,
      of: 1,
      median: null,
      low: null,
      high: null,
      confidence: null,
    });
  });
});
