/**
 * Metrics of RDMA NICs: retransmission, congestion notification, and the host side.
 *
 * Names: Linux mlx5 counters.rst and drivers/infiniband/hw/mlx5/counters.c, as `ethtool -S` and the hw_counters files show
 * them. A NIC with two ports counts for both together.
 */
import type { MetricDefinition } from './definition.js';

export const NIC_METRICS = [
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
    name: 'nic_packet_sequence_errors',
    element: 'nic',
    kind: 'counter',
    unit: 'events',
    sampling: 'poll',
    description:
      'NAKs for a missing packet that sending QPs received; each makes them go back and send again',
    sources: { mlx5: 'packet_seq_err' },
  },
  {
    name: 'nic_out_of_sequence',
    element: 'nic',
    kind: 'counter',
    unit: 'packets',
    sampling: 'poll',
    description: 'packets that arrived behind a gap and were dropped',
    sources: { mlx5: 'out_of_sequence' },
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
    name: 'nic_ecn_marked_packets',
    element: 'nic',
    kind: 'counter',
    unit: 'packets',
    sampling: 'poll',
    description: 'packets that arrived with a congestion mark',
    sources: { mlx5: 'np_ecn_marked_roce_packets' },
  },
  {
    name: 'nic_cnp_sent',
    element: 'nic',
    kind: 'counter',
    unit: 'packets',
    sampling: 'poll',
    description:
      'congestion notifications that the NIC, as a receiver of marked packets, sent to the senders',
    sources: { mlx5: 'np_cnp_sent' },
  },
  {
    name: 'nic_cnp_handled',
    element: 'nic',
    kind: 'counter',
    unit: 'packets',
    sampling: 'poll',
    description: 'congestion notifications on which the NIC, as a sender, slowed a QP down',
    sources: { mlx5: 'rp_cnp_handled' },
  },
  {
    name: 'nic_rx_discards',
    element: 'nic',
    kind: 'counter',
    unit: 'packets',
    sampling: 'poll',
    description: 'packets dropped by the NIC on arrival, since its receive buffer was full',
    sources: { mlx5: 'rx_prio3_discards' },
  },
  {
    name: 'nic_pcie_read_stalled_ratio',
    element: 'nic',
    kind: 'gauge',
    unit: 'ratio',
    sampling: 'poll',
    description: 'share of the last poll interval in which the NIC waited for its host to deliver data',
    sources: { mlx5: 'outbound_pci_stalled_rd (percent)' },
  },
  {
    name: 'nic_pcie_write_stalled_ratio',
    element: 'nic',
    kind: 'gauge',
    unit: 'ratio',
    sampling: 'poll',
    description: 'share of the last poll interval in which the NIC waited for its host to take data',
    sources: { mlx5: 'outbound_pci_stalled_wr (percent)' },
  },
] as const satisfies readonly MetricDefinition[];
