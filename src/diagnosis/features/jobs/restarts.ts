/**
 * Restarts of jobs, and checkpoints, as the framework's log and the scheduler tell them.
 *
 * A restart is told by its counter, or by a step counter that goes back; the job stood still from the moment at which the
 * scheduler (else the last step end) says so. Checkpoints stand between steps and are no loss as long as they take what
 * they usually take.
 */
import { jobId } from '../../../core/elements.js';
import type { Job } from '../../../model/workload/job.js';
import type { Context, Interval } from '../../series/context.js';
import { freshSamples, stateSpans } from '../../series/samples.js';
import { median } from '../../series/statistics.js';

/** Values of `job_state` in the catalogue. */
export const JOB_STATES = { failed: 0, running: 1, waiting: 2, complete: 3 } as const;

export interface Restart {
  job: Job;
  /** From the last word of the old processes to the first of the new ones; to the window's end where there is none. */
  stopped: Interval;
  /** False for a job that still waits for its processes. */
  resumed: boolean;
  /** Step from which it went on; null when not known. */
  fromStep: number | null;
  redoneSteps: number;
}

export const observeRestarts = (context: Context): Restart[] =>
  context.jobs.flatMap((job) => restartsOf(context, job));

function restartsOf(context: Context, job: Job): Restart[] {
  const id = jobId(job.name);
  const steps = freshSamples(context.read('job_steps', id));
  const counted = freshSamples(context.read('job_restarts', id));
  const resumedNs = new Set(
    counted.filter(({ value }, at) => at > 0 && value > counted[at - 1].value).map(({ timeNs }) => timeNs),
  );
  steps.forEach(({ timeNs, value }, at) => {
    if (at > 0 && value < steps[at - 1].value) resumedNs.add(timeNs);
  });
  const waits = stateSpans(context.read('job_state', id), context.window.toNs).filter(
    ({ value }) => value === JOB_STATES.waiting,
  );
  const done = [...resumedNs]
    .sort((one, other) => one - other)
    .map((toNs): Restart => {
      const before = steps.findLast(({ timeNs }) => timeNs < toNs);
      const after = steps.find(({ timeNs }) => timeNs === toNs);
      const wait = waits.find((span) => span.fromNs < toNs && span.toNs >= toNs);
      return {
        job,
        stopped: { fromNs: wait?.fromNs ?? before?.timeNs ?? context.window.fromNs, toNs },
        resumed: true,
        fromStep: after?.value ?? null,
        redoneSteps: Math.max(0, (before?.value ?? 0) - (after?.value ?? before?.value ?? 0)),
      };
    });
  const last = waits.at(-1);
  const stillWaits = last !== undefined && last.toNs === context.window.toNs;
  if (!stillWaits) return done;
  return [...done, { job, stopped: last, resumed: false, fromStep: null, redoneSteps: 0 }];
}

/** A checkpoint may take this much of the median: jobs that write at once get in each other's way. */
const LONGEST_CHECKPOINT = 1.5;

/** Time in which a job wrote a checkpoint, each for no longer than its checkpoints usually take. */
export function checkpoints(context: Context, job: Job): Interval[] {
  const written = freshSamples(context.read('job_checkpoint_time_s', jobId(job.name)));
  const usualS = LONGEST_CHECKPOINT * median(written.map(({ value }) => value));
  return written.map(({ timeNs, value }) => {
    const fromNs = timeNs - value * 1e9;
    return { fromNs, toNs: fromNs + Math.min(value, usualS) * 1e9 };
  });
}

/** When the job was complete; null when it was not, within the window. */
export function completedNs(context: Context, job: Job): number | null {
  const spans = stateSpans(context.read('job_state', jobId(job.name)), context.window.toNs);
  return spans.find(({ value }) => value === JOB_STATES.complete)?.fromNs ?? null;
}
