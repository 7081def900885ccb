/**
 * The evidence behind a culprit: which series to show a doubting engineer, those that changed and no others.
 */
import { jobId, nicId } from '../kernel/elements.js';
import type { MetricName } from '../telemetry/catalog.js';
import type { Series } from '../telemetry/series.js';
import { peerPort } from '../topology/model.js';
import { cite } from './features/change.js';
import type { Context, Interval } from './features/context.js';
import type { JobLoss } from './features/job-loss.js';
import { increments } from './features/samples.js';
import { overlaps } from './features/context.js';
import type { Explanation } from './rank.js';
import type { CitedEvidence } from './verdict.js';

/** In the order in which an engineer would look. */
const PORT_METRICS: readonly MetricName[] = [
  'port_oper_status',
  'port_admin_status',
  'port_link_down_events',
  'bfd_session_status',
  'optic_rx_power_dbm',
  'port_rx_errors',
  'port_tx_discards',
  'port_tx_bytes',
  'port_rx_bytes',
  'route_port_prefixes',
];
const NEIGHBOUR_METRICS: readonly MetricName[] = [
  'port_oper_status',
  'port_link_down_events',
  'optic_rx_power_dbm',
];
const NIC_METRICS: readonly MetricName[] = [
  'nic_local_ack_timeouts',
  'nic_adaptive_retransmissions',
  'nic_retries_exceeded',
];
const JOB_METRICS: readonly MetricName[] = ['job_state', 'job_step_time_s', 'job_gpu_utilisation'];

/** A dead switch has many neighbours that all say the same; so many of them are cited. */
const MOST_NEIGHBOURS = 8;
const MOST_NICS = 2;
const MOST_EDGES = 2;

export function citations(
  context: Context,
  culprit: Explanation,
  affected: readonly JobLoss[],
): CitedEvidence[] {
  const during = culprit.during;
  const series =
    culprit.device === undefined ? linkSeries(context, culprit) : nodeSeries(context, culprit.device);
  const jobs = affected.flatMap(({ job }) =>
    JOB_METRICS.map((metric) => context.read(metric, jobId(job.name))),
  );
  return [
    ...series,
    ...nicSeries(context, during),
    ...stalledEdges(context, during, affected),
    ...jobs,
  ].flatMap((one) => cite(context, one, during) ?? []);
}

function linkSeries(context: Context, culprit: Explanation): (Series | undefined)[] {
  const ends = context.endsOf(context.topology.links[culprit.links[0]]);
  const ports = PORT_METRICS.flatMap((metric) => ends.map((port) => context.readPort(metric, port)));
  const devices = ends.map((port) => context.topology.ports[port].device);
  return [...ports, ...devices.map((device) => context.readDevice('route_next_hops', device))];
}

function nodeSeries(context: Context, device: number): (Series | undefined)[] {
  const neighbours = context.topology.devices[device].ports.map((port) => peerPort(context.topology, port));
  return [
    context.readDevice('device_reachable', device),
    ...NEIGHBOUR_METRICS.flatMap((metric) =>
      neighbours.slice(0, MOST_NEIGHBOURS).map((port) => context.readPort(metric, port)),
    ),
  ];
}

/** Series of a metric that rose most during a fault. */
function mostRisen(series: readonly Series[], during: Interval, most: number): Series[] {
  return series
    .map((one) => ({
      one,
      gain: increments(one)
        .filter((step) => overlaps(step, during))
        .reduce((sum, step) => sum + step.gain, 0),
    }))
    .filter(({ gain }) => gain > 0)
    .sort((one, other) => other.gain - one.gain)
    .slice(0, most)
    .map(({ one }) => one);
}

function nicSeries(context: Context, during: Interval): Series[] {
  return NIC_METRICS.flatMap((metric) => {
    const series = context.topology.nics.flatMap((nic) => context.read(metric, nicId(nic.name)) ?? []);
    return mostRisen(series, during, MOST_NICS);
  });
}

/** The edges of the affected jobs that stood still longest; by rank where they stood equally long. */
export function stalledEdges(context: Context, during: Interval, affected: readonly JobLoss[]): Series[] {
  const names = affected.map(({ job }) => job.name);
  const edges = context.all('edge_stalled_s').flatMap((series) => {
    const [, name, source, destination] = /^edge:(.*)\/(\d+)-(\d+)$/.exec(series.element) ?? [];
    const job = names.indexOf(name);
    return job < 0 ? [] : [{ series, order: [job, Number(source), Number(destination)] }];
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
