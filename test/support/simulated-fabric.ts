/**
 * Small simulated fabrics for specs, with the questions that specs ask of evidence.
 */
import { createSimulatedFabric } from '../../src/drivers/simulated/create-simulated-fabric.js';
import type { SimulatedFabric } from '../../src/drivers/simulated/simulated-fabric.js';
import { fabricSpecSchema } from '../../src/fabric-api/definition.js';
import { FlowSimulator, type FlowSimulatorOptions } from '../../src/simulator/flow-simulator.js';
import { statedTraits } from '../../src/simulator/noise/world.js';
import { buildTopology } from '../../src/model/topology/topology-spec.js';
import { buildJobs } from '../../src/model/workload/build-jobs.js';
import { EvidenceIndex, type Evidence, type Series } from '../../src/model/telemetry/series.js';

// Specs of the simulator's room may name these only through here.
export type { Impairment } from '../../src/fabric-api/impairment.js';
export type { SimulatedFabric };

/** Parses like a file does; `settings` and `telemetry` may be partial. */
export function simulatedFabric(spec: Record<string, unknown>, seed = 1): SimulatedFabric {
  return createSimulatedFabric({ name: 'test', spec: fabricSpecSchema.parse(spec) }, seed);
}

/** The simulator behind such a fabric, for what only it can do. */
export function flowSimulator(
  spec: Record<string, unknown>,
  seed = 1,
  options: FlowSimulatorOptions = {},
): FlowSimulator {
  const { topology, jobs, settings, telemetry, traits } = fabricSpecSchema.parse(spec);
  const built = buildTopology(topology);
  return new FlowSimulator(built, buildJobs(jobs, built), settings, telemetry, seed, {
    traits: statedTraits(traits, built, seed),
    ...options,
  });
}

/** Index of a NIC by its name. */
export const nicOf = ({ topology }: FlowSimulator, name: string): number =>
  topology.nics.findIndex((nic) => nic.name === name);

/** Two hosts with one GPU each on one switch; one job that only sends from host 1 to host 2. */
export const oneWire = {
  topology: { builder: 'leaf-spine', leaves: 1, spines: 0, hostsPerLeaf: 2, gpusPerHost: 1 },
  jobs: [
    {
      name: 'sender',
      gpus: 2,
      parallelism: { pipeline: 2 },
      queuePairs: 1,
      step: {
        compute: '0s',
        collectives: [{ collective: 'send-receive', parallelism: 'pipeline', bytes: '1GB' }],
      },
    },
  ],
};

/** Four leaves, four spines, eight hosts of eight GPUs; two jobs of 32 ranks with rings between their hosts. */
export const twoJobs = {
  topology: { builder: 'leaf-spine', leaves: 4, spines: 4, hostsPerLeaf: 2, gpusPerHost: 8 },
  jobs: ['llm-a', 'llm-b'].map((name, index) => ({
    name,
    gpus: 32,
    placement: { strategy: 'packed', offset: 32 * index },
    parallelism: { tensor: 8 },
    step: {
      compute: '300ms',
      collectives: [
        { collective: 'all-reduce', parallelism: 'tensor', bytes: '1GB', overlap: 0.5 },
        { collective: 'all-reduce', parallelism: 'data', bytes: '2GB' },
      ],
    },
  })),
};

export function seriesOf(evidence: Evidence, metric: string, element: string): Series {
  const series = new EvidenceIndex(evidence).get(metric, element);
  if (series === undefined) throw new Error(`no series ${metric} of ${element}`);
  return series;
}

/** `[seconds, value]` of every sample. */
export const samplesOf = (evidence: Evidence, metric: string, element: string): [number, number][] => {
  const { timesNs, values } = seriesOf(evidence, metric, element);
  return [...timesNs].map((timeNs, index) => [timeNs / 1e9, values[index]]);
};

/** The value last reported at or before an instant. */
export function valueAt(evidence: Evidence, metric: string, element: string, timeNs: number): number {
  const { timesNs, values } = seriesOf(evidence, metric, element);
  return values[timesNs.findLastIndex((sampleNs) => sampleNs <= timeNs)];
}

/** All series as one byte sequence: equal if and only if the evidence is. */
export function bytesOf(evidence: Evidence): Buffer {
  return Buffer.concat(
    evidence.series.flatMap(({ metric, element, timesNs, values, quality }) => [
      Buffer.from(`${metric} ${element}\n`),
      ...[timesNs, values, quality].map((array) =>
        Buffer.from(array.buffer, array.byteOffset, array.byteLength),
      ),
    ]),
  );
}
