/**
 * Fabrics of the table fault × metric: those that ship, each changed so that some faults matter on it.
 */
import type { Impairment } from '../../src/fabric-api/impairment.js';

export interface FabricOfTable {
  file: string;
  from?: string;
  to?: string;
  loaded?: true;
}

/** Fabrics by name: file of experiments, what is changed in it, and whether a load is on it all the time. */
export const FABRICS = {
  rails: { file: 'fabrics/rail-64.yaml' },
  /** Two links between each leaf and each spine. */
  parallel: { file: 'fabrics/rail-64.yaml', from: 'spines: 2', to: 'spines: 2\n    linksPerSpine: 2' },
  spare: { file: 'fabrics/rail-64-spare.yaml' },
  /** Three tiers of switches. */
  tiers: { file: 'ecmp-collision.yaml' },
  /** Steps that are mostly communication. */
  lean: { file: 'fabrics/rail-64.yaml', from: 'compute: 400ms', to: 'compute: 50ms' },
  /** A job with an all-to-all that writes checkpoints to a host of the fabric, and comes to its end. */
  finite: {
    file: 'fabrics/rail-64.yaml',
    from: '      step: &step\n        compute: 400ms\n        collectives:\n',
    to: [
      '      steps: 7',
      '      checkpoint: { every: 2, bytesPerRank: 200MB, to: [host-16] }',
      '      step: &step',
      '        compute: 4s',
      '        collectives:',
      '          - { name: experts, collective: all-to-all, parallelism: data, bytes: 200MB }\n',
    ].join('\n'),
  },
  /** Settings of queues matter where there are queues. */
  busy: { file: 'fabrics/rail-64.yaml', loaded: true },
  /** Settings of pauses matter where nothing else holds the senders. */
  paused: {
    file: 'fabrics/rail-64.yaml',
    from: '  jobs:',
    to: '  settings: { dcqcn: { on: false } }\n  jobs:',
    loaded: true,
  },
} satisfies Record<string, FabricOfTable>;
/** On leaf-1, from the start. */
export const LOAD: Impairment = {
  type: 'traffic',
  name: 'background',
  fromNics: ['nic:host-2/nic-0', 'nic:host-3/nic-0', 'nic:host-4/nic-0'],
  toNic: 'nic:host-1/nic-0',
  rateGbps: 200,
  priority: 3,
  queuePairs: 4,
};
export type FabricName = keyof typeof FABRICS;
