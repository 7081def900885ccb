/**
 * The cases of the table fault × metric: every kind and variant, on a fabric where it matters, and what moves.
 *
 * `also` is what moves beyond what the kind promises, as a consequence; all else must stay as in a control.
 */
import type { MetricName } from '../../src/model/telemetry/catalog.js';
import type { FabricName } from './fault-symptom-fabrics.js';

/** Everything a device tells falls silent with it. */
const SILENT_WITH_A_SWITCH: readonly MetricName[] = [
  'port_rx_errors',
  'port_tx_discards',
  'port_pause_rx_s',
  'port_pause_tx_s',
  'port_pause_rx_frames',
  'port_pause_tx_frames',
  'port_rx_discards',
  'queue_drop_packets',
  'queue_watchdog_detected',
  'queue_watchdog_restored',
  'route_port_prefixes',
  'optic_rx_power_dbm',
  'optic_tx_power_dbm',
  'optic_bias_ma',
  'optic_temperature_c',
  'port_fec_uncorrected_codewords',
];

const SILENT_WITH_A_HOST: readonly MetricName[] = [
  'nic_local_ack_timeouts',
  'nic_adaptive_retransmissions',
  'nic_packet_sequence_errors',
  'nic_out_of_sequence',
  'nic_retries_exceeded',
  'nic_rx_discards',
  'nic_pcie_read_stalled_ratio',
  'nic_pcie_write_stalled_ratio',
  'rank_compute_time_s',
];

export interface Case {
  kind: string;
  variant: string;
  params: object;
  target?: string;
  /** Where it happens; the fabric of two jobs over rails when left out. */
  fabric?: FabricName;
  /** What moves as a consequence, beyond what the kind promises. */
  also: readonly MetricName[];
}

const HOST_LINK = 'link:host-1/nic-0--leaf-1/p1';
const NIC = 'nic:host-1/nic-0';
const LEAF = 'device:leaf-1';
export const ALL_SWITCHES = 'all switches';
const FABRIC_LINK = 'link:leaf-1/p5--spine-1/p1';

const BYTES = ['port_tx_bytes', 'port_rx_bytes', 'queue_tx_bytes', 'edge_tx_bytes'] as const;
const JOB_PACE = [
  'job_steps',
  'job_step_time_s',
  'job_gpu_utilisation',
  'job_algbw_gbytes_per_s',
  'job_busbw_gbytes_per_s',
  'job_allreduce_latency_s',
  'job_allreduce_latency_p99_s',
  'job_flow_p99_s',
] as const;
const PACE = [...JOB_PACE, 'rank_wait_time_s'] as const;
/** Of a job with an all-to-all, checkpoints and an end. */
const TO_THE_END = [
  'job_alltoall_latency_s',
  'job_alltoall_latency_p99_s',
  'job_checkpoint_time_s',
  'job_completion_time_s',
  'job_state',
  'host_allocated_gpus',
] as const;
/** Collectives themselves are as fast as ever. */
const SLOWER_STEPS = ['job_steps', 'job_step_time_s', 'job_gpu_utilisation'] as const;
/** Queue pairs that lose packets wait and try again. */
const RETRIES = ['edge_stalled_s', 'nic_adaptive_retransmissions'] as const;
/** Bits that FEC corrects on any link are fewer where fewer bits arrive. */
const FEWER_BITS = ['port_fec_corrected_codewords', 'port_fec_symbol_errors', 'port_fec_pre_ber'] as const;
/** N/A, or standing still, while a port is down. */
const DOWN = ['port_rate_gbps', ...FEWER_BITS] as const;
/** What a switch still sends to a port that is down. */
const DROPPED = ['port_tx_discards', 'queue_drop_packets'] as const;
const ROUTES = ['route_next_hops', 'bfd_session_status'] as const;

/** Jobs contend on uplinks even when all is well, at other times and to other degrees when their pace is another. */
const QUEUES = ['queue_depth_bytes', 'device_buffer_used_bytes'] as const;
const MARKS = [
  'queue_ecn_marked_packets',
  'nic_ecn_marked_packets',
  'nic_cnp_sent',
  'nic_cnp_handled',
] as const;
const CONTENTION = [...QUEUES, ...MARKS] as const;
/** Another contention than before. */
const PEAKS = ['queue_depth_max_bytes', 'device_buffer_used_max_bytes'] as const;
const PAUSES = [
  'port_pause_rx_s',
  'port_pause_tx_s',
  'port_pause_rx_frames',
  'port_pause_tx_frames',
] as const;

export const CASES: readonly Case[] = [
  { kind: 'none', variant: 'none', params: {}, also: [] },
  {
    kind: 'link-down',
    variant: 'admin',
    params: { variant: 'admin' },
    target: FABRIC_LINK,
    also: [...DOWN, ...DROPPED, ...BYTES, ...PACE, ...RETRIES, ...ROUTES, ...CONTENTION, ...PEAKS],
  },
  {
    kind: 'link-down',
    variant: 'cut',
    params: { variant: 'cut' },
    target: FABRIC_LINK,
    also: [...DOWN, ...DROPPED, ...BYTES, ...PACE, ...RETRIES, ...ROUTES, ...CONTENTION, ...PEAKS],
  },
  {
    kind: 'link-down',
    variant: 'flap',
    params: { variant: 'flap' },
    target: FABRIC_LINK,
    also: [
      ...DOWN,
      ...DROPPED,
      ...BYTES,
      ...PACE,
      ...RETRIES,
      ...ROUTES,
      ...CONTENTION,
      ...PEAKS,
      'optic_rx_power_dbm',
    ],
  },
  {
    kind: 'link-down',
    variant: 'one-way',
    params: { variant: 'one-way' },
    target: HOST_LINK,
    // One long step, which ends after the last poll.
    also: [...BYTES, ...RETRIES, ...JOB_PACE, ...CONTENTION, ...PEAKS],
  },
  {
    kind: 'link-down',
    variant: 'node',
    params: { variant: 'node' },
    target: 'device:spine-1',
    also: [
      ...DOWN,
      ...BYTES,
      ...PACE,
      ...RETRIES,
      ...ROUTES,
      ...SILENT_WITH_A_SWITCH,
      ...CONTENTION,
      ...PEAKS,
    ],
  },
  {
    kind: 'speed-downgrade',
    variant: 'renegotiated',
    params: { variant: 'renegotiated', rate: '10Gbps' },
    target: HOST_LINK,
    fabric: 'finite',
    // What all send to the slow NIC at once waits until it pauses who sends.
    also: [...FEWER_BITS, ...BYTES, ...PACE, ...CONTENTION, ...PEAKS, ...PAUSES, ...TO_THE_END],
  },
  {
    kind: 'speed-downgrade',
    variant: 'lane-loss',
    params: { variant: 'lane-loss', lost: 7, lanes: 8 },
    target: HOST_LINK,
    also: [...FEWER_BITS, ...BYTES, ...PACE, ...CONTENTION, ...PEAKS],
  },
  {
    kind: 'speed-downgrade',
    variant: 'pcie',
    params: { variant: 'pcie', generation: 3, lanes: 8 },
    target: NIC,
    also: [...BYTES, ...PACE, ...PAUSES, ...CONTENTION, ...PEAKS],
  },
  ...[
    { variant: 'gpu', gpu: 1, slowdown: 2 },
    { variant: 'host', slowdown: 1.5 },
  ].map((params) => ({
    kind: 'straggler',
    variant: params.variant,
    params,
    target: 'device:host-1',
    also: [...BYTES, ...SLOWER_STEPS, ...CONTENTION] as const,
  })),
  ...[
    { variant: 'constant', ber: 1e-3 },
    { variant: 'stepped', toBer: 1e-3, steps: 3 },
  ].map((params) => ({
    kind: 'optic-error',
    variant: params.variant,
    params,
    target: HOST_LINK,
    // The ring over this link has room for what is sent again: another rail's is slower.
    also: [...BYTES, 'nic_adaptive_retransmissions', ...CONTENTION, ...PEAKS] as const,
  })),
  {
    kind: 'optic-error',
    variant: 'ramped',
    params: { variant: 'ramped', toBer: 1e-3 },
    target: HOST_LINK,
    also: [...BYTES, ...CONTENTION, ...PEAKS],
  },
  {
    kind: 'link-down',
    variant: 'lag-member',
    params: { variant: 'lag-member' },
    target: FABRIC_LINK,
    fabric: 'parallel',
    also: [
      ...DOWN,
      ...BYTES,
      ...PACE,
      ...ROUTES,
      ...CONTENTION,
      ...PEAKS,
      'port_oper_status',
      'port_link_down_events',
      'route_port_prefixes',
      'optic_rx_power_dbm',
    ],
  },
  ...(['burst', 'checkpoint', 'storage'] as const).map((variant) => ({
    kind: 'incast',
    variant,
    params: { variant, senders: 8 },
    target: NIC,
    also: [...BYTES, ...PACE, ...QUEUES, ...PEAKS],
  })),
  ...[
    { variant: 'share', share: 0.1 },
    { variant: 'rate', rate: '40Gbps' },
  ].map((params) => ({
    kind: 'slow-receiver',
    variant: params.variant,
    params,
    target: NIC,
    also: [...BYTES, ...PACE, ...PAUSES, ...CONTENTION, ...PEAKS],
  })),
  {
    kind: 'pause-storm',
    variant: 'continuous',
    params: { variant: 'continuous' },
    target: NIC,
    // The job stands still until its queue pairs try again after the storm.
    also: [...BYTES, ...PACE, ...RETRIES, ...DROPPED, ...CONTENTION, ...PEAKS, 'nic_local_ack_timeouts'],
  },
  {
    kind: 'pause-storm',
    variant: 'intermittent',
    params: { variant: 'intermittent' },
    target: NIC,
    also: [...BYTES, ...PACE, ...RETRIES, ...DROPPED, ...CONTENTION, ...PEAKS],
  },
  {
    kind: 'ecmp-collision',
    variant: 'polarised',
    params: { variant: 'polarised' },
    target: ALL_SWITCHES,
    fabric: 'tiers',
    also: [...BYTES, ...PACE, ...CONTENTION, ...PEAKS],
  },
  {
    kind: 'ecmp-collision',
    variant: 'low-entropy',
    params: { variant: 'low-entropy' },
    target: 'device:leaf-7',
    fabric: 'lean',
    also: [...BYTES, ...PACE, ...CONTENTION, ...PEAKS],
  },
  {
    kind: 'ecn-misconfig',
    variant: 'too-low',
    params: { variant: 'too-low' },
    target: LEAF,
    fabric: 'busy',
    // The queue is short, and the link does not carry what it could.
    also: [...BYTES, ...PACE, ...CONTENTION, ...PEAKS],
  },
  ...(['too-high', 'off'] as const).map((variant) => ({
    kind: 'ecn-misconfig',
    variant,
    params: { variant },
    target: LEAF,
    fabric: 'busy' as const,
    // The load is held by pauses in place of marks; the jobs do not meet it.
    also: ['port_tx_bytes', 'port_rx_bytes', 'queue_tx_bytes', ...CONTENTION, ...PEAKS] as const,
  })),
  {
    kind: 'pfc-misconfig',
    variant: 'alpha',
    params: { variant: 'alpha', alpha: 0.001 },
    target: LEAF,
    fabric: 'busy',
    also: ['port_tx_bytes', 'port_rx_bytes', 'queue_tx_bytes', ...CONTENTION, ...PEAKS],
  },
  {
    kind: 'pfc-misconfig',
    variant: 'headroom',
    params: { variant: 'headroom' },
    target: LEAF,
    fabric: 'paused',
    // What is lost is sent again, and takes the place of what would be.
    also: [
      ...BYTES,
      ...PACE,
      ...PAUSES,
      ...QUEUES,
      ...PEAKS,
      'queue_ecn_marked_packets',
      'nic_ecn_marked_packets',
      'nic_packet_sequence_errors',
      'nic_out_of_sequence',
    ],
  },
  {
    kind: 'pfc-misconfig',
    variant: 'off',
    params: { variant: 'off' },
    target: LEAF,
    fabric: 'paused',
    also: [
      ...BYTES,
      ...PACE,
      ...PAUSES,
      ...QUEUES,
      ...PEAKS,
      'queue_ecn_marked_packets',
      'nic_ecn_marked_packets',
    ],
  },
  ...(['planned', 'one-of-n'] as const).map((variant) => ({
    kind: 'job-migration',
    variant,
    params: { variant },
    target: 'device:host-1',
    fabric: 'spare' as const,
    also: ['queue_tx_bytes', ...PACE, ...CONTENTION, ...PEAKS] as const,
  })),
  ...(['after-host-loss', 'no-spare'] as const).map((variant) => ({
    kind: 'job-migration',
    variant,
    params: { variant },
    target: 'device:host-1',
    fabric: 'spare' as const,
    also: [
      ...DOWN,
      ...BYTES,
      ...PACE,
      ...CONTENTION,
      ...PEAKS,
      ...PAUSES,
      ...SILENT_WITH_A_SWITCH.filter((metric) => !metric.startsWith('queue_watchdog')),
      ...SILENT_WITH_A_HOST,
      'route_next_hops',
    ] as const,
  })),
];
