import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { durationNs, rateGbps, sizeBytes } from '../core/units.js';
import type { Topology } from '../model/topology/model.js';
import { countDifferences, specDifferences } from './differences.js';

const schema = z.strictObject({
  topology: z.discriminatedUnion('builder', [
    z.strictObject({ builder: z.literal('ring'), rate: sizeBytes }),
    z.strictObject({ builder: z.literal('clos'), rate: rateGbps }),
  ]),
  settings: z.strictObject({
    bfd: z.boolean().default(true),
    bfdInterval: durationNs.optional(),
    ecn: z.strictObject({ kmin: sizeBytes }).prefault({ kmin: '100KiB' }),
  }),
  jobs: z.array(z.strictObject({ pause: durationNs })),
});

const spec = (settings: object, rate = '100Gbps', pause = '1s'): unknown =>
  schema.parse({ topology: { builder: 'clos', rate }, settings, jobs: [{ pause: '3s' }, { pause }] });

describe('what two fabrics differ in', () => {
  it('is told in the units that a file has', () => {
    const after = spec({ bfdInterval: '1s', ecn: { kmin: '200kB' }, bfd: false }, '50Gbps', '250ms');
    expect(specDifferences(spec({ bfdInterval: '300ms' }), after, schema)).toEqual([
      'topology.rate: 100Gbps → 50Gbps',
      'settings.bfd: true → false',
      'settings.bfdInterval: 300ms → 1s',
      'settings.ecn.kmin: 102.4kB → 200kB',
      'jobs.1.pause: 1s → 250ms',
    ]);
    expect(specDifferences(spec({}), spec({ bfdInterval: '2s' }), schema)).toEqual([
      'settings.bfdInterval: (nothing) → 2s',
    ]);
  });

  it('is nothing where only the writing differs', () => {
    const written = spec({ bfd: true, bfdInterval: '1000ms' }, '0.1Tbps');
    expect(specDifferences(spec({ bfdInterval: '1s' }), written, schema)).toEqual([]);
  });

  it('has at most 20 keys, then how many more; a last one is told itself', () => {
    const keys = (count: number, value: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, value]));
    expect(specDifferences(keys(21, 1), keys(21, 2))[20]).toBe('k20: 1 → 2');
    const lines = specDifferences(keys(22, 1), keys(22, 2));
    expect(lines.slice(19)).toEqual(['k19: 1 → 2', 'and 2 more keys']);
  });

  it('is a whole value where one side has a list and the other has not, and long values are cut', () => {
    expect(specDifferences({ a: [1] }, { a: { 0: 1 } })).toEqual(['a: [1] → {"0":1}']);
    expect(specDifferences({ a: null }, { a: 'x'.repeat(58) })).toEqual([`a: null → "${'x'.repeat(58)}"`]);
    expect(specDifferences({ a: null }, { a: 'x'.repeat(59) })).toEqual([`a: null → "${'x'.repeat(56)}…`]);
  });

  it('is counted by what a fabric is made of, on both sides', () => {
    const fabric = (gpus: number, deviceTiers: string[], linkTiers: string[]) =>
      ({
        gpus: Array.from({ length: gpus }),
        nics: [],
        devices: deviceTiers.map((tier) => ({ tier })),
        links: linkTiers.map((tier) => ({ tier })),
      }) as unknown as Topology;
    const before = fabric(8, ['leaf', 'spine'], ['leaf-spine']);
    expect(countDifferences(before, before)).toEqual([]);
    const after = fabric(8, ['leaf', 'spine', 'spine', 'core'], []);
    expect(countDifferences(before, after)).toEqual([
      'devices of tier spine: 1 → 2',
      'links leaf-spine: 1 → 0',
      'devices of tier core: 0 → 1',
    ]);
  });
});
