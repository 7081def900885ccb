/**
 * How much of what the jobs lost was their own work, or their storage: steps that compute longer on all ranks, and
 * checkpoints that take longer than the others.
 *
 * Read off what frameworks log at each step end, so that nothing of the network is asked. A step that waits longer is
 * neither, whatever it waits for.
 */
import { jobId } from '../../../core/elements.js';
import type { Context } from '../../series/context.js';
import { freshSamples } from '../../series/samples.js';
import { median, quantile } from '../../series/statistics.js';
import { timedSteps } from './quiet-step.js';

export interface Work {
  /** Time beyond the usual, ns over all jobs. */
  lostNs: number;
  /** Part of it in which ranks computed, and in which a checkpoint was written. */
  work: number;
  storage: number;
}

/** Steps and checkpoints of the faster part are the usual ones. */
const USUAL_SHARE = 0.25;
/** Longer by less is no loss. */
const LEAST_EXCESS = 0.05;
/** Checkpoints that are written at once get in each other's way. */
const LONG_CHECKPOINT = 1.5;

export function observeWork(context: Context): Work {
  const total: Work = { lostNs: 0, work: 0, storage: 0 };
  for (const job of context.jobs) {
    const steps = timedSteps(context, job);
    const usualS = quantile(
      steps.map(({ tookS }) => tookS),
      USUAL_SHARE,
    );
    const computed = ({ tookS, waitedS }: (typeof steps)[number]): number => tookS - (waitedS ?? tookS);
    const usualWorkS = quantile(steps.map(computed), USUAL_SHARE);
    for (const step of steps) {
      const excessS = step.tookS - usualS;
      if (!(excessS > LEAST_EXCESS * usualS)) continue;
      total.lostNs += excessS * 1e9;
      total.work += Math.min(excessS, Math.max(0, computed(step) - usualWorkS)) * 1e9;
    }
    const written = freshSamples(context.read('job_checkpoint_time_s', jobId(job.name)));
    const mostS = LONG_CHECKPOINT * median(written.map(({ value }) => value));
    for (const { value } of written) total.storage += Math.max(0, value - mostS) * 1e9;
  }
  total.lostNs += total.storage;
  return total;
}
