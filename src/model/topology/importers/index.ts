/**
 * Formats in which a topology can be imported, and the one entry to all of them.
 */
import { InputError } from '../../../core/problem.js';
import { importNs3 } from './import-ns3.js';
import { importSimai } from './import-simai.js';
import type { ImportedTopology } from './topology-text.js';

const IMPORTERS = { ns3: importNs3, simai: importSimai } as const;

export type TopologyFormat = keyof typeof IMPORTERS;
export const TOPOLOGY_FORMATS = Object.keys(IMPORTERS) as TopologyFormat[];
export type { ImportedTopology } from './topology-text.js';

/**
 * Reads a topology file's text.
 *
 * @param file its name as the user knows it, for messages
 * @throws InputError with file and line of each mistake
 */
export function importTopology(text: string, format: TopologyFormat, file?: string): ImportedTopology {
  try {
    return IMPORTERS[format](text);
  } catch (error) {
    if (!(error instanceof InputError) || file === undefined) throw error;
    throw new InputError(error.issues.map((issue) => ({ ...issue, file })));
  }
}
