/**
 * What may be wrong in an accuracy case: per fault, its kind, the elements it may hit, and how bad it may be.
 *
 * Magnitudes follow what is reported from the field (link rates and PCIe slots as they exist, fail-slow GPUs of FALCON,
 * arXiv 2410.12588: from a tenth to several times slower), not what the diagnosis expects.
 */
import type { FabricSpecInput } from '../../src/fabrics/contract/definition.js';
import type { Prng } from '../../src/kernel/prng.js';
import type { ElementRef } from '../../src/telemetry/vocabulary.js';
import type { Topology } from '../../src/topology/model.js';

export interface AccuracyFault {
  kind: string;
  /** Tiers it can hit. */
  tiers: readonly string[];
  targets: (topology: Topology, tier: string) => ElementRef[];
  parameters: (random: Prng) => Record<string, unknown>;
  /** The fabric it needs, where any will not do. */
  fabric?: FabricSpecInput['topology'];
  /** Whether an operator's monitoring states it outright; gray faults show only in counters or traffic. */
  class: 'hard' | 'gray';
}

const LINK_TIERS = ['host-leaf', 'leaf-spine'];

const links = (topology: Topology, tier: string): ElementRef[] =>
  topology.links.filter((link) => link.tier === tier).map(({ id }) => ({ type: 'link', id }));
const devices = (topology: Topology, tier: string): ElementRef[] =>
  topology.devices
    .filter((device) => device.tier === tier)
    .map(({ name }) => ({ type: 'device', id: `device:${name}` }));
const nics = (topology: Topology): ElementRef[] =>
  topology.nics.map(({ name }) => ({ type: 'nic', id: `nic:${name}` }));

const pick = <T>(random: Prng, choices: readonly T[]): T => choices[random.below(choices.length)];
const either = (random: Prng): string => pick(random, ['lower', 'upper']);

const hard = (fault: Omit<AccuracyFault, 'class'>): AccuracyFault => ({ ...fault, class: 'hard' });
const onLinks = { kind: 'link-down', tiers: LINK_TIERS, targets: links };
const slowLink = { kind: 'speed-downgrade', tiers: LINK_TIERS, targets: links };
const slowSlot = (random: Prng) => ({
  variant: 'pcie',
  generation: 1 + random.below(4),
  lanes: pick(random, [4, 8, 16]),
});
const lanes = (random: Prng) => {
  const all = pick(random, [4, 8]);
  return { variant: 'lane-loss', lanes: all, lost: 1 + random.below(all - 1) };
};
const slowdown = (random: Prng): number => 1.1 + 2 * random.uniform();

const signal = (random: Prng) => ({
  cause: pick(random, ['connector', 'laser', 'serdes']),
  from: pick(random, ['lower', 'upper', 'lower', 'upper', 'both']),
});

export const ACCURACY_FAULTS = {
  admin: hard({ ...onLinks, parameters: (random) => ({ variant: 'admin', end: either(random) }) }),
  cut: hard({ ...onLinks, parameters: () => ({ variant: 'cut' }) }),
  flap: hard({
    ...onLinks,
    parameters: (random) => ({
      variant: 'flap',
      downFor: `${200 + random.below(1800)}ms`,
      upFor: `${500 + random.below(3500)}ms`,
      jitter: 0.5 * random.uniform(),
    }),
  }),
  'one-way': {
    ...onLinks,
    parameters: (random) => ({ variant: 'one-way', from: either(random) }),
    class: 'gray',
  },
  'dual-nic': hard({
    kind: 'link-down',
    tiers: ['nic'],
    targets: nics,
    fabric: { builder: 'dual-tor-dual-plane', hosts: 8, gpusPerHost: 8, spinesPerPlane: 2 },
    parameters: () => ({ variant: 'cut' }),
  }),
  node: hard({
    kind: 'link-down',
    tiers: ['host', 'leaf', 'spine'],
    targets: devices,
    parameters: () => ({ variant: 'node' }),
  }),
  renegotiated: hard({
    ...slowLink,
    parameters: (random) => ({
      variant: 'renegotiated',
      rate: `${pick(random, [10, 25, 40, 50, 100, 200])}Gbps`,
    }),
  }),
  'lane-loss': hard({ ...slowLink, parameters: lanes }),
  'slow-switch': hard({
    kind: 'speed-downgrade',
    tiers: ['leaf', 'spine'],
    targets: devices,
    parameters: (random) => ({ variant: 'renegotiated', rate: `${pick(random, [50, 100, 200])}Gbps` }),
  }),
  pcie: hard({ kind: 'speed-downgrade', tiers: ['nic'], targets: nics, parameters: slowSlot }),
  'pcie-host': hard({ kind: 'speed-downgrade', tiers: ['host'], targets: devices, parameters: slowSlot }),
  'slow-gpu': hard({
    kind: 'straggler',
    tiers: ['host'],
    targets: devices,
    parameters: (random) => ({ variant: 'gpu', gpu: random.below(8), slowdown: slowdown(random) }),
  }),
  'slow-host': hard({
    kind: 'straggler',
    tiers: ['host'],
    targets: devices,
    parameters: (random) => ({ variant: 'host', slowdown: slowdown(random) }),
  }),
  optic: {
    kind: 'optic-error',
    tiers: LINK_TIERS,
    targets: links,
    parameters: (random) => ({
      variant: 'constant',
      ber: 10 ** (-3.4 + 0.7 * random.uniform()),
      ...signal(random),
    }),
    class: 'gray',
  },
  'optic-ramp': {
    kind: 'optic-error',
    tiers: LINK_TIERS,
    targets: links,
    parameters: (random) => ({
      variant: pick(random, ['stepped', 'ramped']),
      toBer: 10 ** (-3.3 + 0.5 * random.uniform()),
      ...signal(random),
    }),
    class: 'gray',
  },
} satisfies Record<string, AccuracyFault>;

export type FaultName = keyof typeof ACCURACY_FAULTS;
export const FAULT_NAMES = Object.keys(ACCURACY_FAULTS) as FaultName[];
