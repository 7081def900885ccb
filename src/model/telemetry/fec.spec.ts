import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  codewordErrorRatio,
  codewordsPerFrame,
  correctedCodewordRatio,
  FEC_CODES,
  FEC_CORRECTABLE,
  FEC_SYMBOLS,
  frameLossRatio,
  symbolErrorRatio,
} from './fec.js';

const anyRatio = fc.double({ min: 0, max: 0.5, noNaN: true });

describe('RS(528,514)', () => {
  it('corrects less: worse by orders of magnitude before its cliff, never better', () => {
    const [few, most] = [FEC_CODES.rs528, FEC_CODES.rs544];
    expect(codewordErrorRatio(2e-4, few) / codewordErrorRatio(2e-4, most)).toBeGreaterThan(1e5);
    fc.assert(
      fc.property(anyRatio, (bitErrorRatio) => {
        const worse = codewordErrorRatio(bitErrorRatio, few);
        expect(worse).toBeGreaterThanOrEqual(codewordErrorRatio(bitErrorRatio, most) * (1 - 1e-9));
      }),
    );
  });

  it('loses a codeword when more than seven of 528 symbols are wrong', () => {
    // Straight from the binomial, where its tail is large enough to be summed as it stands.
    const p = symbolErrorRatio(3e-3);
    let kept = 0;
    let term = (1 - p) ** 528;
    for (let count = 0; count <= 7; count++) {
      kept += term;
      term *= ((528 - count) / (count + 1)) * (p / (1 - p));
    }
    expect(codewordErrorRatio(3e-3, FEC_CODES.rs528)).toBeCloseTo(1 - kept, 10);
  });
});

describe('RS(544,514)', () => {
  it('lets nothing through without bit errors, and everything fail at one half', () => {
    expect([codewordErrorRatio(0), frameLossRatio(0, 1068), correctedCodewordRatio(0)]).toEqual([0, 0, 0]);
    expect(codewordErrorRatio(0.5)).toBe(1);
    expect(frameLossRatio(0.5, 64)).toBe(1);
  });

  it('is a cliff: four times the bit errors lose a frame a hundred million times as often', () => {
    expect(frameLossRatio(1e-3, 1068) / frameLossRatio(2.5e-4, 1068)).toBeGreaterThan(1e7);
    expect(frameLossRatio(2e-3, 1068) / frameLossRatio(5e-4, 1068)).toBeGreaterThan(1e6);
  });

  it('calls a codeword corrected that has one to fifteen wrong symbols', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-6, max: 1e-2, noNaN: true }), (bitErrorRatio) => {
        const wrong = symbolErrorRatio(bitErrorRatio);
        let share = (1 - wrong) ** FEC_SYMBOLS;
        let corrected = 0;
        for (let count = 1; count <= FEC_CORRECTABLE; count++) {
          share *= ((FEC_SYMBOLS - count + 1) / count) * (wrong / (1 - wrong));
          corrected += share;
        }
        expect(correctedCodewordRatio(bitErrorRatio)).toBeCloseTo(corrected, 9);
      }),
    );
  });

  it('is worse with more bit errors and with longer frames', () => {
    fc.assert(
      fc.property(anyRatio, anyRatio, (first, second) => {
        const [low, high] = first < second ? [first, second] : [second, first];
        expect(codewordErrorRatio(low)).toBeLessThanOrEqual(codewordErrorRatio(high) * (1 + 1e-9));
        expect(frameLossRatio(low, 64)).toBeLessThanOrEqual(frameLossRatio(low, 9000));
      }),
    );
    expect(codewordsPerFrame(642.5)).toBe(2);
  });

  it.each([-1e-9, 0.51, NaN])('refuses a bit-error ratio of %d', (bitErrorRatio) => {
    expect(() => codewordErrorRatio(bitErrorRatio)).toThrow('between 0 and 0.5');
  });
});
