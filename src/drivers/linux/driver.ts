/** Linux fabrics' entry in the catalogue; what opens and builds them is loaded when that is asked for. */
import { fabricSpecSchema, type FabricDefinition } from '../../fabric-api/definition.js';
import type { FabricInstance } from '../../fabric-api/fabric-processes.js';
import type { LabBuilder } from '../../fabric-api/lab-builder.js';
import type { ServerSettings } from '../../fabric-api/server-settings.js';
import { recordedLabs } from './lab/record.js';
import type { LinuxFabric } from './linux-fabric.js';
import { simulatedTwin } from './twin.js';

const labs: LabBuilder = {
  up: async (definition, progress) => (await import('./open.js')).labs.up(definition, progress),
  down: async (name) => (await import('./open.js')).labs.down(name),
  names: recordedLabs,
};

export const linuxDriver = {
  name: 'linux',
  summary: 'Linux network stacks as namespaces of this machine, FRR and real jobs, in real time',
  schema: fabricSpecSchema,
  labs,
  twin: simulatedTwin,
  create: async (
    definition: FabricDefinition,
    _seed: number,
    _instance: FabricInstance | undefined,
    settings: ServerSettings,
  ): Promise<LinuxFabric> => (await import('./open.js')).openLinux(definition, settings),
};
