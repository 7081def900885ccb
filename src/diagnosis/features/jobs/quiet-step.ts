/**
 * Long steps that the network had no hand in: validation, a heavier batch, a garbage collection on every rank.
 *
 * A step is long in computing when what it took beyond the usual one went by without waiting for the fabric, which the
 * GPUs' utilisation of that very step tells. Failing that, it is no matter of the network when everything that a loss
 * moves was watched over the whole step and stood: connections, and the loss counters of every NIC of the job. What was
 * not watched vouches for nothing.
 */
import { jobId } from '../../../core/elements.js';
import type { MetricName } from '../../../model/telemetry/catalog.js';
import type { Series } from '../../../model/telemetry/series.js';
import type { Job } from '../../../model/workload/job.js';
import type { Context, Interval } from '../../series/context.js';
import { freshColumn, freshSamples, gainWithin } from '../../series/samples.js';
import type { Sample } from '../../series/samples.js';
import { median } from '../../series/statistics.js';

/** So much of the excess must be computing. */
const COMPUTING_SHARE = 0.8;

export interface TimedStep extends Interval {
  tookS: number;
  /** Part of it that waited for the fabric; null when utilisation was not told. */
  waitedS: number | null;
}

/** Steps as the framework logged them. */
export function timedSteps(context: Context, { name }: Job): TimedStep[] {
  const utilisation = new Map(
    freshSamples(context.read('job_gpu_utilisation', jobId(name))).map(({ timeNs, value }) => [
      timeNs,
      value,
    ]),
  );
  return freshSamples(context.read('job_step_time_s', jobId(name))).map(({ timeNs, value }: Sample) => {
    const busy = utilisation.get(timeNs);
    const waitedS = busy === undefined ? null : (1 - busy) * value;
    return { fromNs: timeNs - value * 1e9, toNs: timeNs, tookS: value, waitedS };
  });
}

/** Whether a step was long because it computed longer, not because it waited. */
export function isHeavier(step: TimedStep, all: readonly TimedStep[]): boolean {
  const waits = all.flatMap(({ waitedS }) => (waitedS === null ? [] : [waitedS]));
  if (step.waitedS === null || waits.length === 0) return false;
  const excess = step.tookS - median(all.map(({ tookS }) => tookS));
  return step.waitedS - median(waits) <= (1 - COMPUTING_SHARE) * excess;
}

/** Whether nothing that a loss moves did move, all of it having been watched. */
export function nothingMoved(
  context: Context,
  job: Job,
  during: Interval,
  counters: readonly MetricName[],
  leastStallS: number,
): boolean {
  const { gpus } = context.topology;
  const edges = context
    .all('edge_stalled_s')
    .filter(({ element }) => element.startsWith(`edge:${job.name}/`));
  const heard = new Set<number>();
  for (const series of edges) {
    if (!covers(series, during) || gainWithin(series, during) > leastStallS) return false;
    for (const rank of /(\d+)-(\d+)$/.exec(series.element)?.slice(1, 3) ?? []) {
      heard.add(gpus[job.placement[Number(rank)]].host);
    }
  }
  return [...job.placement].every((gpu) => {
    const counted = counters.map((metric) => context.readNic(metric, gpus[gpu].nic));
    return (
      heard.has(gpus[gpu].host) &&
      counted.every((series) => covers(series, during) && gainWithin(series, during) === 0)
    );
  });
}

function covers(series: Series | undefined, { fromNs, toNs }: Interval): boolean {
  const { count, timesNs } = freshColumn(series);
  return count > 1 && timesNs[0] <= fromNs && timesNs[count - 1] >= toNs;
}
