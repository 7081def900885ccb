/**
 * Readings of a lab's devices as series: each figure to the metric that means the same, each interface to its port.
 *
 * Bytes sent are those that left the token bucket; bytes received those that the lab's own rule set accepted, so that a
 * frame lost on the way is counted at one end only, as on a wire. A port without a link has no speed; one that has both a
 * token bucket and a speed of its own runs at the lower.
 */
import { deviceId, nicId, portId, queueId } from '../../../core/elements.js';
import type { MetricName } from '../../../model/telemetry/catalog.js';
import type { Lab } from '../lab/lab.js';
import type { LabNode } from '../lab/parts.js';
import { hostPrefix, parseNextHops, type NextHops } from '../lab/routes.js';
import { counterName } from '../lab/counter-name.js';
import type { LinkReading } from './readings.js';
import { LAB_PRIORITY, NIC_COUNTERS } from './series-set.js';
import type { SeriesStore } from './series-store.js';
import type { WatchReading } from './watch-protocol.js';

type State = Extract<WatchReading, { reading: 'state' }>;
type Counters = Extract<WatchReading, { reading: 'counters' }>;

export class DeviceSeries {
  private readonly hostPrefixes: readonly string[];
  /** By node: its links as they were read last. */
  private readonly links = new Map<number, Map<string, LinkReading>>();

  constructor(
    private readonly lab: Lab,
    private readonly store: SeriesStore,
    /** Instant of the machine's clock → ns of the drill. */
    private readonly sinceStart: (atNs: number) => number,
  ) {
    this.hostPrefixes = lab.hosts.map(({ device }) => hostPrefix(lab, device));
  }

  takeState({ node: index, atNs, links: rows, routes, bfd: sessions }: State): void {
    const node = this.lab.nodes[index];
    const timeNs = this.sinceStart(atNs);
    const links = new Map(rows);
    const sessionStatus = statusOf(sessions);
    const nextHops = routes === null ? undefined : parseNextHops(routes);
    this.links.set(index, links);
    for (const port of this.lab.portsOf(node)) {
      const element = portId(port.name);
      const link = links.get(port.interface);
      if (link === undefined) continue;
      this.store.change('port_oper_status', element, timeNs, Number(link.operUp));
      this.store.change('port_admin_status', element, timeNs, Number(link.adminUp));
      if (sessionStatus !== undefined) {
        this.store.change('bfd_session_status', element, timeNs, sessionStatus(port.interface));
      }
      if (nextHops === undefined) continue;
      const prefixes = this.hostPrefixes.filter((prefix) => nextHops.get(prefix)?.includes(port.interface));
      this.store.change('route_port_prefixes', element, timeNs, prefixes.length);
    }
    if (nextHops !== undefined) {
      this.store.change('route_next_hops', deviceId(node.name), timeNs, this.hopsOf(nextHops));
    }
  }

  takeCounters(reading: Counters): void {
    const node = this.lab.nodes[reading.node];
    const timeNs = this.sinceStart(reading.atNs);
    this.store.add('device_reachable', deviceId(node.name), timeNs, 1);
    this.takePorts(node, reading);
    if (node.role === 'host') this.takeNetstat(node, new Map(reading.netstat), timeNs);
  }

  takeSilence(index: number, atNs: number): void {
    this.store.add('device_reachable', deviceId(this.lab.nodes[index].name), this.sinceStart(atNs), 0);
  }

  private hopsOf(nextHops: NextHops): number {
    return this.hostPrefixes.reduce((sum, prefix) => sum + (nextHops.get(prefix)?.length ?? 0), 0);
  }

  private takePorts(node: LabNode, reading: Counters): void {
    const [queues, counters] = [new Map(reading.queues), new Map(reading.counters)];
    const [depths, speeds] = [new Map(reading.depths), new Map(reading.speeds)];
    const [timeNs, arrivedNs] = [this.sinceStart(reading.atNs), this.sinceStart(reading.arrivedNs)];
    const put = (metric: MetricName, element: string, value: number): void =>
      this.store.add(metric, element, timeNs, value);
    for (const port of this.lab.portsOf(node)) {
      const element = portId(port.name);
      const link = this.links.get(reading.node)?.get(port.interface);
      const queue = queues.get(port.interface);
      const received = counters.get(counterName('rx', port.interface));
      const damaged = counters.get(counterName('damaged', port.interface));
      if (link !== undefined) put('port_link_down_events', element, link.downEvents);
      if (received !== undefined) this.store.add('port_rx_bytes', element, arrivedNs, received.bytes);
      if (damaged !== undefined) this.store.add('port_rx_errors', element, arrivedNs, damaged.packets);
      if (queue === undefined) continue;
      put('port_tx_bytes', element, queue.sentBytes);
      if (link !== undefined) {
        put(
          'port_rate_gbps',
          element,
          link.operUp ? slower(queue.rateGbps, speeds.get(port.interface)) : NaN,
        );
        put('port_tx_discards', element, queue.dropped + link.txDropped);
      }
      if (node.role !== 'switch') continue;
      const id = queueId(port.name, LAB_PRIORITY);
      put('queue_tx_bytes', id, queue.sentBytes);
      put('queue_drop_packets', id, queue.dropped);
      put('queue_depth_bytes', id, queue.backlogBytes);
      put('queue_depth_max_bytes', id, depths.get(port.interface) ?? queue.backlogBytes);
    }
  }

  private takeNetstat(node: LabNode, netstat: ReadonlyMap<string, number>, timeNs: number): void {
    const nic = this.lab.topology.nics.find(({ host }) => host === node.device);
    if (nic === undefined) return;
    for (const [metric, names] of Object.entries(NIC_COUNTERS)) {
      const value = names.reduce((sum, name) => sum + (netstat.get(name) ?? NaN), 0);
      this.store.add(metric as MetricName, nicId(nic.name), timeNs, value);
    }
  }
}

/** Of a session by its interface: 1 up, 0 down or none, NaN where the daemon does not answer; undefined without BFD. */
function statusOf(sessions: State['bfd']): ((name: string) => number) | undefined {
  if (sessions === null) return undefined;
  if (sessions === 'no answer') return () => NaN;
  const up = new Map(sessions);
  return (name) => Number(up.get(name) ?? false);
}

/** Gbit/s; what is not known does not count. */
const slower = (bucketGbps: number, portGbps = NaN): number =>
  Number.isNaN(portGbps) || bucketGbps < portGbps ? bucketGbps : portGbps;
