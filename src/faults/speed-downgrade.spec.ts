import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Prng } from '../core/prng.js';
import { InputError } from '../core/problem.js';
import type { ElementRef } from '../model/telemetry/vocabulary.js';
import { buildTopology, topologySchema } from '../model/topology/topology-spec.js';
import { pciePayloadGbps, speedDowngrade } from './speed-downgrade.js';

const topology = buildTopology(
  topologySchema.parse({
    builder: 'leaf-spine',
    leaves: 2,
    spines: 2,
    hostsPerLeaf: 2,
    gpusPerHost: 2,
    hostRate: '200Gbps',
    fabricRate: '400Gbps',
  }),
);
const LINK: ElementRef = { type: 'link', id: 'link:host-1/nic-0--leaf-1/p1' };
const LEAF: ElementRef = { type: 'device', id: 'device:leaf-1' };
const NIC: ElementRef = { type: 'nic', id: 'nic:host-1/nic-0' };

const compile = (params: object, ...targets: ElementRef[]) =>
  speedDowngrade.compile(speedDowngrade.parameters.parse(params), targets, {
    topology,
    jobs: [],
    durationNs: 10e9,
    random: new Prng(1),
  });

function issueOf(action: () => unknown): { pointer: string; message: string } {
  try {
    action();
  } catch (error) {
    if (error instanceof InputError) return error.issues[0];
    throw error;
  }
  throw new Error('was accepted');
}

describe('speed-downgrade', () => {
  it('runs a link at the rate that is left, for the whole hold, and names it and its ports', () => {
    const { impairments, truth } = compile({ variant: 'lane-loss', lost: 1, lanes: 4 }, LINK);
    expect(impairments).toEqual([
      { impairment: { type: 'link-rate', link: LINK.id, rateGbps: 150 }, atNs: 0, untilNs: 10e9 },
    ]);
    expect(truth).toHaveLength(1);
    expect(truth[0]).toMatchObject({ kind: 'speed-downgrade', side: 'cable', direction: 'both' });
    expect(truth[0].elements.map(({ id }) => id)).toEqual([LINK.id, 'port:host-1/nic-0', 'port:leaf-1/p1']);
  });

  it('leaves a positive part of the rated speed, whatever lanes are lost', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 16 }), fc.integer({ min: 1, max: 15 }), (lanes, lost) => {
        fc.pre(lost < lanes);
        const [{ impairment }] = compile({ variant: 'lane-loss', lost, lanes }, LINK).impairments;
        if (impairment.type !== 'link-rate') throw new Error(impairment.type);
        expect(impairment.rateGbps).toBeGreaterThan(0);
        expect(impairment.rateGbps).toBeLessThan(200);
      }),
    );
  });

  it('slows every link of a switch and names the switch, once', () => {
    const { impairments, truth } = compile(
      { variant: 'renegotiated', rate: '100Gbps' },
      { type: 'device', id: 'device:spine-1' },
    );
    expect(impairments).toHaveLength(2);
    expect(truth.map(({ elements }) => elements)).toEqual([[{ type: 'device', id: 'device:spine-1' }]]);
  });

  it('slows the host side of one NIC, or of all NICs of a host, and touches no link', () => {
    const params = { variant: 'pcie', generation: 3, lanes: 16 };
    const one = compile(params, NIC);
    expect(one.impairments.map(({ impairment }) => impairment)).toEqual([
      { type: 'nic-host-rate', nic: NIC.id, rateGbps: expect.closeTo(106, 0) },
    ]);
    expect(one.truth[0]).toMatchObject({ elements: [NIC], side: 'host' });
    expect(compile(params, { type: 'device', id: 'device:host-1' }).impairments).toHaveLength(2);
  });

  it('knows what PCIe slots carry: about 50 Gbit/s for 3.0 x8, and twice as much for twice the lanes', () => {
    expect(pciePayloadGbps(3, 8)).toBeGreaterThan(50);
    expect(pciePayloadGbps(3, 8)).toBeLessThan(55);
    expect(pciePayloadGbps(5, 16)).toBeCloseTo(2 * pciePayloadGbps(5, 8), 9);
    for (let generation = 2; generation <= 6; generation++) {
      expect(pciePayloadGbps(generation, 16)).toBeGreaterThan(pciePayloadGbps(generation - 1, 16));
    }
  });

  it.each([
    ['a rate above the port', { variant: 'renegotiated', rate: '400Gbps' }, LINK, '/params/rate', '200Gbps'],
    ['the rate it has', { variant: 'renegotiated', rate: '200Gbps' }, LINK, '/params/rate', '200Gbps'],
    [
      'a slot that is fast enough',
      { variant: 'pcie', generation: 5, lanes: 16 },
      NIC,
      '/params/generation',
      '200Gbps',
    ],
    ['PCIe of a switch', { variant: 'pcie' }, LEAF, '/target', 'switch'],
  ])('refuses %s, and names the limit', (_, params, target, pointer, word) => {
    const issue = issueOf(() => compile(params, target));
    expect(issue.pointer).toBe(pointer);
    expect(issue.message).toContain(word);
  });

  it.each([
    ['all lanes lost', { variant: 'lane-loss', lost: 4, lanes: 4 }],
    ['no rate at all', { variant: 'renegotiated', rate: '0Gbps' }],
    ['a bare number', { variant: 'renegotiated', rate: 100 }],
    ['a lane count that no slot has', { variant: 'pcie', lanes: 3 }],
    ['a generation that does not exist', { variant: 'pcie', generation: 9 }],
    ['an unknown variant', { variant: 'duplex' }],
    ['a key of another variant', { variant: 'pcie', rate: '100Gbps' }],
  ])('refuses %s in the file', (_, params) => {
    expect(speedDowngrade.parameters.safeParse(params).success).toBe(false);
  });

  it('acts on links only where the variant is about links', () => {
    const types = (params: object) => speedDowngrade.targetTypes(speedDowngrade.parameters.parse(params));
    expect(types({ variant: 'pcie' })).not.toContain('link');
    expect(types({ variant: 'renegotiated' })).toContain('link');
  });
});
