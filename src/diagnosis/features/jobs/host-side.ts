/**
 * Whether the host of a NIC keeps up with it: PCIe stalls, and the pause a NIC sends when its host does not take data.
 *
 * A NIC counts the share of time in which it waits for its host to deliver (read) or to take (write) data. Some waiting
 * is normal and differs from fleet to fleet, so the other NICs are the control. A NIC that moves nothing never waits,
 * which proves nothing. Counters: mlx5 `outbound_pci_stalled_rd`, `_wr`, `tx_prio3_pause_duration`.
 */
import { peerPort } from '../../../model/topology/model.js';
import type { Nic } from '../../../model/topology/model.js';
import type { MetricName } from '../../../model/telemetry/catalog.js';
import type { Context, Interval } from '../../series/context.js';
import { overlaps } from '../../series/context.js';
import { freshColumn, isStill, rises, samplesWithin, union } from '../../series/samples.js';
import { median, quantile } from '../../series/statistics.js';

export const STALL_METRICS = ['nic_pcie_read_stalled_ratio', 'nic_pcie_write_stalled_ratio'] as const;
type StallMetric = (typeof STALL_METRICS)[number];

/** A share of the time that matters to a job. */
const LEAST_STALL = 0.015;
/** How far a NIC must stand out from what most NICs show at their busiest. */
const STANDS_OUT = 2;

export interface HostSideObservation {
  nic: Nic;
  /** Polls in which the NIC waited more than others do, by direction; null when the direction was not read. */
  stalled: Readonly<Record<StallMetric, readonly Interval[] | null>>;
  /** From the first to the last such poll; null without any. */
  during: Interval | null;
}

export function observeHostSides(context: Context): HostSideObservation[] {
  const limits = STALL_METRICS.map((metric) => stallLimit(context, metric));
  return context.topology.nics.map((nic) => {
    const [read, write] = STALL_METRICS.map((metric, index) => stalls(context, nic, metric, limits[index]));
    const all = union([...(read ?? []), ...(write ?? [])]);
    const during = all.length === 0 ? null : { fromNs: all[0].fromNs, toNs: all[all.length - 1].toNs };
    return {
      nic,
      stalled: { nic_pcie_read_stalled_ratio: read, nic_pcie_write_stalled_ratio: write },
      during,
    };
  });
}

/** Half of the NICs wait no longer than this even when they are busy. */
function stallLimit(context: Context, metric: MetricName): number {
  const busiest = context
    .all(metric)
    .map((series) => (isStill(series) ? series.values[0] : quantile(freshColumn(series).values, 0.9)))
    .filter((value) => !Number.isNaN(value));
  return Math.max(LEAST_STALL, busiest.length === 0 ? 0 : STANDS_OUT * median(busiest));
}

function stalls(context: Context, nic: Nic, metric: MetricName, limit: number): Interval[] | null {
  const series = context.readNic(metric, nic.index);
  if (isStill(series) && series.values[0] < limit) return [];
  const { count, timesNs, values } = freshColumn(series);
  if (count === 0) return null;
  const found: Interval[] = [];
  for (let index = 0; index < count; index++) {
    if (values[index] < limit) continue;
    found.push({ fromNs: index === 0 ? context.window.fromNs : timesNs[index - 1], toNs: timesNs[index] });
  }
  return found;
}

/** Whether a NIC moved bytes in a stretch; null when its ports were not read. */
export function movedBytes(context: Context, nic: Nic, during: Interval): boolean | null {
  const counters = nic.ports.flatMap((port) => [
    context.readPort('port_tx_bytes', port),
    context.readPort('port_rx_bytes', port),
  ]);
  if (counters.every((series) => samplesWithin(series, during).length === 0)) return null;
  return counters.some((series) => rises(series).some((step) => overlaps(step, during)));
}

/** Whether the NIC kept its switch from sending in a stretch, told by either end; null when neither did. */
export function pausesItsSwitch(context: Context, nic: Nic, during: Interval): boolean | null {
  const counters = nic.ports.flatMap((port) => [
    context.readPort('port_pause_tx_s', port),
    context.readPort('port_pause_rx_s', peerPort(context.topology, port)),
  ]);
  if (counters.every((series) => samplesWithin(series, during).length < 2)) return null;
  return counters.some((series) => rises(series).some((step) => overlaps(step, during)));
}
