/** Kinds whose cause is a setting of switches: ecn-misconfig and pfc-misconfig. */
import { describe, expect, it } from '@jest/globals';
import type { Impairment } from '../fabric-api/impairment.js';
import { ecnMisconfig } from './ecn-misconfig.js';
import { pfcMisconfig } from './pfc-misconfig.js';
import { compileWith, refusalOf } from './testing/compile.js';

const LEAF = 'device:leaf-1';
const ALL = ['device:leaf-1', 'device:leaf-2', 'device:spine-1', 'device:spine-2'];
type Marking = Extract<Impairment, { type: 'ecn-marking' }>;

const marking = (params: object): Marking =>
  compileWith(ecnMisconfig, { ...params }, [LEAF]).impairments[0].impairment as Marking;

describe('ecn-misconfig', () => {
  it('marks far above what is usual at that speed, from a packet on, or never', () => {
    const usual = 4000 * 400;
    const tooHigh = marking({ variant: 'too-high' });
    expect(tooHigh.kminBytes).toBeGreaterThan(50 * usual);
    expect(tooHigh.kmaxBytes).toBeGreaterThan(tooHigh.kminBytes);
    const tooLow = marking({ variant: 'too-low' });
    expect(tooLow.kmaxBytes).toBeLessThan(usual / 100);
    expect(tooLow.pmax).toBe(1);
    expect(marking({ variant: 'off' }).pmax).toBe(0);
  });

  it('takes thresholds as they are given, and refuses them in the wrong order', () => {
    expect(marking({ variant: 'too-low', kmin: '10KB', kmax: '50KB', pmax: 0.5 })).toEqual({
      type: 'ecn-marking',
      device: LEAF,
      kminBytes: 10_000,
      kmaxBytes: 50_000,
      pmax: 0.5,
    });
    expect(refusalOf(() => marking({ variant: 'too-low', kmin: '10KB', kmax: '9KB' })).pointer).toBe(
      '/params/kmax',
    );
  });
});

describe('pfc-misconfig', () => {
  it.each([
    ['headroom', { headroom: '1KiB' }, { pfc: true, headroomBytes: 1024 }],
    ['alpha', { alpha: 0.125 }, { pfc: true, freeShare: 0.125 }],
    ['off', {}, { pfc: false }],
  ])('%s changes that and leaves the rest as the fabric has it', (variant, params, buffer) => {
    const { impairments } = compileWith(pfcMisconfig, { variant, ...params }, [LEAF]);
    expect(impairments).toEqual([
      { impairment: { type: 'pfc-buffer', device: LEAF, ...buffer }, atNs: 0, untilNs: 20e9 },
    ]);
  });

  it('refuses an alpha that no switch has', () => {
    for (const alpha of [0, -1, 100]) {
      expect(pfcMisconfig.parameters.safeParse({ variant: 'alpha', alpha }).success).toBe(false);
    }
  });
});

describe.each([
  ['ecn-misconfig', ecnMisconfig, { variant: 'off' }],
  ['pfc-misconfig', pfcMisconfig, { variant: 'off' }],
] as const)('%s', (name, kind, params) => {
  const compile = (targets: string[]) => compileWith(kind as typeof pfcMisconfig, params, targets);

  it('on some switches is a fault of each, on all of them one fault that any of them shows', () => {
    expect(
      compile([LEAF, 'device:spine-2']).truth.map(({ elements }) => elements.map(({ id }) => id)),
    ).toEqual([[LEAF], ['device:spine-2']]);
    const { truth, impairments } = compile(ALL);
    expect(impairments).toHaveLength(4);
    expect(truth).toHaveLength(1);
    expect(truth[0]).toMatchObject({ kind: name, side: 'configuration' });
    expect(truth[0].elements.map(({ id }) => id)).toEqual(ALL);
  });

  it('refuses a host, and says which devices have such a setting', () => {
    const issue = refusalOf(() => compile(['device:host-1']));
    expect(issue).toMatchObject({ pointer: '/target', hint: 'select devices of tier leaf or spine' });
  });
});
