/**
 * The scenes of the corpus: a fabric of 32 to 512 GPUs, its settings, and the jobs that train on it.
 *
 * Four families as they are built: leaf-spine and three-tier Clos with every NIC of a host on one leaf, rail-optimised
 * (NVIDIA's reference design), and two leaves per NIC in two planes (Alibaba HPN, SIGCOMM 2024). Uplinks are one for one
 * with the NICs or half as many. Jobs interleave over the leaves or sit in blocks; communication takes from a tenth to
 * about half of a step, as in reports on large runs (MegaScale, arXiv 2402.15627; Meta RoCE, SIGCOMM 2024).
 * Not drawn: mixed rates, several GPU types, inference traffic.
 */
import type { FabricSpecInput } from '../../../src/fabric-api/definition.js';
import type { Prng } from '../../../src/core/prng.js';
import { between, logBetween, pick, weighted, weightedAt, whole, type Weights } from './draw.js';

export type Family = 'leaf-spine' | 'rail-optimised' | 'fat-tree' | 'dual-tor-dual-plane';

export interface Scene {
  family: Family;
  gpus: number;
  hosts: number;
  gpusPerHost: number;
  spec: FabricSpecInput;
}

/** What a fault asks of its scene. */
export interface SceneNeeds {
  families?: readonly Family[];
  /** A host that no job sits on. */
  spare?: boolean;
  /** At least so many hosts. */
  hostsAtLeast?: number;
  /** NICs for each uplink: 1 leaves the NICs as the bottleneck; with 2 uplinks are, and jobs spread over the leaves. */
  perUplink?: 1 | 2;
  /** How this fabric is run, beside what is drawn. */
  settings?: FabricSpecInput['settings'];
  /** Every job writes checkpoints. */
  checkpoints?: boolean;
  /** The first job writes them often, to hosts of the fabric that no job sits on. */
  storage?: boolean;
  /** One job that starts in mid-run, ns. */
  lateStartNs?: number;
}

const FAMILIES: readonly Family[] = ['leaf-spine', 'rail-optimised', 'fat-tree', 'dual-tor-dual-plane'];
const SIZES: Weights<number> = [
  [32, 0.48],
  [64, 0.37],
  [128, 0.11],
  [256, 0.025],
  [512, 0.015],
];

/** @param sizeAt from 0 to 1, along the sizes by their weights */
export function drawScene(random: Prng, sizeAt: number, needs: SceneNeeds = {}): Scene {
  const gpus = weightedAt(sizeAt, SIZES);
  const family = pick(random, needs.families ?? FAMILIES);
  const gpusPerHost = gpus <= 64 ? pick(random, [4, 8]) : 8;
  const hosts = gpus / gpusPerHost;
  if (hosts < (needs.hostsAtLeast ?? 4)) return drawScene(random.stream('larger'), (sizeAt + 0.5) % 1, needs);
  const perUplink = needs.perUplink ?? pick(random, [1, 1, 2]);
  const topology = TOPOLOGIES[family](random, {
    contended: needs.perUplink === 2,
    ...{ hosts, gpusPerHost, perUplink },
  });
  const settings: FabricSpecInput['settings'] = {
    hashSeed: random.below(2 ** 32),
    computeJitter: between(random, 0, 0.01),
    bfd: random.uniform() < 0.8,
    ...needs.settings,
  };
  const jobs = drawJobs(random, hosts, gpusPerHost, needs);
  return { family, gpus, hosts, gpusPerHost, spec: { topology, settings, jobs } };
}

type Topology = FabricSpecInput['topology'];
interface Size {
  /** Traffic must climb to the spines. */
  contended: boolean;
  hosts: number;
  gpusPerHost: number;
  /** NICs for each uplink. */
  perUplink: number;
}
type Build = (random: Prng, size: Size) => Topology;

/** Uplinks of a leaf over so many spines, at least one to each. */
const links = (uplinks: number, spines: number): number => Math.max(1, Math.round(uplinks / spines));

const TOPOLOGIES: Readonly<Record<Family, Build>> = {
  'leaf-spine': (random, { hosts, gpusPerHost, perUplink }) => {
    const hostsPerLeaf = hosts >= 8 ? pick(random, [1, 2, 4]) : pick(random, [1, 2]);
    const uplinks = (hostsPerLeaf * gpusPerHost) / perUplink;
    const spines = pick(
      random,
      [2, 4, 8].filter((count) => count <= uplinks),
    );
    const leaves = hosts / hostsPerLeaf;
    const linksPerSpine = links(uplinks, spines);
    return { builder: 'leaf-spine', leaves, spines, hostsPerLeaf, gpusPerHost, linksPerSpine };
  },
  'rail-optimised': (random, { hosts, gpusPerHost, perUplink, contended }) => {
    const segments = pick(
      random,
      // within a segment nothing climbs to the spines
      [1, 2, 4].filter((count) => hosts / count >= 2 && !(contended && count === 1)),
    );
    const uplinks = Math.max(1, hosts / segments / perUplink);
    const spines = pick(
      random,
      [1, 2, 4].filter((count) => count <= uplinks && (count > 1 || uplinks < 2)),
    );
    const linksPerSpine = links(uplinks, spines);
    return { builder: 'rail-optimised', hosts, gpusPerHost, segments, spines, linksPerSpine };
  },
  'fat-tree': (random, { hosts, gpusPerHost, perUplink }) => {
    const leavesPerPod = hosts >= 16 ? pick(random, [2, 4]) : 2;
    const spinesPerPod = gpusPerHost / perUplink;
    const uplinksPerSpine = leavesPerPod / pick(random, [1, 2]);
    const pods = hosts / leavesPerPod;
    return {
      builder: 'fat-tree',
      ...{ pods, leavesPerPod, spinesPerPod, uplinksPerSpine },
      hostsPerLeaf: 1,
      gpusPerHost,
    };
  },
  'dual-tor-dual-plane': (random, { hosts, gpusPerHost, perUplink }) => {
    const segments = hosts >= 8 ? pick(random, [1, 2]) : 1;
    const spinesPerPlane = pick(random, [2, 4]);
    // ports of NICs run at half the rate of uplinks
    const uplinks = hosts / segments / 2 / perUplink;
    const linksPerSpine = links(uplinks, spinesPerPlane);
    return { builder: 'dual-tor-dual-plane', hosts, gpusPerHost, segments, spinesPerPlane, linksPerSpine };
  },
};

type Jobs = NonNullable<FabricSpecInput['jobs']>;

/** Of the jobs whose fault does not ask for it. */
const CHECKPOINT_SHARE = 0.2;

/** Names that tell nothing but the order. */
const JOB_NAMES = ['job-a', 'job-b', 'job-c'];

function drawJobs(random: Prng, hosts: number, gpusPerHost: number, needs: SceneNeeds): Jobs {
  const idle =
    needs.spare === true || needs.storage === true || (hosts >= 8 && random.uniform() < 0.3) ? 1 : 0;
  const used = hosts - idle;
  const wanted = used >= 12 && random.uniform() < 0.4 ? 3 : 2;
  // a job on one host sends nothing over the fabric
  const count = Math.min(wanted, Math.floor(used / 2));
  const interleaved = needs.perUplink === 2 || random.uniform() < 0.6;
  const queuePairs = pick(random, [1, 2, 4, 4, 8]);
  return Array.from({ length: count }, (_, job) => {
    const own = Array.from({ length: used }, (_, host) => host).filter((host) =>
      interleaved ? host % count === job : Math.floor((host * count) / used) === job,
    );
    const late = needs.lateStartNs !== undefined && job === count - 1;
    return {
      name: JOB_NAMES[job],
      hosts: own.map((host) => `host-${host + 1}`),
      parallelism: { tensor: gpusPerHost },
      queuePairs,
      ...(late ? { start: `${Math.round((needs.lateStartNs ?? 0) / 1e6)}ms` } : {}),
      ...(needs.storage === true && job === 0
        ? { checkpoint: drawStorageCheckpoint(random, hosts) }
        : drawCheckpoint(random, needs)),
      step: drawStep(random),
    };
  });
}

/** Steps that take longer by design are in the way of every diagnosis, so some jobs have them always. */
function drawCheckpoint(random: Prng, { checkpoints }: SceneNeeds): Pick<Jobs[number], 'checkpoint'> {
  const [drawn, every, durationMs] = [random.uniform(), whole(random, 5, 40), logBetween(random, 200, 2000)];
  if (checkpoints !== true && drawn >= CHECKPOINT_SHARE) return {};
  return { checkpoint: { every, duration: `${Math.round(durationMs)}ms` } };
}

/** Of 12 to 16 bytes for each of some billions of parameters, shared out over the ranks. */
function drawStorageCheckpoint(random: Prng, hosts: number): Jobs[number]['checkpoint'] {
  return {
    every: whole(random, 2, 5),
    bytesPerRank: `${whole(random, 1000, 8000)}MB`,
    to: [`host-${hosts}`],
  };
}

function drawStep(random: Prng): NonNullable<Jobs[number]['step']> {
  const compute = `${whole(random, 120, 500)}ms`;
  const bytes = `${whole(random, 1000, 6000)}MB`;
  const parallelism = 'data' as const;
  const collectives = weighted(random, [
    [[{ collective: 'all-reduce' as const, bytes, parallelism }], 0.6],
    [
      [
        { collective: 'reduce-scatter' as const, bytes, parallelism },
        { collective: 'all-gather' as const, bytes, parallelism },
      ],
      0.25,
    ],
    [[{ collective: 'all-reduce' as const, algorithm: 'tree' as const, bytes, parallelism }], 0.15],
  ]);
  return { compute, collectives };
}
