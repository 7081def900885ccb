/**
 * Which metrics a lab really has, on which elements. What Linux does not count is not among them.
 *
 * There are no optics, no FEC, no PFC and no PCIe behind a veth, no marking that a queue would count (tbf has none), and
 * no watermarks. TCP has an own word for four counters of an RDMA NIC, in the same sense: timers that expired, connections
 * that gave up, recoveries begun on the receiver's word, packets that came marked; docs/real-fabrics.md says which. What
 * comes behind a gap is kept by TCP and dropped by an RDMA NIC, so that TCP's count of it is not that of the catalogue.
 * A device whose dialect tells less has fewer: what nobody counts there is absent, not empty.
 */
import { deviceId, edgeId, jobId, nicId, portId, queueId, rankId } from '../../../core/elements.js';
import type { MetricName } from '../../../model/telemetry/catalog.js';
import { peerPort, type Topology } from '../../../model/topology/model.js';
import type { Job } from '../../../model/workload/job.js';
import type { Dialect } from '../dialects/dialect.js';
import { ringEdges } from '../job/runnable.js';
import type { SeriesName } from './series-store.js';

/** All traffic of a lab waits in one queue a port; it counts as the class in which jobs send by default. */
export const LAB_PRIORITY = 3;

const LINK_METRICS = [
  'port_oper_status',
  'port_admin_status',
  'port_link_down_events',
] as const satisfies readonly MetricName[];

/** Of ports whose packets the kernel sees, or whose hardware tells it what it forwards. */
const COUNTED_METRICS = [
  'port_rate_gbps',
  'port_tx_bytes',
  'port_rx_bytes',
  'port_tx_discards',
  'port_rx_errors',
] as const satisfies readonly MetricName[];

const QUEUE_METRICS = [
  'queue_tx_bytes',
  'queue_drop_packets',
  'queue_depth_bytes',
  'queue_depth_max_bytes',
] as const satisfies readonly MetricName[];

/** Metric of a NIC → counters of /proc/net/netstat whose sum it is. */
export const NIC_COUNTERS = {
  nic_local_ack_timeouts: ['TcpExt.TCPTimeouts'],
  nic_retries_exceeded: ['TcpExt.TCPAbortOnTimeout'],
  nic_packet_sequence_errors: ['TcpExt.TCPSackRecovery', 'TcpExt.TCPRenoRecovery'],
  nic_ecn_marked_packets: ['IpExt.InCEPkts'],
} as const satisfies Partial<Record<MetricName, readonly string[]>>;

const JOB_METRICS = [
  'job_state',
  'job_steps',
  'job_step_time_s',
  'job_gpu_utilisation',
  'job_algbw_gbytes_per_s',
  'job_busbw_gbytes_per_s',
  'job_allreduce_latency_s',
  'job_allreduce_latency_p99_s',
  'job_flow_p99_s',
  'job_checkpoint_time_s',
  'job_restarts',
  'job_redone_steps',
  'job_completion_time_s',
] as const satisfies readonly MetricName[];

/** What a device tells of its ports. */
export type Telling = Pick<Dialect, 'counts'> & { bfd: boolean };
const TELLS_ALL: Telling = { counts: 'queues', bfd: true };

export interface SeriesSetOptions {
  topology: Topology;
  jobs: readonly Job[];
  bfd: boolean;
  /** By device index; all of it when left out. */
  tellingOf?: (device: number) => Telling;
  /** The only metrics watched; all when left out. */
  watched?: readonly MetricName[];
}

/** In a stable order. */
export function seriesSet(options: SeriesSetOptions): SeriesName[] {
  const { topology, jobs, bfd, tellingOf = () => TELLS_ALL, watched } = options;
  const names: SeriesName[] = [];
  const add = (element: string, ...metrics: readonly MetricName[]): void => {
    for (const metric of metrics) names.push({ metric, element });
  };
  for (const { name, role } of topology.devices) {
    add(deviceId(name), 'device_reachable');
    if (role === 'switch') add(deviceId(name), 'route_next_hops');
    else add(deviceId(name), 'host_drained', 'host_allocated_gpus');
  }
  for (const port of topology.ports) {
    const { counts, bfd: tellsBfd } = tellingOf(port.device);
    add(portId(port.name), ...LINK_METRICS);
    if (counts !== 'none') add(portId(port.name), ...COUNTED_METRICS);
    if (!isSwitch(topology, port.device)) continue;
    add(portId(port.name), 'route_port_prefixes');
    if (counts === 'queues') add(queueId(port.name, LAB_PRIORITY), ...QUEUE_METRICS);
    const between = isSwitch(topology, topology.ports[peerPort(topology, port.index)].device);
    if (bfd && tellsBfd && between) add(portId(port.name), 'bfd_session_status');
  }
  for (const { name } of topology.nics) add(nicId(name), ...(Object.keys(NIC_COUNTERS) as MetricName[]));
  for (const job of jobs) {
    add(jobId(job.name), ...JOB_METRICS);
    job.placement.forEach((_, rank) =>
      add(rankId(job.name, rank), 'rank_compute_time_s', 'rank_wait_time_s'),
    );
    for (const { fromRank, toRank } of ringEdges(job)) {
      add(edgeId(job.name, fromRank, toRank), 'edge_tx_bytes', 'edge_stalled_s');
    }
  }
  const wanted = watched === undefined ? undefined : new Set(watched);
  return names.filter(({ metric }) => wanted?.has(metric) ?? true);
}

const isSwitch = (topology: Topology, device: number): boolean => topology.devices[device].role === 'switch';
