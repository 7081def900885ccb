/**
 * Bytes that jobs write to storage hosts of the fabric: no connection of theirs tells, but the framework's log does.
 *
 * Each checkpoint moves a known number of bytes from every rank to a known NIC between the instant at which the log says
 * that it began and the one at which it ended; how fast in between is not known. One that is under way when the window
 * ends has no line yet; the step counter tells, and nothing is said about the time from then on.
 * Not modelled: ranks that have moved.
 */
import { jobId } from '../../../core/elements.js';
import type { Job } from '../../../model/workload/job.js';
import type { Context } from '../../series/context.js';
import { freshSamples, type Column } from '../../series/samples.js';

/** Payload that each rank of a job has written so far, as a counter; null where the log is missing. */
export function writtenPerRank(context: Context, job: Job): Column | null {
  const { checkpoint } = job;
  const steps = freshSamples(context.read('job_steps', jobId(job.name)));
  if (checkpoint?.traffic === undefined || steps.length === 0) return null;
  const log = freshSamples(context.read('job_checkpoint_time_s', jobId(job.name)));
  const [lastStep, lastWrite] = [steps[steps.length - 1], log.at(-1)];
  const due = lastStep.value > 0 && lastStep.value % checkpoint.everySteps === 0;
  const underWay = due && lastStep.timeNs > (lastWrite?.timeNs ?? -Infinity);
  const { bytesPerRank } = checkpoint.traffic;
  const timesNs = [
    context.window.fromNs,
    ...log.flatMap((line) => [line.timeNs - line.value * 1e9, line.timeNs]),
  ];
  const values = [0, ...log.flatMap((_, index) => [index * bytesPerRank, (index + 1) * bytesPerRank])];
  timesNs.push(underWay ? lastStep.timeNs : context.window.toNs);
  values.push(log.length * bytesPerRank);
  return { count: timesNs.length, timesNs: Float64Array.from(timesNs), values: Float64Array.from(values) };
}
