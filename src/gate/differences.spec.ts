import { describe, expect, it } from '@jest/globals';
import { fabricDocument, type Json } from '../../test/support/definitions.js';
import { fabricSpecSchema } from '../fabrics/contract/definition.js';
import { specDifferences } from './differences.js';

const spec = (settings: Json, topology: Json = {}): unknown => {
  const { spec: usual } = fabricDocument('any') as { spec: { topology: Json } };
  return fabricSpecSchema.parse({ ...usual, settings, topology: { ...usual.topology, ...topology } });
};

describe('what two fabrics differ in', () => {
  it('is told in the units that a file has', () => {
    const before = spec({ bfdInterval: '300ms', ecn: { kmin: '100KiB', kmax: '400KiB' } });
    const after = spec(
      { bfdInterval: '1s', ecn: { kmin: '200KiB', kmax: '400KiB' }, bfd: false },
      { hostRate: '50Gbps' },
    );
    expect(specDifferences(before, after, fabricSpecSchema)).toEqual([
      expect.stringMatching(/^topology.hostRate: \d+Gbps → 50Gbps$/),
      'settings.bfd: true → false',
      'settings.bfdInterval: 300ms → 1s',
      expect.stringMatching(/^settings.ecn.kmin: 102.*B → 204.*B$/),
    ]);
  });

  it('is nothing where only the writing differs', () => {
    expect(
      specDifferences(
        spec({ bfdInterval: '1s', bfd: true }),
        spec({ bfdInterval: '1000ms' }),
        fabricSpecSchema,
      ),
    ).toEqual([]);
  });
});
