/** Runs that are missing, as batches for workers: one experiment, one side, a few seeds each. */
import type { GateBatch } from '../platform/queue/gate-queue.js';
import type { SideTask } from '../../drill/gate/rounds.js';

/** Few enough that two workers end a round at about the same time, and enough that the queue is no burden. */
const SEEDS_A_BATCH = 4;

/** Batches in the order of the runs; each run is in exactly one. */
export function batchesOf(tasks: readonly SideTask[]): GateBatch[] {
  const open = new Map<string, GateBatch>();
  const batches: GateBatch[] = [];
  for (const { experiment, side, seed } of tasks) {
    const key = `${experiment}/${side}`;
    const batch = open.get(key);
    if (batch !== undefined && batch.seeds.length < SEEDS_A_BATCH) {
      batch.seeds.push(seed);
      continue;
    }
    const next = { experiment, side, seeds: [seed] };
    open.set(key, next);
    batches.push(next);
  }
  return batches;
}
