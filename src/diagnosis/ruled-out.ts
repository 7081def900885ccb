/**
 * What else it could have been, and which observation speaks against it.
 *
 * Only alternatives with an observation against them are listed; one that merely lacks evidence is not ruled out.
 */
import { elementRef, jobId } from '../core/elements.js';
import type { Context } from './series/context.js';
import { number } from './series/change.js';
import type { JobLoss } from './features/jobs/job-loss.js';
import { samplesWithin } from './series/samples.js';
import { median } from './series/statistics.js';
import type { Observations } from './hypotheses/hypothesis.js';
import { familyOf } from './hypotheses/catalog.js';
import type { Explanation } from './explanation.js';
import type { RuledOut } from './verdict.js';

export function ruledOut(
  context: Context,
  observations: Observations,
  culprit: Explanation,
  affected: readonly JobLoss[],
): RuledOut[] {
  const slowGpus = affected.flatMap((loss) => againstStraggler(context, loss, culprit) ?? []);
  return [
    ...familyOf(culprit).rivals(context, observations, culprit),
    ...slowGpus.filter(({ kind }) => kind !== culprit.kind),
  ];
}

const SAME_COMPUTE = 0.1;

/** A slow GPU would make the computing part of a step longer; the network makes the waiting part longer. */
function againstStraggler(context: Context, { job }: JobLoss, culprit: Explanation): RuledOut | null {
  const element = jobId(job.name);
  const onsetNs = culprit.onsetNs ?? culprit.during.fromNs;
  const before = computeTimes(context, element, context.window.fromNs, onsetNs);
  const after = computeTimes(context, element, onsetNs, culprit.during.toNs);
  if (before.length === 0 || after.length === 0) return null;
  const [was, is] = [median(before), median(after)];
  if (is > was * (1 + SAME_COMPUTE)) return null;
  return {
    kind: 'straggler',
    element: elementRef(element),
    why: `GPUs computed ${number(was)} s a step before and ${number(is)} s during the fault: they waited, they were not slow`,
  };
}

/** Time GPUs computed, step by step, from step time and utilisation told at the same instant. */
function computeTimes(context: Context, element: string, fromNs: number, toNs: number): number[] {
  const reach = { fromNs, toNs };
  const utilisation = new Map(
    samplesWithin(context.read('job_gpu_utilisation', element), reach).map(({ timeNs, value }) => [
      timeNs,
      value,
    ]),
  );
  return samplesWithin(context.read('job_step_time_s', element), reach).flatMap(({ timeNs, value }) => {
    const share = utilisation.get(timeNs);
    return share === undefined ? [] : [share * value];
  });
}
