/**
 * How fast jobs train, in seconds a step: the figure that two fabrics can be compared by.
 *
 * Before the fault it is a job's median step time T0. From the injection to the end of the run it is T0 over the mean pace
 * of that time, so that stalls, restarts and redone steps count and a checkpoint of usual length does not (step-pace.ts).
 * Jobs are weighted by their GPUs. Null as soon as one job's pace is not known: a mean of those who can be asked would
 * look better the worse the others are.
 */
import type { EvidenceIndex } from '../../model/telemetry/series.js';
import type { Job } from '../../model/workload/job.js';
import { NS_PER_S } from './statistics.js';
import { jobPace, meanPace } from './step-pace.js';

export interface TrainingPace {
  /** Before the fault; of the whole run where nothing was injected. */
  step_time_s: number | null;
  /** From the injection on; null where nothing was injected, or no step was finished at all. */
  faulted_step_time_s: number | null;
}

/** @param injectedNs ns from the run's start; null when nothing was injected */
export function trainingPace(
  index: EvidenceIndex,
  jobs: readonly Job[],
  injectedNs: number | null,
  endNs: number,
): TrainingPace {
  const paces = jobs.map((job) => jobPace(index, job, injectedNs ?? endNs, endNs));
  if (paces.length === 0 || paces.includes(null)) return { step_time_s: null, faulted_step_time_s: null };
  let [gpus, before, after] = [0, 0, 0];
  for (const pace of paces) {
    gpus += pace!.gpus;
    before += pace!.gpus * pace!.stepNs;
    if (injectedNs === null) continue;
    after += (pace!.gpus * pace!.stepNs) / meanPace(pace!, injectedNs, endNs);
  }
  const faulted = injectedNs === null || !Number.isFinite(after) ? null : after / gpus / NS_PER_S;
  return { step_time_s: before / gpus / NS_PER_S, faulted_step_time_s: faulted };
}
