import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ClockOffset } from './clock-offset.js';

const ms = (text: number): number => text * 1e6;

describe('the offset of another clock', () => {
  it('is off by no more than it says, however long the ways take and however the clocks drift', () => {
    const way = fc.integer({ min: 0, max: 80e6 });
    const question = fc.record({ out: way, back: way, pause: fc.integer({ min: 0, max: 3e9 }) });
    fc.assert(
      fc.property(
        fc.integer({ min: -1e15, max: 1e15 }),
        fc.double({ min: -900e-6, max: 900e-6, noNaN: true }),
        fc.array(question, { minLength: 1, maxLength: 20 }),
        (offsetNs, drift, questions) => {
          const there = (atNs: number): number => offsetNs + atNs * (1 + drift);
          const clock = new ClockOffset();
          let nowNs = 0;
          for (const { out, back, pause } of questions) {
            nowNs += pause;
            clock.add(nowNs, there(nowNs + out), nowNs + out + back);
            nowNs += out + back;
            // a rounding of doubles of 1e15
            expect(Math.abs(clock.hereNs(there(nowNs)) - nowNs)).toBeLessThanOrEqual(
              clock.errorNs(nowNs) + 1,
            );
          }
        },
      ),
    );
  });

  it('goes by the quickest answer as long as that is not too old', () => {
    const clock = new ClockOffset();
    clock.add(0, ms(100), ms(40));
    expect(clock.errorNs(ms(40)) / 1e6).toBeCloseTo(20.04, 6);
    clock.add(ms(50), ms(131), ms(52));
    expect(clock.errorNs(ms(52)) / 1e6).toBeCloseTo(1.002, 6);
    expect(clock.hereNs(ms(131))).toBe(ms(51));
    clock.add(ms(60), ms(150), ms(80));
    expect(clock.hereNs(ms(131))).toBe(ms(51));
    // a quarter of a minute later drift may have come to 15 ms
    expect(clock.errorNs(ms(15_050)) / 1e6).toBeCloseTo(16, 6);
    clock.add(ms(15_050), ms(15_140), ms(15_058));
    expect(clock.errorNs(ms(15_050)) / 1e6).toBe(4);
  });

  it('begins anew when the other clock has jumped', () => {
    const clock = new ClockOffset();
    clock.add(0, ms(81), ms(2));
    clock.add(ms(1000), ms(61_080), ms(1020));
    expect(clock.hereNs(ms(61_080))).toBe(ms(1010));
  });

  it('is not known before the first answer', () => {
    expect(new ClockOffset().errorNs(0)).toBe(Infinity);
    expect(() => new ClockOffset().hereNs(0)).toThrow();
  });
});
