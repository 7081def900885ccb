/**
 * What faults cost, exactly, where the same seed can be run without them: GPU time lost against that twin.
 *
 * A job's loss is by how much later it ended the last step that it ended, plus what it has been waiting for its next
 * step beyond the time of one. Less than a tenth of a step is no loss: nobody who watches steps could blame it on
 * anything. Faults interact (a slow NIC costs nothing while a dead link stops the job), so what one
 * adds depends on the others; its share is the mean over all orders in which they could have come (Shapley), and the
 * shares add up to one.
 */
import { jobId } from '../../core/elements.js';
import { EvidenceIndex, type Evidence } from '../../model/telemetry/series.js';
import type { Job } from '../../model/workload/job.js';
import { freshSamples } from './samples.js';
import { median } from './statistics.js';

/** Share of a step by which a job must be late. */
const LEAST_LATENESS = 0.1;

/** @returns ns of GPU time over all jobs, 0 at least; null when a job's steps are not known */
export function lostAgainstTwin(
  evidence: Evidence,
  twin: Evidence,
  jobs: readonly Job[],
  endNs: number,
): number | null {
  const [own, calm] = [new EvidenceIndex(evidence), new EvidenceIndex(twin)];
  let total = 0;
  for (const job of jobs) {
    const [steps, ideal] = [own, calm].map((index) => freshSamples(index.get('job_steps', jobId(job.name))));
    const last = steps.at(-1);
    const same = last === undefined ? undefined : ideal.find(({ value }) => value >= last.value);
    if (last === undefined || same === undefined) return null;
    const stepNs = median(ideal.slice(1).map(({ timeNs }, at) => timeNs - ideal[at].timeNs));
    const waitedNs = Math.max(0, endNs - last.timeNs - stepNs);
    const lateNs = last.timeNs - same.timeNs + (Number.isFinite(waitedNs) ? waitedNs : 0);
    if (lateNs > 0 && !(lateNs < LEAST_LATENESS * stepNs)) total += job.placement.length * lateNs;
  }
  return total;
}

/**
 * Shapley shares of several causes.
 * @param worth what each set of causes costs, by its bits; 2^count values, of which the first is 0
 * @returns null when all of them together cost nothing
 */
export function shapleyShares(count: number, worth: readonly number[]): number[] | null {
  const all = worth[2 ** count - 1];
  if (!(all > 0)) return null;
  const factorial = (n: number): number => (n < 2 ? 1 : n * factorial(n - 1));
  const orders = factorial(count);
  return Array.from({ length: count }, (_, cause) => {
    let sum = 0;
    for (let others = 0; others < 2 ** count; others++) {
      if ((others >> cause) & 1) continue;
      const size = others.toString(2).replaceAll('0', '').length;
      const weight = (factorial(size) * factorial(count - size - 1)) / orders;
      sum += weight * (worth[others | (1 << cause)] - worth[others]);
    }
    return sum / all;
  });
}
