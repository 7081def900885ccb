/**
 * The simulated fabric's entry in the catalogue.
 *
 * It is simulated in this process, as fast as that can be computed. One with a pace, opened for a run, is a process of its own
 * that keeps to the wall clock; for a plan, a gate or the same seed again nobody waits, so these never have a pace.
 * The simulator is loaded when a fabric is opened: most commands name this driver and simulate nothing.
 */
import { fabricSpecSchema, type FabricDefinition } from '../../fabric-api/definition.js';
import type { Fabric } from '../../fabric-api/fabric.js';
import type { FabricInstance } from '../../fabric-api/fabric-processes.js';
import { PacedProcesses } from './paced/processes.js';

const load = () => import('./create-simulated-fabric.js');

export const simulatedDriver = {
  name: 'simulated',
  summary: 'a flow-level simulation of the fabric and its jobs, in simulated time',
  schema: fabricSpecSchema,
  load,
  create: async (definition: FabricDefinition, seed: number, instance?: FabricInstance): Promise<Fabric> => {
    const { createSimulatedFabric } = await load();
    const inProcess = () => createSimulatedFabric(definition, seed);
    const { pace } = definition.spec;
    if (pace === undefined || instance === undefined) return inProcess();
    const { openPaced } = await import('./paced/open-paced.js');
    const { name, sealed } = instance;
    return openPaced(definition, seed, { pace, instance: name, sealed, standIn: inProcess });
  },
  processes: new PacedProcesses(),
};
