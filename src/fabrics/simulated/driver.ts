/**
 * The simulated fabric's entry in the catalogue: from a Fabric document to a simulator with jobs on it.
 */
import { InputError } from '../../kernel/problem.js';
import { FlowSimulator, type FlowSimulatorOptions } from '../../simulator/flow/flow-simulator.js';
import { buildTopology } from '../../topology/topology-spec.js';
import type { Topology } from '../../topology/model.js';
import { buildJobs } from '../../workload/build-jobs.js';
import { fabricSpecSchema, type FabricDefinition } from '../contract/definition.js';
import { SimulatedFabric } from './simulated-fabric.js';
import { temporaryBacking } from './temporary-backing.js';

export const simulatedDriver = {
  name: 'simulated',
  summary: 'a flow-level simulation of the fabric and its jobs, in simulated time',
  schema: fabricSpecSchema,
  create: async (definition: FabricDefinition, seed: number): Promise<SimulatedFabric> =>
    createSimulatedFabric(definition, seed),
};

/** @throws InputError with pointers into the Fabric document */
export function createSimulatedFabric(
  definition: FabricDefinition,
  seed: number,
  options: FlowSimulatorOptions = {},
): SimulatedFabric {
  const { name, spec } = definition;
  const topology = topologyOf(definition);
  const jobs = buildJobs(spec.jobs, topology, '/spec/jobs');
  const simulator = new FlowSimulator(topology, jobs, spec.settings, spec.telemetry, seed, {
    samples: { open: () => temporaryBacking() },
    ...options,
  });
  return new SimulatedFabric(name, simulator);
}

function topologyOf(definition: FabricDefinition): Topology {
  try {
    return buildTopology(definition.spec.topology);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new InputError(
      error.issues.map((issue) => ({ ...issue, pointer: `/spec/topology${issue.pointer}` })),
    );
  }
}
