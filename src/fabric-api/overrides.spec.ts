import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { InputError } from '../core/problem.js';
import { Override, savedValue, type ImpairedSetting } from './overrides.js';
import type { SettingValue } from './setting.js';

const gbps = (value: SettingValue): number => (typeof value === 'string' ? Infinity : Number(value.rateGbps));
const speed: ImpairedSetting = {
  element: 'link:a--b',
  setting: 'speed',
  impaired: { rateGbps: 1 },
  accepts: (value) => gbps(value) > 0,
  worse: (one, other) => (gbps(one) < gbps(other) ? one : other),
};

describe('an overridden setting', () => {
  it('stands at the worst of what is wanted, and where it was when nothing is', () => {
    const step = fc.record({
      id: fc.constantFrom('a', 'b', 'c'),
      rate: fc.option(fc.integer({ min: 1, max: 9 })),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.array(step), (before, steps) => {
        const override = new Override({ rateGbps: before }, speed.worse);
        const wanted = new Map<string, number>();
        for (const { id, rate } of steps) {
          if (rate === null) {
            override.drop(id);
            wanted.delete(id);
          } else {
            override.want(id, { rateGbps: rate });
            wanted.set(id, rate);
          }
          expect(override.value).toEqual({ rateGbps: Math.min(before, ...wanted.values()) });
          expect(override.isHeld).toBe(wanted.size > 0);
          expect(override.has(id)).toBe(wanted.has(id));
        }
      }),
    );
  });
});

describe('what was saved', () => {
  it('is what the setting goes back to', () => {
    expect(savedValue(speed, { 'link:a--b': { speed: { rateGbps: 40 } } })).toEqual({ rateGbps: 40 });
  });

  it.each([
    ['nothing', {}],
    ['no speed', { 'link:a--b': { speed: { rateGbps: 0 } } }],
  ])('and is %s is refused', (_, saved) => {
    expect(() => savedValue(speed, saved)).toThrow(InputError);
  });
});
