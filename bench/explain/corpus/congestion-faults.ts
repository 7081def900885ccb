/**
 * Congestion faults of the corpus, with magnitudes from what is reported.
 *
 * Sources. Incast: degrees of two to some dozens as in DCQCN (Zhu et al., SIGCOMM 2015) and HPCC (Li et al., SIGCOMM
 * 2019), offered load from a little above the port's rate to line rate of all; checkpoints and storage in bursts (Llama 3
 * report, section 3.3: writes of all hosts at once). Slow receivers and pause storms: Guo et al., SIGCOMM 2016 (a NIC that
 * takes a part of its line rate; storms from a fraction of a second until somebody power-cycles). Marking: DCQCN's
 * 5 kB to 200 kB at 40G, profiles of one to two MiB, and none. Buffers: alpha of 1/64 instead of 1/16 (Guo et al.), headroom
 * too short for the cable, PFC left off. Collisions: Meta (Gangidi et al., SIGCOMM 2024), three tiers hashed alike.
 * Wrong marks and buffers hurt nobody where nothing is contended: their scenes have half as many uplinks as NICs, and the
 * switch is one that marks or pauses there. They run without the other guard (lossy RoCE without PFC, or PFC without
 * DCQCN), which would hide the loss of the one; a small alpha needs both, and many senders (6.2 of Guo et al.).
 */
import type { Prng } from '../../../src/core/prng.js';
import { between, logBetween, pick, whole } from './draw.js';
import {
  anyNic,
  anySwitch,
  oneDevice,
  SINGLE_PORT,
  type FaultEntry,
  type Parameters,
  type Target,
} from './fault-entry.js';
import type { Scene } from './scene.js';

const congestion = (kind: string, variant: string) => ({
  kind,
  name: `${kind}/${variant}`,
  class: 'congestion' as const,
});

/** Two planes of 200G make 400G a NIC as well. */
const NIC_GBPS = 400;

/** Senders, one a host, that offer together so many times what the receiver's port takes. */
function senders(random: Prng, { hosts }: Scene): Parameters & { senders: number } {
  const count = Math.round(logBetween(random, 2, Math.min(hosts - 1, 48)));
  const load = Math.min(count, logBetween(random, 1.2, 8));
  const rate = Math.min(NIC_GBPS, Math.ceil((load * NIC_GBPS) / count));
  return { senders: count, rate: `${rate}Gbps`, queuePairs: pick(random, [1, 2, 4, 8]) };
}

const milliseconds = (random: Prng, least: number, most: number): string =>
  `${Math.round(logBetween(random, least, most))}ms`;

const jittered = (random: Prng) => ({ jitter: between(random, 0, 0.5) });

const everySwitch = (): readonly Target[] => [
  { type: 'device', names: ['leaf-*', 'spine-*', 'core-*'], mode: 'all' },
];

const CONTENDED = { families: SINGLE_PORT, perUplink: 2 } as const;
/** Without congestion control pauses hold the senders, without pauses marks do: what fails is what they rely on. */
const PAUSED = { ...CONTENDED, settings: { dcqcn: { on: false } } } as const;
const LOSSY = { ...CONTENDED, settings: { pfc: { on: false } } } as const;
const MARKS = 'queue_ecn_marked_packets';
const PAUSES = 'port_pause_tx_s';
/** NICs must be what a job waits for, or a slower one is nobody's loss. */
const ROOMY = { perUplink: 1 } as const;
/** Writes of many ranks meet at one host, which an early pause makes the loss of whoever shares a link with them. */
const STORED = { families: ['leaf-spine'], hostsAtLeast: 8, storage: true } as const;
const storageLeaf = (_: Prng, { spec: { topology } }: Scene): readonly Target[] =>
  topology.builder === 'leaf-spine'
    ? [{ type: 'device', names: [`leaf-${topology.leaves}`], mode: 'one' }]
    : [];
const kilobytes = (random: Prng, least: number, most: number): string =>
  `${Math.round(logBetween(random, least, most))}kB`;

export const CONGESTION_FAULTS: readonly FaultEntry[] = [
  {
    ...congestion('incast', 'burst'),
    weight: 1,
    targets: anyNic,
    parameters: (random, scene) => ({ variant: 'burst', ...senders(random, scene) }),
  },
  {
    ...congestion('incast', 'checkpoint'),
    weight: 0.7,
    targets: anyNic,
    parameters: (random, scene) => {
      const who = senders(random, scene);
      const everyMs = whole(random, 2000, 5000);
      const busy = between(random, 0.3, 0.8);
      const megabytes = Math.round((busy * everyMs * NIC_GBPS) / 8 / who.senders);
      return { variant: 'checkpoint', ...who, bytes: `${megabytes}MB`, every: `${everyMs}ms` };
    },
  },
  {
    ...congestion('incast', 'storage'),
    weight: 0.7,
    targets: anyNic,
    parameters: (random, scene) => ({
      variant: 'storage',
      ...senders(random, scene),
      burstFor: milliseconds(random, 100, 600),
      quietFor: milliseconds(random, 100, 1000),
      ...jittered(random),
    }),
  },
  {
    ...congestion('slow-receiver', 'share'),
    weight: 1.1,
    needs: ROOMY,
    targets: anyNic,
    parameters: (random) => ({ variant: 'share', share: Number(logBetween(random, 0.04, 0.8).toFixed(3)) }),
  },
  {
    ...congestion('slow-receiver', 'rate'),
    weight: 0.7,
    needs: ROOMY,
    targets: anyNic,
    parameters: (random) => ({ variant: 'rate', rate: `${Math.round(logBetween(random, 15, 320))}Gbps` }),
  },
  {
    ...congestion('pause-storm', 'continuous'),
    weight: 0.65,
    targets: anyNic,
    parameters: () => ({ variant: 'continuous' }),
  },
  {
    ...congestion('pause-storm', 'intermittent'),
    weight: 0.65,
    targets: anyNic,
    parameters: (random) => ({
      variant: 'intermittent',
      stormFor: milliseconds(random, 150, 2000),
      quietFor: milliseconds(random, 500, 4000),
      ...jittered(random),
    }),
  },
  {
    ...congestion('ecmp-collision', 'polarised'),
    weight: 1,
    needs: { ...CONTENDED, families: ['fat-tree'] },
    targets: everySwitch,
    parameters: (random) => ({ variant: 'polarised', seed: random.below(2 ** 32) }),
  },
  {
    ...congestion('ecmp-collision', 'low-entropy'),
    weight: 1,
    needs: { ...CONTENDED, hostsAtLeast: 8 },
    atWork: MARKS,
    targets: oneDevice('leaf'),
    parameters: () => ({ variant: 'low-entropy' }),
  },
  {
    ...congestion('ecn-misconfig', 'too-high'),
    weight: 0.6,
    needs: LOSSY,
    atWork: MARKS,
    targets: anySwitch,
    parameters: () => ({ variant: 'too-high' }),
  },
  {
    ...congestion('ecn-misconfig', 'too-low'),
    weight: 0.1,
    needs: CONTENDED,
    atWork: MARKS,
    targets: anySwitch,
    parameters: (random) => {
      const kmin = Math.round(logBetween(random, 1, 10));
      return { variant: 'too-low', kmin: `${kmin}kB`, kmax: `${2 * kmin}kB`, pmax: between(random, 0.5, 1) };
    },
  },
  {
    ...congestion('ecn-misconfig', 'off'),
    weight: 0.6,
    needs: LOSSY,
    atWork: MARKS,
    targets: anySwitch,
    parameters: () => ({ variant: 'off' }),
  },
  {
    ...congestion('pfc-misconfig', 'headroom'),
    weight: 0.3,
    needs: PAUSED,
    atWork: PAUSES,
    targets: anySwitch,
    parameters: (random) => ({ variant: 'headroom', headroom: kilobytes(random, 1, 20) }),
  },
  {
    ...congestion('pfc-misconfig', 'alpha'),
    weight: 0.1,
    needs: STORED,
    targets: storageLeaf,
    parameters: (random) => ({ variant: 'alpha', alpha: pick(random, [1 / 64, 1 / 128, 1 / 256]) }),
  },
  {
    ...congestion('pfc-misconfig', 'off'),
    weight: 0.8,
    needs: PAUSED,
    atWork: PAUSES,
    targets: anySwitch,
    parameters: () => ({ variant: 'off' }),
  },
];
