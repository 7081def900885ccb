/**
 * Small definitions for end-to-end suites: a drill that is over in a moment and still has everything in it.
 */
import { stringify } from 'yaml';

export type Json = Record<string, unknown>;

const job = (name: string, offset: number): Json => ({
  name,
  gpus: 4,
  placement: { strategy: 'packed', offset },
  step: { compute: '80ms', collectives: [{ collective: 'all-reduce', bytes: '200MB' }] },
});

/** Two leaves, two spines, four hosts of two GPUs: one job whose ring climbs to the spines, and one that stays low. */
export function fabricDocument(name: string, spec: Json = {}): Json {
  return {
    apiVersion: 'fabricdrill/v1',
    kind: 'Fabric',
    metadata: { name },
    spec: {
      topology: { builder: 'leaf-spine', leaves: 2, spines: 2, hostsPerLeaf: 3, gpusPerHost: 2 },
      jobs: [job('exposed', 4), job('bystander', 0)],
      ...spec,
    },
  };
}

/** A leaf-spine link that the exposed job uses is cut for three of nine seconds. */
export function experimentDocument(name: string, fabric: string, spec: Json = {}): Json {
  return {
    apiVersion: 'fabricdrill/v1',
    kind: 'Experiment',
    metadata: { name },
    spec: {
      fabric,
      seed: 11,
      faults: [
        {
          kind: 'link-down',
          params: { variant: 'cut' },
          target: { type: 'link', tier: 'leaf-spine', usedBy: 'exposed', mode: 'one', order: 'random' },
          at: '3s',
          duration: '3s',
        },
      ],
      objectives: ['recovery.recovered == 1'],
      ...spec,
    },
  };
}

export const yamlOf = (document: Json): string => stringify(document);
