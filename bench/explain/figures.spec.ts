import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { brier, quantile, reliability, shareOf, type Counted } from './figures.js';
import { countedCase, gradeWith } from './testing/results.js';

describe('figures', () => {
  test('a share of nothing is unknown, not 0', () => {
    expect(shareOf([], () => true)).toBeNull();
    expect(quantile([], 0.95)).toBeNull();
  });

  test('a quantile is one of the values, and at least so many are not above it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ noNaN: true }), { minLength: 1 }),
        fc.double({ min: 0.01, max: 1, noNaN: true }),
        (values, share) => {
          const found = quantile(values, share)!;
          expect(values).toContain(found);
          expect(values.filter((value) => value <= found).length).toBeGreaterThanOrEqual(
            Math.floor(share * values.length),
          );
        },
      ),
    );
  });

  test('a case that was never explained is the last of all', () => {
    expect(quantile([1, 2, Infinity], 0.95)).toBe(Infinity);
    expect(quantile([...Array<number>(39).fill(1), Infinity], 0.95)).toBe(1);
  });

  test('every named culprit is in one bin of the reliability table', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0.5, max: 1, noNaN: true })), (probabilities) => {
        const claims = probabilities.map((probability) => ({ probability, right: probability > 0.8 }));
        const bins = reliability([countedCase({ ours: gradeWith({ claims }) })]);
        expect(bins.reduce((sum, bin) => sum + bin.claims, 0)).toBe(probabilities.length);
        for (const { from, to, stated } of bins) {
          if (stated === null) continue;
          expect(stated).toBeGreaterThanOrEqual(from - 1e-12);
          expect(stated).toBeLessThanOrEqual(to + 1e-12);
        }
      }),
    );
  });

  test('an alarm on a control costs the square of its probability, silence nothing, abstention is not asked', () => {
    const alarm = gradeWith({ claims: [{ probability: 0.8, right: false }], falseAlarm: true });
    const control = (ours: Counted['ours']): Counted => countedCase({ control: 'nothing', ours });
    expect(brier([control(alarm)])).toBeCloseTo(0.64);
    expect(brier([control(alarm), control(gradeWith({}))])).toBeCloseTo(0.32);
    expect(brier([control(gradeWith({ abstained: true }))])).toBeNull();
  });
});
