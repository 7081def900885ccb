/**
 * Bytes that jobs write to storage hosts of the fabric: no connection of theirs tells, but the framework's log does.
 *
 * Each checkpoint moves a known number of bytes from every rank to a known NIC from the instant on at which the log says
 * that it began. How fast they go then is not known, so all of them are expected at once: the counter here is the most
 * that can have been written. One that is under way when the window ends has no line yet; the step counter tells.
 * Not modelled: ranks that have moved.
 */
import { jobId } from '../../kernel/elements.js';
import type { Job } from '../../workload/job.js';
import type { Context } from './context.js';
import { freshSamples, type Column } from './samples.js';

/** Most payload that each rank of a job may have written so far, as a counter; null where the log is missing. */
export function writtenPerRank(context: Context, job: Job): Column | null {
  const { checkpoint } = job;
  const steps = freshSamples(context.read('job_steps', jobId(job.name)));
  if (checkpoint?.traffic === undefined || steps.length === 0) return null;
  const log = freshSamples(context.read('job_checkpoint_time_s', jobId(job.name)));
  const beganNs = log.map(({ timeNs, value }) => timeNs - value * 1e9);
  const [lastStep, lastWrite] = [steps[steps.length - 1], log.at(-1)];
  const due = lastStep.value > 0 && lastStep.value % checkpoint.everySteps === 0;
  if (due && lastStep.timeNs > (lastWrite?.timeNs ?? -Infinity)) beganNs.push(lastStep.timeNs);
  const { bytesPerRank } = checkpoint.traffic;
  return {
    count: 2 * beganNs.length + 1,
    timesNs: Float64Array.from([context.window.fromNs, ...beganNs.flatMap((ns) => [ns, ns + 1])]),
    values: Float64Array.from([
      0,
      ...beganNs.flatMap((_, index) => [index * bytesPerRank, (index + 1) * bytesPerRank]),
    ]),
  };
}
