/**
 * Fabrics out of the ordinary: far, slow, fast, with next to no buffer, with any settings of congestion control.
 *
 * Whatever a file may say, a simulation ends, its clock goes on, bytes are conserved and no figure is NaN.
 */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Conservation } from '../../test/support/conservation.js';
import { flowSimulator } from '../../test/support/simulated-fabric.js';
import { QUALITY } from '../model/telemetry/series.js';
import { idealStepNs } from '../model/workload/closed-form.js';
import type { FlowSimulator } from './flow-simulator.js';

const HOSTS = 4;
const STEPS = 3;
const POLLS = 5;

interface Extreme {
  hostDelay: string;
  fabricDelay: string;
  hostRate: string;
  fabricRate: string;
  bytes: string;
  collective: string;
  queuePairs: number;
  buffer: string | undefined;
  pfc: object;
  dcqcn: object;
  ecn: object;
}

const RATES = ['1Mbps', '10Mbps', '1Gbps', '10Gbps', '100Gbps', '400Gbps', '1.6Tbps'];
const DELAYS = ['0s', '1ns', '500ns', '50us', '1ms', '30ms', '300ms', '1s'];
const TIMES = ['1us', '50us', '10ms', '1s'];

const extremes: fc.Arbitrary<Extreme> = fc.record({
  hostDelay: fc.constantFrom(...DELAYS),
  fabricDelay: fc.constantFrom(...DELAYS),
  hostRate: fc.constantFrom(...RATES),
  fabricRate: fc.constantFrom(...RATES),
  bytes: fc.constantFrom('1B', '100B', '10kB', '1MB', '1GB', '1TB'),
  collective: fc.constantFrom('all-reduce', 'all-to-all'),
  queuePairs: fc.integer({ min: 1, max: 4 }),
  buffer: fc.constantFrom(undefined, '1B', '1kB', '100kB', '10GB'),
  pfc: fc.oneof(
    fc.constant({}),
    fc.constant({ on: false }),
    fc.record({
      headroom: fc.constantFrom('0B', '1kB', '1GB'),
      freeShare: fc.constantFrom(1e-9, 0.125, 64),
      reserve: fc.constantFrom('0B', '4KiB', '1GB'),
      resumeOffset: fc.constantFrom('0B', '3KiB', '1GB'),
    }),
  ),
  dcqcn: fc.oneof(
    fc.constant({}),
    fc.constant({ on: false }),
    fc.record({
      cnpInterval: fc.constantFrom(...TIMES),
      alphaInterval: fc.constantFrom(...TIMES),
      decreaseInterval: fc.constantFrom(...TIMES),
      increaseInterval: fc.constantFrom(...TIMES),
      gain: fc.constantFrom(1e-9, 1 / 256, 1),
      fastRecoveryTimes: fc.constantFrom(1, 5, 100),
      additiveIncrease: fc.constantFrom('1bps', '5Mbps', '1Tbps'),
      hyperIncrease: fc.constantFrom('1bps', '50Mbps', '1Tbps'),
      minRate: fc.constantFrom('1bps', '1Gbps', '1Tbps'),
    }),
  ),
  ecn: fc.oneof(
    fc.constant({}),
    fc.record({
      kmin: fc.constantFrom('1B', '100kB'),
      kmax: fc.constantFrom('1MB', '1GB'),
      pmax: fc.constantFrom(0, 1e-6, 0.2, 1),
    }),
  ),
});

/** What a file may say of PFC beside such a buffer: no part of it larger than the whole. */
function within(buffer: string | undefined, pfc: object): object {
  if (buffer === '10GB') return pfc;
  const least = { headroom: '0B', reserve: '0B', resumeOffset: '0B' };
  if (buffer === '1B' || buffer === '1kB') return { ...pfc, ...least };
  return Object.fromEntries(
    Object.entries(pfc).map(([key, value]) => [key, value === '1GB' ? '4KiB' : value]),
  );
}

/** Runs some steps, or as far as they come in the time that they would take without contention. */
function run({ hostDelay, fabricDelay, hostRate, fabricRate, ...more }: Extreme): FlowSimulator {
  const { bytes, collective, queuePairs, buffer, pfc, dcqcn, ecn } = more;
  const fabric = (intervalMs: number): FlowSimulator =>
    flowSimulator({
      topology: {
        ...{ builder: 'leaf-spine', leaves: 2, spines: 1, hostsPerLeaf: HOSTS / 2, gpusPerHost: 1 },
        ...{ hostDelay, fabricDelay, hostRate, fabricRate },
      },
      settings: { pfc: within(buffer, pfc), dcqcn, ecn, ...(buffer === undefined ? {} : { buffer }) },
      jobs: [
        {
          ...{ name: 'llm', gpus: HOSTS, queuePairs },
          step: { compute: '1ms', collectives: [{ collective, bytes }] },
        },
      ],
      telemetry: {
        pollSpread: '0s',
        ...Object.fromEntries(
          ['switch', 'nic', 'optic', 'job'].map((source) => [`${source}Interval`, `${intervalMs}ms`]),
        ),
      },
    });
  const { jobs, topology, settings } = fabric(1000);
  const { mtu, headerBytes, ackBytes } = settings;
  const stepNs = idealStepNs(jobs[0], topology, { mtu, headerBytes, ackBytes });
  const intervalMs = Math.ceil((STEPS * stepNs) / 1e6 / POLLS);
  const simulator = fabric(intervalMs);
  simulator.startJobs();
  const told: number[] = [];
  for (let poll = 1; poll <= POLLS; poll++) {
    simulator.advance(poll * intervalMs * 1e6);
    told.push(simulator.nowNs / (intervalMs * 1e6));
  }
  expect(told).toEqual([1, 2, 3, 4, 5]);
  return simulator;
}

/** Samples that are no numbers though they are said to be there. */
const notNumbers = (simulator: FlowSimulator): string[] =>
  simulator
    .evidence(0, simulator.nowNs)
    .series.filter(({ values, quality }) =>
      values.some((value, at) => !Number.isFinite(value) && quality[at] !== QUALITY.notAvailable),
    )
    .map(({ metric, element }) => `${metric} of ${element}`);

describe('a fabric with extreme delays, rates, messages, buffers and settings', () => {
  it('is simulated to the end: time goes on, bytes are conserved, no figure is NaN', () => {
    fc.assert(
      fc.property(extremes, (extreme) => {
        const simulator = run(extreme);
        expect(notNumbers(simulator)).toEqual([]);
        expect(new Conservation(simulator, true, false).imbalances()).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });
});
