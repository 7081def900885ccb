/**
 * Jobs that move, for the corpus: a drain, an eviction, and a lost host with and without a spare.
 *
 * Jobs of these scenes write checkpoints every 5 to 40 steps, for a fraction of a second to seconds (CheckFreq, FAST 2021,
 * and Gemini, SOSP 2023: from every few steps to every half hour, synchronous writes of seconds). Where a host is lost the
 * loss is the fault, which is as plain as any other dead device.
 */
import { oneDevice, type FaultEntry } from './fault-entry.js';

const migration = (variant: string) => ({
  kind: 'job-migration',
  name: `job-migration/${variant}`,
  targets: oneDevice('host'),
  parameters: () => ({ variant }),
});

export const JOB_FAULTS: readonly FaultEntry[] = [
  { ...migration('planned'), class: 'job', weight: 1, needs: { spare: true, checkpoints: true } },
  { ...migration('one-of-n'), class: 'job', weight: 1, needs: { spare: true, checkpoints: true } },
  { ...migration('after-host-loss'), class: 'hard', weight: 0.4, needs: { spare: true, checkpoints: true } },
  { ...migration('no-spare'), class: 'hard', weight: 0.3, needs: { checkpoints: true } },
];
