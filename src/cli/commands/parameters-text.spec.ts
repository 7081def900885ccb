import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parse } from 'yaml';
import { FAULT_KINDS } from '../../faults/catalog.js';
import { parametersText } from './parameters-text.js';

const kindOf = (name: string) => FAULT_KINDS.find((kind) => kind.name === name)!;

const textOf = (name: string, params: Record<string, unknown>): string =>
  parametersText(kindOf(name), kindOf(name).parameters.parse(params));

describe('parameters of a fault as text', () => {
  it.each<[string, Record<string, unknown>, string]>([
    [
      'speed-downgrade',
      { variant: 'renegotiated', rate: '25.5Gbps' },
      '{ variant: renegotiated, rate: 25.5Gbps }',
    ],
    ['slow-receiver', { variant: 'rate', rate: '0.1Gbps' }, '{ variant: rate, rate: 100Mbps }'],
    ['slow-receiver', { variant: 'share', share: 0.1 }, '{ variant: share, share: 0.1 }'],
    ['pfc-misconfig', { variant: 'headroom' }, '{ variant: headroom, headroom: 4.096kB }'],
    ['ecn-misconfig', { variant: 'too-low', kmin: '4KB' }, '{ variant: too-low, kmin: 4kB, pmax: 1 }'],
    [
      'pause-storm',
      { variant: 'intermittent' },
      '{ variant: intermittent, priority: 3, stormFor: 400ms, quietFor: 3s, jitter: 0.2 }',
    ],
    ['none', {}, '{}'],
  ])('%s %j has its units', (name, params, text) => {
    expect(textOf(name, params)).toBe(text);
  });

  it('reads back as the parameters that it is of, whatever the rate, the time and the size', () => {
    const digits = fc.double({ min: 1e-9, max: 1e3, noNaN: true });
    fc.assert(
      fc.property(
        digits,
        fc.integer({ min: 1e6, max: 1e13 }),
        fc.integer({ min: 1, max: 1e13 }),
        (rate, every, bytes) => {
          const { parameters } = kindOf('incast');
          const given = parameters.parse({
            variant: 'checkpoint',
            rate: `${rate.toFixed(12)}Gbps`,
            every: `${every}ns`,
            bytes: `${bytes}B`,
          }) as Record<string, number>;
          const back = parameters.parse(parse(parametersText(kindOf('incast'), given))) as Record<
            string,
            number
          >;
          expect(back.rate / given.rate).toBeCloseTo(1, 9);
          expect(back).toEqual({ ...given, rate: back.rate, every: back.every, bytes: back.bytes });
          expect(Math.abs(back.every - given.every)).toBeLessThanOrEqual(given.every * 1e-11);
          expect(Math.abs(back.bytes - given.bytes)).toBeLessThanOrEqual(given.bytes * 1e-11);
        },
      ),
    );
  });
});
