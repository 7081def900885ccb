/**
 * The evidence behind a culprit: which series to show a doubting engineer, those that changed and no others.
 */
import { jobId } from '../core/elements.js';
import type { MetricName } from '../model/telemetry/catalog.js';
import type { Series } from '../model/telemetry/series.js';
import { cite } from './series/change.js';
import type { Context, Interval } from './series/context.js';
import { edgeSeries, type EdgeSeries } from './features/bytes/edges.js';
import type { JobLoss } from './features/jobs/job-loss.js';
import { gainWithin, rises } from './series/samples.js';
import type { Explanation } from './explanation.js';
import { familyOf } from './hypotheses/catalog.js';
import type { CitedEvidence } from './verdict.js';

const NIC_METRICS: readonly MetricName[] = [
  'nic_local_ack_timeouts',
  'nic_adaptive_retransmissions',
  'nic_packet_sequence_errors',
  'nic_out_of_sequence',
  'nic_retries_exceeded',
];
const JOB_METRICS: readonly MetricName[] = ['job_state', 'job_step_time_s', 'job_gpu_utilisation'];

const MOST_NICS = 2;
const MOST_EDGES = 2;

export function citations(
  context: Context,
  culprit: Explanation,
  affected: readonly JobLoss[],
): CitedEvidence[] {
  const during = culprit.during;
  const jobs = affected.flatMap(({ job }) =>
    JOB_METRICS.map((metric) => context.read(metric, jobId(job.name))),
  );
  const own = { fromNs: culprit.changedNs ?? during.fromNs, toNs: during.toNs };
  const others = [...nicSeries(context, during), ...stalledEdges(context, during, affected), ...jobs];
  return [
    ...familyOf(culprit)
      .series(context, culprit)
      .flatMap((one) => cite(context, one, own) ?? []),
    ...others.flatMap((one) => cite(context, one, during) ?? []),
  ];
}

/** Series of a metric that rose most during a fault. */
function mostRisen(series: readonly Series[], during: Interval, most: number): Series[] {
  return series
    .map((one) => ({
      one,
      gain: gainWithin(one, during),
    }))
    .filter(({ gain }) => gain > 0)
    .sort((one, other) => other.gain - one.gain)
    .slice(0, most)
    .map(({ one }) => one);
}

function nicSeries(context: Context, during: Interval): Series[] {
  return context.once(countersThatMove).flatMap((series) => mostRisen(series, during, MOST_NICS));
}

/** By metric, in the order of the NICs: most of these counters never move, and every culprit asks for them. */
const countersThatMove = (context: Context): Series[][] =>
  NIC_METRICS.map((metric) =>
    context.topology.nics.flatMap(({ index }) => {
      const series = context.readNic(metric, index);
      return series !== undefined && rises(series).length > 0 ? [series] : [];
    }),
  );

const edgesThatStall = (context: Context): EdgeSeries[] =>
  edgeSeries(context, 'edge_stalled_s').filter(({ series }) => rises(series).length > 0);

/** The edges of the affected jobs that stood still longest; by rank where they stood equally long. */
export function stalledEdges(context: Context, during: Interval, affected: readonly JobLoss[]): Series[] {
  const names = affected.map(({ job }) => job.name);
  const edges = context.once(edgesThatStall).flatMap(({ job, from, to, series }) => {
    const place = names.indexOf(job.name);
    return place < 0 ? [] : [{ series, order: [place, from, to] }];
  });
  edges.sort(
    ({ order: one }, { order: other }) => one[0] - other[0] || one[1] - other[1] || one[2] - other[2],
  );
  return mostRisen(
    edges.map(({ series }) => series),
    during,
    MOST_EDGES,
  );
}
