/**
 * The metric catalogue: every figure that may be observed, what it means, and which counter it is in the field.
 *
 * Producers (fabrics) may emit these names only, consumers (diagnosis, scoring, gate) may read these names only, and
 * docs/metrics.md is written from this file. Counter sources: Linux mlx5 counters.rst, SONiC COUNTERS_DB and
 * STATE_DB designs, OpenConfig models, node_exporter and dcgm-exporter; an empty source means that the system in
 * question does not export it.
 */
import type { ElementType } from '../kernel/elements.js';

export type MetricKind = 'gauge' | 'counter' | 'state';
/** `poll`: at the source's interval. `on-change`: at the instant of change, plus one sample at the start. */
export type Sampling = 'poll' | 'on-change';

export interface MetricSources {
  mlx5?: string;
  sonic?: string;
  openconfig?: string;
  prometheus?: string;
  /** NCCL, framework or scheduler figures. */
  training?: string;
}

export interface MetricDefinition {
  name: string;
  element: ElementType;
  kind: MetricKind;
  unit: string;
  sampling: Sampling;
  description: string;
  sources: MetricSources;
}

export const METRICS = [
  {
    name: 'device_reachable',
    element: 'device',
    kind: 'state',
    unit: '1 answers, 0 silent',
    sampling: 'poll',
    description: 'the device answers its telemetry poll over the management network',
    sources: { prometheus: 'up' },
  },
  {
    name: 'port_oper_status',
    element: 'port',
    kind: 'state',
    unit: '1 up, 0 down',
    sampling: 'on-change',
    description: 'operational status that the port itself reports',
    sources: {
      sonic: 'PORT oper_status',
      openconfig: '/interfaces/interface/state/oper-status',
      prometheus: 'node_infiniband_state_id',
    },
  },
  {
    name: 'port_admin_status',
    element: 'port',
    kind: 'state',
    unit: '1 enabled, 0 shut down',
    sampling: 'on-change',
    description: 'configured status of the port',
    sources: { sonic: 'PORT admin_status', openconfig: '/interfaces/interface/state/admin-status' },
  },
  {
    name: 'port_rate_gbps',
    element: 'port',
    kind: 'gauge',
    unit: 'Gbit/s',
    sampling: 'poll',
    description: 'negotiated speed; N/A while the port is down',
    sources: {
      sonic: 'PORT speed',
      openconfig: '/interfaces/interface/ethernet/state/port-speed',
      prometheus: 'node_infiniband_rate_bytes_per_second',
    },
  },
  {
    name: 'port_tx_bytes',
    element: 'port',
    kind: 'counter',
    unit: 'bytes',
    sampling: 'poll',
    description: 'bytes sent on the wire',
    sources: {
      mlx5: 'tx_bytes_phy',
      sonic: 'SAI_PORT_STAT_IF_OUT_OCTETS',
      openconfig: '/interfaces/interface/state/counters/out-octets',
      prometheus: 'node_infiniband_port_data_transmitted_bytes_total',
    },
  },
  {
    name: 'port_rx_bytes',
    element: 'port',
    kind: 'counter',
    unit: 'bytes',
    sampling: 'poll',
    description: 'bytes received from the wire',
    sources: {
      mlx5: 'rx_bytes_phy',
      sonic: 'SAI_PORT_STAT_IF_IN_OCTETS',
      openconfig: '/interfaces/interface/state/counters/in-octets',
      prometheus: 'node_infiniband_port_data_received_bytes_total',
    },
  },
  {
    name: 'port_tx_discards',
    element: 'port',
    kind: 'counter',
    unit: 'packets',
    sampling: 'poll',
    description: 'packets dropped at egress, a dead port or a missing next hop included',
    sources: {
      mlx5: 'tx_discards_phy',
      sonic: 'SAI_PORT_STAT_IF_OUT_DISCARDS',
      openconfig: '/interfaces/interface/state/counters/out-discards',
    },
  },
  {
    name: 'port_rx_errors',
    element: 'port',
    kind: 'counter',
    unit: 'packets',
    sampling: 'poll',
    description: 'packets received damaged and dropped',
    sources: {
      mlx5: 'rx_crc_errors_phy',
      sonic: 'SAI_PORT_STAT_IF_IN_ERRORS',
      openconfig: '/interfaces/interface/state/counters/in-errors',
      prometheus: 'node_infiniband_port_errors_received_total',
    },
  },
  {
    name: 'port_link_down_events',
    element: 'port',
    kind: 'counter',
    unit: 'events',
    sampling: 'poll',
    description: 'times the port lost its link',
    sources: {
      mlx5: 'link_down_events_phy',
      sonic: 'APPL_DB flap_count',
      openconfig: '/interfaces/interface/state/counters/carrier-transitions',
      prometheus: 'node_infiniband_link_downed_total',
    },
  },
  {
    name: 'queue_tx_bytes',
    element: 'queue',
    kind: 'counter',
    unit: 'bytes',
    sampling: 'poll',
    description: 'bytes sent from an egress queue of a switch port',
    sources: {
      sonic: 'SAI_QUEUE_STAT_BYTES',
      openconfig: '/qos/interfaces/interface/output/queues/queue/state/transmit-octets',
    },
  },
  {
    name: 'queue_drop_packets',
    element: 'queue',
    kind: 'counter',
    unit: 'packets',
    sampling: 'poll',
    description: 'packets dropped at an egress queue of a switch port',
    sources: {
      sonic: 'SAI_QUEUE_STAT_DROPPED_PACKETS',
      openconfig: '/qos/interfaces/interface/output/queues/queue/state/dropped-pkts',
    },
  },
  {
    name: 'bfd_session_status',
    element: 'port',
    kind: 'state',
    unit: '1 up, 0 down',
    sampling: 'on-change',
    description: 'state of the BFD session over a switch-to-switch port',
    sources: {
      sonic: 'STATE_DB BFD_SESSION_TABLE state',
      openconfig: '/bfd/interfaces/interface/peers/peer/state/session-state',
    },
  },
  {
    name: 'route_port_prefixes',
    element: 'port',
    kind: 'gauge',
    unit: 'prefixes',
    sampling: 'on-change',
    description: 'host prefixes for which this switch port is one of the installed next hops',
    sources: {
      sonic: 'ASIC_DB NEXT_HOP_GROUP_MEMBER',
      openconfig: '/network-instances/network-instance/afts/next-hop-groups',
    },
  },
  {
    name: 'route_next_hops',
    element: 'device',
    kind: 'gauge',
    unit: 'next hops',
    sampling: 'on-change',
    description: 'installed next hops of a switch, summed over all host prefixes',
    sources: {
      sonic: 'ASIC_DB NEXT_HOP_GROUP_MEMBER',
      openconfig: '/network-instances/network-instance/afts/next-hop-groups',
    },
  },
  {
    name: 'optic_rx_power_dbm',
    element: 'port',
    kind: 'gauge',
    unit: 'dBm',
    sampling: 'poll',
    description: 'received optical power; -40 is the floor, nothing arrives',
    sources: {
      mlx5: 'ethtool -m: Rcvr signal avg optical power',
      sonic: 'TRANSCEIVER_DOM_SENSOR rx1power',
      openconfig: '/components/component/transceiver/physical-channels/channel/state/input-power',
    },
  },
  {
    name: 'optic_tx_power_dbm',
    element: 'port',
    kind: 'gauge',
    unit: 'dBm',
    sampling: 'poll',
    description: 'launched optical power',
    sources: {
      mlx5: 'ethtool -m: Laser output power',
      sonic: 'TRANSCEIVER_DOM_SENSOR tx1power',
      openconfig: '/components/component/transceiver/physical-channels/channel/state/output-power',
    },
  },
  {
    name: 'optic_temperature_c',
    element: 'port',
    kind: 'gauge',
    unit: '°C',
    sampling: 'poll',
    description: 'module temperature',
    sources: {
      mlx5: 'ethtool -m: Module temperature',
      sonic: 'TRANSCEIVER_DOM_SENSOR temperature',
      openconfig: '/components/component/transceiver/state/temperature',
    },
  },
  {
    name: 'nic_local_ack_timeouts',
    element: 'nic',
    kind: 'counter',
    unit: 'events',
    sampling: 'poll',
    description: 'retransmission timers that expired at a sending QP',
    sources: { mlx5: 'local_ack_timeout_err' },
  },
  {
    name: 'nic_adaptive_retransmissions',
    element: 'nic',
    kind: 'counter',
    unit: 'events',
    sampling: 'poll',
    description: 'retransmissions started by the adaptive timer',
    sources: { mlx5: 'roce_adp_retrans' },
  },
  {
    name: 'nic_retries_exceeded',
    element: 'nic',
    kind: 'counter',
    unit: 'QPs',
    sampling: 'poll',
    description: 'QPs that gave up after their last retry',
    sources: { mlx5: 'req_transport_retries_exceeded' },
  },
  {
    name: 'job_state',
    element: 'job',
    kind: 'state',
    unit: '1 running, 0 failed',
    sampling: 'on-change',
    description: 'whether the job still runs',
    sources: { training: 'scheduler job state' },
  },
  {
    name: 'job_steps',
    element: 'job',
    kind: 'counter',
    unit: 'steps',
    sampling: 'on-change',
    description: 'training steps completed; one sample at each step end',
    sources: { training: 'framework step log' },
  },
  {
    name: 'job_step_time_s',
    element: 'job',
    kind: 'gauge',
    unit: 's',
    sampling: 'on-change',
    description: 'duration of the step that just ended',
    sources: { training: 'framework step log' },
  },
  {
    name: 'job_gpu_utilisation',
    element: 'job',
    kind: 'gauge',
    unit: 'ratio',
    sampling: 'on-change',
    description: 'share of the step that just ended in which GPUs did not wait for the network',
    sources: { training: 'profiler; DCGM_FI_DEV_GPU_UTIL does not show it, since NCCL spins' },
  },
  {
    name: 'job_algbw_gbytes_per_s',
    element: 'job',
    kind: 'gauge',
    unit: 'GB/s',
    sampling: 'on-change',
    description:
      'algorithm bandwidth of the largest fabric collective of the step that just ended (bytes / time)',
    sources: { training: 'NCCL profiler, nccl-tests algbw' },
  },
  {
    name: 'job_busbw_gbytes_per_s',
    element: 'job',
    kind: 'gauge',
    unit: 'GB/s',
    sampling: 'on-change',
    description: 'bus bandwidth of the same collective (algbw × factor of nccl-tests)',
    sources: { training: 'NCCL profiler, nccl-tests busbw' },
  },
  {
    name: 'edge_tx_bytes',
    element: 'edge',
    kind: 'counter',
    unit: 'bytes',
    sampling: 'poll',
    description: 'payload bytes one rank has delivered to another over the fabric',
    sources: { training: 'NCCL profiler plug-in, proxy step events' },
  },
  {
    name: 'edge_stalled_s',
    element: 'edge',
    kind: 'counter',
    unit: 's',
    sampling: 'poll',
    description: 'time in which the edge had data to send and nothing was acknowledged',
    sources: { training: 'NCCL profiler plug-in, proxy step events' },
  },
] as const satisfies readonly MetricDefinition[];

export type MetricName = (typeof METRICS)[number]['name'];

const byName = new Map<string, MetricDefinition>(METRICS.map((metric) => [metric.name, metric]));

/** The definition of a metric, undefined for an unknown name. */
export const metricDefinition = (name: string): MetricDefinition | undefined => byName.get(name);
