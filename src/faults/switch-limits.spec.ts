/** Faults of guards against congestion on fabrics that lack the guard, and settings that are out of line the wrong way. */
import { describe, expect, it } from '@jest/globals';
import type { CongestionDescription, SwitchBuffering } from '../fabric-api/fabric.js';
import type { Impairment } from '../fabric-api/impairment.js';
import { ecmpCollision } from './ecmp-collision.js';
import { ecnMisconfig } from './ecn-misconfig.js';
import type { AnyFaultKind } from './catalog.js';
import { incast } from './incast.js';
import { pauseStorm } from './pause-storm.js';
import { pfcMisconfig } from './pfc-misconfig.js';
import { compileWith, refusalOf } from './testing/compile.js';

const BUFFERING: SwitchBuffering = {
  kminBytes: 1.6e6,
  kmaxBytes: 6.4e6,
  pmax: 0.2,
  bufferBytes: 128e6,
  headroomBytes: 158e3,
  freeShare: 0.125,
};

const congestion = (
  changes: Partial<CongestionDescription> = {},
  buffering: Partial<SwitchBuffering> = {},
): CongestionDescription => ({
  priorities: [3, 6],
  losslessPriorities: [3],
  dcqcn: true,
  ofSwitch: () => ({ ...BUFFERING, ...buffering }),
  ...changes,
});

const LEAF = ['device:leaf-1'];
const NIC = ['nic:host-2/nic-0'];

const refused = (
  kind: AnyFaultKind,
  params: Record<string, unknown>,
  targets: string[],
  known = congestion(),
) => refusalOf(() => compileWith(kind, params, targets, { congestion: known }));

const curveOf = (params: Record<string, unknown>, known = congestion()) =>
  compileWith(ecnMisconfig, params, LEAF, { congestion: known }).impairments[0].impairment as Extract<
    Impairment,
    { type: 'ecn-marking' }
  >;

describe('marking thresholds', () => {
  it.each<[Record<string, unknown>, string, RegExp, RegExp]>([
    [
      { variant: 'too-high', kmin: '1MB', kmax: '20MB' },
      '/params/kmin',
      /kmin of 1MB is not too high for device:leaf-1, whose kmin is 1.6MB/,
      /more than 1.6MB, or write variant: too-low/,
    ],
    [{ variant: 'too-high', kmin: '1.6MB' }, '/params/kmin', /whose kmin is 1.6MB/, /more than 1.6MB/],
    [
      { variant: 'too-high', kmin: '2MB', kmax: '3MB' },
      '/params/kmax',
      /kmax of 3MB is not too high.*whose kmax is 6.4MB/,
      /at least 6.4MB/,
    ],
    [
      { variant: 'too-low', kmin: '5MB', kmax: '6MB' },
      '/params/kmin',
      /kmin of 5MB is not too low for device:leaf-1, whose kmin is 1.6MB/,
      /less than 1.6MB, or write variant: too-high/,
    ],
    [
      { variant: 'too-low', kmin: '1MB', kmax: '7MB' },
      '/params/kmax',
      /kmax of 7MB is not too low.*whose kmax is 6.4MB/,
      /at most 6.4MB/,
    ],
    [
      { variant: 'too-high', kmin: '200MB' },
      '/params/kmin',
      /200MB is more than the whole buffer of device:leaf-1 \(128MB\)/,
      /at most 128MB, or write variant: off/,
    ],
    [
      { variant: 'too-high', kmin: '20MB', kmax: '129MB' },
      '/params/kmax',
      /129MB is more than the whole buffer/,
      /at most 128MB/,
    ],
    [
      { variant: 'too-high', kmin: '20MB', kmax: '10MB' },
      '/params/kmax',
      /kmax \(10MB\) is below kmin \(20MB\)/,
      /marking begins at kmin/,
    ],
  ])('%j are refused, with what the switch has', (params, pointer, message, hint) => {
    expect(refused(ecnMisconfig, params, LEAF)).toEqual({
      pointer,
      message: expect.stringMatching(message),
      hint: expect.stringMatching(hint),
    });
  });

  it('that are left out lie within the buffer and beyond those of the switch', () => {
    expect(curveOf({ variant: 'too-high' })).toMatchObject({ kminBytes: 64e6, kmaxBytes: 128e6 });
    expect(curveOf({ variant: 'too-high', kmin: '2MB' })).toMatchObject({ kminBytes: 2e6, kmaxBytes: 6.4e6 });
    expect(curveOf({ variant: 'too-low', kmin: '1.5MB' })).toMatchObject({ kmaxBytes: 3e6 });
    const steep = congestion({}, { kmaxBytes: 2e6 });
    expect(curveOf({ variant: 'too-low', kmin: '1.5MB' }, steep)).toMatchObject({ kmaxBytes: 2e6 });
  });

  it('are not those of a fabric on which nobody heeds marks, or that never marks', () => {
    for (const variant of ['too-high', 'too-low', 'off']) {
      const issue = refused(ecnMisconfig, { variant }, LEAF, congestion({ dcqcn: false }));
      expect(issue).toMatchObject({ pointer: '/kind', message: expect.stringContaining('DCQCN is off') });
    }
    const unmarked = congestion({}, { pmax: 0 });
    expect(refused(ecnMisconfig, { variant: 'off' }, LEAF, unmarked).message).toMatch(/never marks as it is/);
    expect(refused(ecnMisconfig, { variant: 'too-high' }, LEAF, unmarked).pointer).toBe('/params/variant');
    expect(curveOf({ variant: 'too-low' }, unmarked).pmax).toBe(1);
  });
});

describe('pause settings', () => {
  it.each<[Record<string, unknown>, string, RegExp]>([
    [
      { variant: 'headroom', headroom: '129MB' },
      '/params/headroom',
      /more than the whole buffer of device:leaf-1 \(128MB\)/,
    ],
    [
      { variant: 'headroom', headroom: '158kB' },
      '/params/headroom',
      /not too little for device:leaf-1, which has 158kB/,
    ],
    [
      { variant: 'alpha', alpha: 0.125 },
      '/params/alpha',
      /pause no earlier than it does: its alpha is 0.125/,
    ],
  ])('%j are refused, with what the switch has', (params, pointer, message) => {
    expect(refused(pfcMisconfig, params, LEAF)).toMatchObject({
      pointer,
      message: expect.stringMatching(message),
      hint: expect.stringMatching(/^give less than/),
    });
  });

  it.each([['headroom'], ['alpha'], ['off']])('%s is refused where PFC is off', (variant) => {
    const known = congestion({ losslessPriorities: [] });
    expect(refused(pfcMisconfig, { variant }, LEAF, known)).toMatchObject({
      pointer: '/kind',
      message: expect.stringContaining('PFC is off on this fabric'),
    });
  });
});

describe('a traffic class', () => {
  it.each(['continuous', 'intermittent'])('that is not paused makes no storm (%s)', (variant) => {
    expect(refused(pauseStorm, { variant, priority: 6 }, NIC)).toMatchObject({
      pointer: '/params/priority',
      message: expect.stringMatching(/priority 6 is no PFC class .* PFC classes are 3/),
    });
    expect(refused(pauseStorm, { variant }, NIC, congestion({ losslessPriorities: [] })).pointer).toBe(
      '/kind',
    );
  });

  it.each<[string, AnyFaultKind, Record<string, unknown>, string[]]>([
    ['pause-storm', pauseStorm, { variant: 'continuous', priority: 5 }, NIC],
    ['incast', incast, { variant: 'burst', senders: 4, priority: 5 }, NIC],
    ['ecmp-collision', ecmpCollision, { variant: 'low-entropy', priority: 5 }, LEAF],
  ])('without queues is refused by %s, with those there are', (_, kind, params, targets) => {
    expect(refused(kind, params, targets)).toMatchObject({
      pointer: '/params/priority',
      message: "no queue serves priority 5; the fabric's classes are 3, 6",
    });
  });
});

describe('a fabric that does not tell how it is set', () => {
  it.each<[AnyFaultKind, Record<string, unknown>, string[]]>([
    [ecnMisconfig, { variant: 'too-high', kmin: '1kB' }, LEAF],
    [pfcMisconfig, { variant: 'alpha', alpha: 4 }, LEAF],
    [pauseStorm, { variant: 'continuous', priority: 6 }, NIC],
  ])('is not held to settings (%#)', (kind, params, targets) => {
    expect(compileWith(kind, params, targets).impairments.length).toBeGreaterThan(0);
  });
});
