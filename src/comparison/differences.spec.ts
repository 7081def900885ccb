import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { durationNs, rateGbps, sizeBytes } from '../core/units.js';
import { specDifferences } from './differences.js';

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
});
