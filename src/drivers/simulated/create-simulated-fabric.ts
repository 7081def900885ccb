/**
 * From a Fabric document to a simulator with jobs on it, in this process.
 */
import { withPointer } from '../../core/problem.js';
import { FlowSimulator, type FlowSimulatorOptions } from '../../simulator/flow-simulator.js';
import { statedTraits } from '../../simulator/noise/world.js';
import { buildTopology } from '../../model/topology/topology-spec.js';
import { buildJobs } from '../../model/workload/build-jobs.js';
import type { FabricDefinition } from '../../fabric-api/definition.js';
import { SimulatedFabric } from './simulated-fabric.js';
import { temporaryBacking } from './temporary-backing.js';

/** @throws InputError with pointers into the Fabric document */
export function createSimulatedFabric(
  { name, spec }: FabricDefinition,
  seed: number,
  options: FlowSimulatorOptions = {},
): SimulatedFabric {
  const topology = withPointer('/spec/topology', () => buildTopology(spec.topology));
  const jobs = buildJobs(spec.jobs, topology, '/spec/jobs');
  const traits = statedTraits(spec.traits, topology, seed);
  const simulator = new FlowSimulator(topology, jobs, spec.settings, spec.telemetry, seed, {
    samples: { open: () => temporaryBacking() },
    traits,
    ...options,
  });
  return new SimulatedFabric(name, simulator);
}
