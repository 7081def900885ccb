/**
 * Pairs of fabrics of which the second is no worse: drawn by seed, small enough that hundreds of gates take minutes.
 *
 * The jobs' own paths are noise that both sides have: with other hash seeds, other switches or another random draw flows
 * meet elsewhere, and figures differ seed by seed although neither fabric is better.
 */
import { Prng } from '../../src/core/prng.js';
import { refuseFiles, type FabricDocument } from '../../src/documents/fabric-document.js';
import { loadExperiment, loadFabric, loadSuite } from '../../src/documents/load.js';
import type { Experiment } from '../../src/documents/experiment.js';
import type { Suite } from '../../src/documents/suite.js';
import type { Pair } from './measure-pair.js';

export const PAIR_CHANGES = ['hash-seeds', 'cables', 'optics', 'spine', 'jitter-draw', 'name'] as const;
type Change = (typeof PAIR_CHANGES)[number];

/** Of twenty pairs one is bit-identical. */
const NAME_EVERY = 20;

interface Shape {
  spines: number;
  fabricRate: string;
  fabricDelayNs: number;
  hashSeed: number;
  queuePairs: number;
  computeMs: number;
  jitter: number;
}

export function drawPair(seed: number): Pair {
  const random = new Prng(seed).stream('harmless-pair');
  const changes = PAIR_CHANGES.filter((change) => change !== 'name');
  const change: Change = seed % NAME_EVERY === 0 ? 'name' : changes[random.below(changes.length)];
  const before: Shape = {
    spines: 2 + random.below(3),
    fabricRate: '400Gbps',
    fabricDelayNs: 300 + random.below(700),
    hashSeed: random.below(1e6),
    queuePairs: [2, 4, 8][random.below(3)],
    computeMs: 150 + random.below(300),
    jitter: 0.002 + 0.01 * random.uniform(),
  };
  const after: Shape = { ...before, ...changed(change, before, random) };
  const name = `${change}-${seed}`;
  return {
    name,
    wanted: 'none',
    ...suiteOf(seed),
    baseline: fabric('before', before),
    candidate: fabric(name, after),
  };
}

function changed(change: Change, before: Shape, random: Prng): Partial<Shape> {
  switch (change) {
    case 'hash-seeds':
      return { hashSeed: before.hashSeed + 1 + random.below(1e6) };
    case 'cables':
      return { fabricDelayNs: before.fabricDelayNs + 50 + random.below(450) };
    case 'optics':
      return { fabricRate: '800Gbps' };
    case 'spine':
      return { spines: before.spines + 1 };
    case 'jitter-draw':
      // Another length of computations draws other instants for everything; shorter is no worse.
      return { computeMs: before.computeMs * 0.999, hashSeed: before.hashSeed + 1 };
    case 'name':
      return {};
  }
}

function fabric(name: string, shape: Shape): FabricDocument {
  const job = (of: string, hosts: string): object => ({
    name: of,
    placement: { strategy: 'spread', hosts },
    gpus: 4,
    queuePairs: shape.queuePairs,
    step: {
      compute: `${shape.computeMs}ms`,
      collectives: [{ name: 'gradients', collective: 'all-reduce', parallelism: 'data', bytes: '2GB' }],
    },
  });
  const document = {
    apiVersion: 'fabricdrill/v1',
    kind: 'Fabric',
    metadata: { name },
    spec: {
      topology: {
        builder: 'leaf-spine',
        leaves: 4,
        spines: shape.spines,
        hostsPerLeaf: 2,
        gpusPerHost: 1,
        hostRate: '400Gbps',
        fabricRate: shape.fabricRate,
        fabricDelay: `${shape.fabricDelayNs}ns`,
      },
      jobs: [job('exposed', 'host-[1,3,5,7]'), job('bystander', 'host-[2,4,6,8]')],
      settings: { hashSeed: shape.hashSeed, computeJitter: shape.jitter },
    },
  };
  return loadFabric(document, refuseFiles).value;
}

function suiteOf(seed: number): { suite: Suite; experiments: Experiment[] } {
  const experiment = {
    apiVersion: 'fabricdrill/v1',
    kind: 'Experiment',
    metadata: { name: 'cut-link' },
    spec: {
      fabric: 'before',
      duration: '16s',
      faults: [
        {
          kind: 'link-down',
          params: { variant: 'cut' },
          target: { type: 'link', tier: 'leaf-spine', usedBy: 'exposed', mode: 'one', order: 'random' },
          at: '6s',
          duration: '5s',
        },
      ],
    },
  };
  const suite = {
    apiVersion: 'fabricdrill/v1',
    kind: 'Suite',
    metadata: { name: 'harmless' },
    spec: {
      experiments: ['cut-link'],
      firstSeed: Math.max(1, 1000 * seed),
      objectives: [
        { metric: 'training.step_time_s', margin: '3%' },
        { metric: 'training.faulted_step_time_s', margin: '5%' },
        { metric: 'recovery.score', margin: 5 },
      ],
    },
  };
  return {
    suite: loadSuite(suite, refuseFiles).value,
    experiments: [loadExperiment(experiment, refuseFiles).value],
  };
}
