/**
 * A Fabric document made from the topology file of another simulator.
 *
 * It has no jobs: an experiment brings its own. Everything else takes the defaults of the simulated fabric.
 */
import { importTopology, type TopologyFormat } from '../model/topology/importers/index.js';
import { API_VERSION } from './experiment.js';

export interface ImportRequest {
  name: string;
  format: TopologyFormat;
  text: string;
  /** The name to show in errors. */
  file?: string;
}

/** @throws InputError with the line of what can't be read */
export function importedFabric(request: ImportRequest): { document: unknown; notes: string[] } {
  const { spec, notes } = importTopology(request.text, request.format, request.file);
  const document = {
    apiVersion: API_VERSION,
    kind: 'Fabric',
    metadata: { name: request.name },
    spec: { driver: 'simulated', topology: spec },
  };
  return { document, notes };
}
