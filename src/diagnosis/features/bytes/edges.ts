/**
 * The connections of jobs in the evidence: `edge:NAME/3-7` is what rank 3 of a job sends to rank 7.
 */
import type { MetricName } from '../../../model/telemetry/catalog.js';
import type { Series } from '../../../model/telemetry/series.js';
import type { Job } from '../../../model/workload/job.js';
import type { Context } from '../../series/context.js';

export interface EdgeSeries {
  job: Job;
  /** Ranks. */
  from: number;
  to: number;
  series: Series;
}

const EDGE = /^edge:(.*)\/(\d+)-(\d+)$/;

/** Series of a metric of edges, in evidence order; those of jobs that are not known are left out. */
export function edgeSeries(context: Context, metric: MetricName): EdgeSeries[] {
  const jobs = new Map(context.jobs.map((job) => [job.name, job]));
  return context.all(metric).flatMap((series) => {
    const [, name, from, to] = EDGE.exec(series.element) ?? [];
    const job = jobs.get(name);
    return job === undefined ? [] : [{ job, from: Number(from), to: Number(to), series }];
  });
}

/** The same by job. */
export function edgesByJob(context: Context, metric: MetricName): Map<Job, EdgeSeries[]> {
  const byJob = new Map<Job, EdgeSeries[]>();
  for (const edge of edgeSeries(context, metric)) {
    const own = byJob.get(edge.job);
    if (own === undefined) byJob.set(edge.job, [edge]);
    else own.push(edge);
  }
  return byJob;
}
