/**
 * The closed-form ideal of a step against the flow-level simulator: never above what is simulated, and close to it
 * where nothing but NICs can limit (one leaf), for every collective, the double tree and real program shapes.
 */
import { describe, expect, it } from '@jest/globals';
import { fabricSettingsSchema } from '../../src/simulator/settings.js';
import { FlowSimulator } from '../../src/simulator/flow-simulator.js';
import { telemetrySchema } from '../../src/model/telemetry/settings.js';
import { buildLeafSpine, leafSpineSchema } from '../../src/model/topology/builders/leaf-spine.js';
import type { Topology } from '../../src/model/topology/model.js';
import { buildJobs } from '../../src/model/workload/build-jobs.js';
import { idealStepNs } from '../../src/model/workload/closed-form.js';
import { jobSchema, type JobInput } from '../../src/model/workload/job-schema.js';

const settings = fabricSettingsSchema.parse({});

function fabric(leaves: number, spines: number, hostsPerLeaf: number, gpusPerHost: number): Topology {
  return buildLeafSpine(
    leafSpineSchema.parse({
      builder: 'leaf-spine',
      leaves,
      spines,
      hostsPerLeaf,
      gpusPerHost,
      hostRate: '100Gbps',
      fabricRate: '100Gbps',
    }),
  );
}

/** Median simulated step of a lone job divided by its ideal. */
function simulatedOverIdeal(topology: Topology, definition: JobInput): number {
  const jobs = buildJobs([jobSchema.parse(definition)], topology);
  const idealNs = idealStepNs(jobs[0], topology, settings);
  const simulator = new FlowSimulator(topology, jobs, settings, telemetrySchema.parse({}), 1);
  simulator.startJobs();
  simulator.advance(20 * idealNs);
  const steps = simulator
    .evidence(0, 20 * idealNs)
    .series.filter((series) => series.metric === 'job_step_time_s')
    .flatMap((series) => [...series.values].filter((value) => !Number.isNaN(value)));
  expect(steps.length).toBeGreaterThan(0);
  return (steps.sort((a, b) => a - b)[steps.length >> 1] * 1e9) / idealNs;
}

const COLLECTIVES = [
  ['all-reduce', 'ring'],
  ['all-reduce', 'tree'],
  ['all-gather', 'ring'],
  ['reduce-scatter', 'ring'],
  ['all-to-all', 'ring'],
  ['broadcast', 'ring'],
  ['send-receive', 'ring'],
] as const;

describe.each([1, 4])('a lone job on one leaf, %i GPUs a host', (gpusPerHost) => {
  const topology = fabric(1, 0, 6, gpusPerHost);
  it.each(COLLECTIVES)('%s %s takes its ideal time', (collective, algorithm) => {
    const gpus = topology.gpus.length;
    const parallelism = collective === 'send-receive' ? ('pipeline' as const) : ('data' as const);
    const ratio = simulatedOverIdeal(topology, {
      name: 'a',
      gpus,
      parallelism: parallelism === 'pipeline' ? { pipeline: gpus } : {},
      step: { compute: '1ms', collectives: [{ collective, algorithm, parallelism, bytes: '64MB' }] },
    });
    expect(ratio).toBeGreaterThan(1 - 1e-6);
    expect(ratio).toBeLessThan(1.02);
  });
});

describe('a job over several leaves', () => {
  it.each([1, 4, 16])('is never faster than its ideal, with %i QPs a connection', (queuePairs) => {
    const ratio = simulatedOverIdeal(fabric(4, 2, 2, 2), {
      name: 'a',
      gpus: 16,
      queuePairs,
      placement: { strategy: 'spread' },
      parallelism: { tensor: 2 },
      step: { compute: '2ms', collectives: [{ collective: 'all-reduce', bytes: '64MB', overlap: 0.5 }] },
    });
    expect(ratio).toBeGreaterThan(1 - 1e-6);
    expect(ratio).toBeLessThan(1.5);
  });

  it('a workload with overlapped collectives is never faster than its ideal', () => {
    const row = 'layer -1 100000 ALLREDUCE 4000000 100000 ALLREDUCE 4000000 100000 REDUCESCATTER 9000000 100';
    const text = ['HYBRID_TRANSFORMER model_parallel_NPU_group: 2', '4', row, row, row, row].join('\n');
    const ratio = simulatedOverIdeal(fabric(2, 2, 2, 2), { name: 'a', gpus: 8, workload: { text } });
    expect(ratio).toBeGreaterThan(1 - 1e-6);
    expect(ratio).toBeLessThan(2);
  });
});
