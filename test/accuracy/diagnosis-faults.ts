/**
 * What may be wrong in an accuracy case: per fault, its kind, the elements it may hit, and how bad it may be.
 *
 * Magnitudes follow what is reported from the field (link rates and PCIe slots as they exist, fail-slow GPUs of FALCON,
 * arXiv 2410.12588: from a tenth to several times slower), not what the diagnosis expects.
 */
import type { FabricSpecInput } from '../../src/fabric-api/definition.js';
import type { Prng } from '../../src/core/prng.js';
import type { ElementRef } from '../../src/model/telemetry/vocabulary.js';
import type { Topology } from '../../src/model/topology/model.js';

export interface AccuracyFault {
  kind: string;
  /** Tiers it can hit. */
  tiers: readonly string[];
  targets: (topology: Topology, tier: string) => ElementRef[];
  parameters: (random: Prng) => Record<string, unknown>;
  /** It hits all targets at once, not one of them. */
  together?: boolean;
  /** It shows only where queues build up: it hits the switch that marked most, or paused most, before. */
  contended?: boolean;
  /** The fabric it needs, where any will not do. */
  fabric?: FabricSpecInput['topology'];
  settings?: FabricSpecInput['settings'];
  /** Whether an operator's monitoring states it outright; gray faults show only in counters or traffic. */
  class: 'hard' | 'gray' | 'congestion' | 'setting';
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
const congestion = (fault: Omit<AccuracyFault, 'class'>): AccuracyFault => ({
  ...fault,
  class: 'congestion',
});
/** Wrong settings that most jobs never feel, and that show only in polls that catch a queue. */
const setting = (fault: Omit<AccuracyFault, 'class'>): AccuracyFault => ({ ...fault, class: 'setting' });
const toNic = { tiers: ['nic'], targets: nics };
/** Senders that together offer up to four times what the receiver's port takes, one in each of the other hosts at most. */
const senders = (random: Prng) => {
  const count = 2 + random.below(6);
  const rate = Math.min(400, Math.ceil((400 * (1.3 + 2.7 * random.uniform())) / count));
  return { senders: count, rate: `${rate}Gbps`, queuePairs: pick(random, [1, 4]) };
};
/** Half as many uplinks as NICs, so that leaves are contended in every step. */
const CONTENDED = {
  builder: 'leaf-spine',
  ...{ leaves: 8, spines: 2, hostsPerLeaf: 1, gpusPerHost: 8, linksPerSpine: 2 },
} as const;
const switches = (topology: Topology): ElementRef[] =>
  ['leaf', 'spine', 'core'].flatMap((tier) => devices(topology, tier));
const onSwitches = { tiers: ['switch'], targets: switches, fabric: CONTENDED, contended: true };
/** Without congestion control queues grow until somebody pauses. */
const pauses = { ...onSwitches, settings: { dcqcn: { on: false } } };
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
  incast: congestion({
    kind: 'incast',
    ...toNic,
    parameters: (random) => ({ variant: 'burst', ...senders(random) }),
  }),
  'incast-storage': congestion({
    kind: 'incast',
    ...toNic,
    parameters: (random) => ({
      variant: 'storage',
      ...senders(random),
      burstFor: `${100 + random.below(400)}ms`,
      quietFor: `${200 + random.below(800)}ms`,
    }),
  }),
  'slow-receiver': congestion({
    kind: 'slow-receiver',
    ...toNic,
    parameters: (random) => ({ variant: 'share', share: 0.05 + 0.4 * random.uniform() }),
  }),
  'pause-storm': congestion({
    kind: 'pause-storm',
    ...toNic,
    parameters: () => ({ variant: 'continuous' }),
  }),
  'pause-storms': congestion({
    kind: 'pause-storm',
    ...toNic,
    parameters: (random) => ({
      variant: 'intermittent',
      stormFor: `${200 + random.below(1500)}ms`,
      quietFor: `${500 + random.below(3000)}ms`,
    }),
  }),
  'ecn-late': setting({
    kind: 'ecn-misconfig',
    ...onSwitches,
    parameters: (random) => ({ variant: pick(random, ['off', 'too-high']) }),
  }),
  'ecn-early': setting({
    kind: 'ecn-misconfig',
    ...onSwitches,
    parameters: (random) => ({ variant: 'too-low', kmin: `${4 + random.below(20)}kB` }),
  }),
  'pfc-off': congestion({ kind: 'pfc-misconfig', ...pauses, parameters: () => ({ variant: 'off' }) }),
  polarised: congestion({
    kind: 'ecmp-collision',
    tiers: ['fabric'],
    targets: switches,
    together: true,
    fabric: {
      builder: 'fat-tree',
      ...{ pods: 4, leavesPerPod: 2, spinesPerPod: 2, uplinksPerSpine: 4, hostsPerLeaf: 1, gpusPerHost: 8 },
    },
    parameters: (random) => ({ variant: 'polarised', seed: random.below(2 ** 32) }),
  }),
  elephants: congestion({
    kind: 'ecmp-collision',
    tiers: ['leaf'],
    targets: devices,
    fabric: CONTENDED,
    parameters: () => ({ variant: 'low-entropy' }),
  }),
} satisfies Record<string, AccuracyFault>;

export type FaultName = keyof typeof ACCURACY_FAULTS;
export const FAULT_NAMES = Object.keys(ACCURACY_FAULTS) as FaultName[];
