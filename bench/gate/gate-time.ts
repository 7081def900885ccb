/**
 * How long a gate takes: twelve experiments, sixteen seeds, 256 GPUs, all cores beside one thread.
 *
 * The candidate differs by its hash seed, so that nothing is known from the baseline. Two threads are measured beside one
 * on a part of the gate, since the whole on one thread says nothing more and takes as long again.
 */
import { availableParallelism } from 'node:os';
import type { BenchRow } from '../../src/cli/bench-row.js';
import { refuseFiles, type FabricDocument } from '../../src/experiments/definition/fabric-document.js';
import { loadExperiment, loadFabric, loadSuite } from '../../src/experiments/definition/load.js';
import type { Experiment } from '../../src/experiments/definition/experiment.js';
import { RunPool } from '../../src/gates/conduct/pool.js';
import { measured } from '../row.js';
import { gateOfPair, type Pair } from './measure-pair.js';

const TWELVE = [
  ...['admin', 'cut', 'one-way'].flatMap((variant) =>
    ['leaf-spine', 'host-leaf'].map((tier) => ({
      kind: 'link-down',
      params: { variant },
      target: link(tier),
    })),
  ),
  ...['leaf-spine', 'host-leaf'].map((tier) => ({
    kind: 'speed-downgrade',
    params: { variant: 'lane-loss', lost: 7, lanes: 8 },
    target: link(tier),
  })),
  ...[0.0004, 0.0011].map((ber) => ({
    kind: 'optic-error',
    params: { variant: 'constant', ber },
    target: link('host-leaf'),
  })),
  {
    kind: 'straggler',
    params: { variant: 'gpu', gpu: 0, slowdown: 2 },
    target: { type: 'device', tier: 'host', usedBy: 'exposed', mode: 'one', order: 'random' },
  },
  {
    kind: 'incast',
    params: { variant: 'burst', senders: 4 },
    target: { type: 'nic', usedBy: 'exposed', mode: 'one', order: 'random' },
  },
];

function link(tier: string): object {
  return { type: 'link', tier, usedBy: 'exposed', mode: 'one', order: 'random' };
}

function experiments(): Experiment[] {
  return TWELVE.map((fault, at) => {
    const document = {
      apiVersion: 'fabricdrill/v1',
      kind: 'Experiment',
      metadata: { name: `experiment-${at + 1}` },
      spec: { fabric: 'before', duration: '30s', faults: [{ ...fault, at: '10s', duration: '10s' }] },
    };
    return loadExperiment(document, refuseFiles).value;
  });
}

function fabric(hashSeed: number): FabricDocument {
  const job = (name: string, hosts: string): object => ({
    name,
    placement: { strategy: 'spread', hosts },
    gpus: 128,
    parallelism: { tensor: 8 },
    queuePairs: 4,
    step: {
      compute: '400ms',
      collectives: [{ name: 'gradients', collective: 'all-reduce', parallelism: 'data', bytes: '2GB' }],
    },
  });
  const document = {
    apiVersion: 'fabricdrill/v1',
    kind: 'Fabric',
    metadata: { name: 'rail-256' },
    spec: {
      topology: {
        builder: 'rail-optimised',
        hosts: 32,
        gpusPerHost: 8,
        segments: 4,
        spines: 4,
        hostRate: '400Gbps',
        fabricRate: '400Gbps',
      },
      jobs: [job('exposed', 'host-[1-16]'), job('bystander', 'host-[17-32]')],
      settings: { hashSeed },
    },
  };
  return loadFabric(document, refuseFiles).value;
}

/** @param seeds at most */
function pair(count: number, seeds: number): Pair {
  const chosen = experiments().slice(0, count);
  const suite = loadSuite(
    {
      apiVersion: 'fabricdrill/v1',
      kind: 'Suite',
      metadata: { name: 'timed' },
      spec: {
        experiments: chosen.map(({ metadata }) => metadata.name),
        seeds,
        objectives: [
          { metric: 'training.step_time_s', margin: '3%' },
          { metric: 'training.faulted_step_time_s', margin: '5%' },
          { metric: 'recovery.score', margin: 5 },
        ],
      },
    },
    refuseFiles,
  ).value;
  return {
    name: 'timed',
    wanted: 'none',
    suite,
    experiments: chosen,
    baseline: fabric(1),
    candidate: fabric(2),
  };
}

async function secondsOf(one: Pair, threads?: number): Promise<{ seconds: number; runs: number }> {
  const pool = new RunPool(threads);
  try {
    const startMs = performance.now();
    const { runs } = await gateOfPair(one, pool);
    return { seconds: (performance.now() - startMs) / 1000, runs };
  } finally {
    await pool.close();
  }
}

export async function timeGate(onCase?: (name: string) => void): Promise<BenchRow[]> {
  const name = 'gate_12x16_256gpus';
  onCase?.(`${name}, ${availableParallelism()} threads`);
  const whole = await secondsOf(pair(12, 16));
  onCase?.(`${name}, one thread beside two`);
  const one = await secondsOf(pair(4, 6), 1);
  const two = await secondsOf(pair(4, 6), 2);
  return [
    measured(name, 'wall_s', whole.seconds, { unit: 's', floor: 90, aim: 90 }),
    measured(name, 'runs', whole.runs, { unit: '' }),
    measured(name, 'two_threads_beside_one', one.seconds / two.seconds, {
      unit: '',
      floor: 1.7,
      aim: 1.7,
      better: 'higher',
    }),
  ];
}
