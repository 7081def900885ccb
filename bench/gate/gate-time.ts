/**
 * How long a gate takes: twelve experiments, sixteen seeds, 256 GPUs, all cores beside one thread.
 *
 * The candidate differs by its hash seed, so that nothing is known from the baseline. Two threads, and two worker processes of
 * a server, are measured beside one on the whole gate: of a part of it the second would spend most of its time on starting
 * and on compiling what the first has compiled, since an engine of JavaScript shares no code between threads. Workers of a
 * server outlive a gate, so they are measured at their second gate, too, which asks for other runs than the first.
 */
import { availableParallelism } from 'node:os';
import type { BenchRow } from '../../src/cli/commands/bench-row.js';
import { refuseFiles } from '../../src/documents/fabric-document.js';
import { loadExperiment, loadFabric, loadSuite } from '../../src/documents/load.js';
import { RunPool } from '../../src/drill/gate/pool.js';
import { measured } from '../row.js';
import { gainOfBareProcesses } from './bare-runs.js';
import { gateOfPair, type Pair } from './measure-pair.js';
import { timesByWorkers, type GateTime } from './worker-times.js';

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

const experiments = (): object[] =>
  TWELVE.map((fault, at) => ({
    apiVersion: 'fabricdrill/v1',
    kind: 'Experiment',
    metadata: { name: `experiment-${at + 1}` },
    spec: { fabric: 'before', duration: '30s', faults: [{ ...fault, at: '10s', duration: '10s' }] },
  }));

function fabric(hashSeed: number): object {
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
  return {
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
}

/** Of the two fabrics. */
type HashSeeds = readonly [number, number];

/** Documents of a gate, as a server is asked for one. */
function documents(hashSeeds: HashSeeds = [1, 2]) {
  const chosen = experiments();
  const suite = {
    apiVersion: 'fabricdrill/v1',
    kind: 'Suite',
    metadata: { name: 'timed' },
    spec: {
      experiments: chosen.map((_, at) => `experiment-${at + 1}`),
      seeds: 16,
      objectives: [
        { metric: 'training.step_time_s', margin: '3%' },
        { metric: 'training.faulted_step_time_s', margin: '5%' },
        { metric: 'recovery.score', margin: 5 },
      ],
    },
  };
  return { suite, experiments: chosen, baseline: fabric(hashSeeds[0]), candidate: fabric(hashSeeds[1]) };
}

function pair(): Pair {
  const { suite, experiments: chosen, baseline, candidate } = documents();
  return {
    name: 'timed',
    wanted: 'none',
    suite: loadSuite(suite, refuseFiles).value,
    experiments: chosen.map((document) => loadExperiment(document, refuseFiles).value),
    baseline: loadFabric(baseline, refuseFiles).value,
    candidate: loadFabric(candidate, refuseFiles).value,
  };
}

async function byThreads(threads?: number): Promise<GateTime> {
  const pool = new RunPool(threads);
  try {
    const startMs = performance.now();
    const { runs } = await gateOfPair(pair(), pool);
    return { seconds: (performance.now() - startMs) / 1000, runs };
  } finally {
    await pool.close();
  }
}

/** How many times as fast two are as one, for each gate that is measured. */
async function gains(measure: (count: number) => Promise<GateTime[]>): Promise<number[]> {
  const one = await measure(1);
  const two = await measure(2);
  return one.map(({ seconds }, at) => seconds / two[at].seconds);
}

export async function timeGate(onCase?: (name: string) => void): Promise<BenchRow[]> {
  const name = 'gate_12x16_256gpus';
  onCase?.(`${name}, ${availableParallelism()} threads`);
  const whole = await byThreads();
  onCase?.(`${name}, two threads beside one`);
  const [threads] = await gains(async (count) => [await byThreads(count)]);
  onCase?.(`${name}, two worker processes of a server beside one`);
  const requests = [documents(), documents([3, 4])];
  const [fresh, warm] = await gains((count) => timesByWorkers(requests, count));
  onCase?.(`${name}, two processes that share nothing beside one`);
  const bare = await gainOfBareProcesses(pair());
  const reference = { reference: 'two processes that share nothing', referenceValue: bare };
  const twice = { unit: '', ...reference, floor: 1.7, aim: 1.7, better: 'higher' } as const;
  return [
    measured(name, 'wall_s', whole.seconds, { unit: 's', floor: 90, aim: 90 }),
    measured(name, 'runs', whole.runs, { unit: '' }),
    measured(name, 'two_threads_beside_one', threads, twice),
    measured(name, 'two_workers_beside_one_first_gate', fresh, twice),
    measured(name, 'two_workers_beside_one_second_gate', warm, twice),
  ];
}
