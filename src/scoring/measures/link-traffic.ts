/**
 * Bytes over links as their port counters tell, and which links can stand in for one another.
 *
 * A link is read at its lower end (nearer to the hosts), both directions together: that end is the one that chooses
 * among equal-cost members on the way up, and it still answers when a spine is dead. Members of a group are the
 * links by which one device leaves for the tier above (uplinks of a switch, ports of one NIC).
 */
import { portId } from '../../core/elements.js';
import type { EvidenceIndex } from '../../model/telemetry/series.js';
import { BYTES_PER_NS_PER_GBPS } from '../../core/units.js';
import type { Topology } from '../../model/topology/model.js';
import type { TruthEntry } from '../../faults/ground-truth.js';
import { faultElements } from './fault-elements.js';
import { Counter, freshSamples, pollSpans } from './samples.js';
import type { Span } from './samples.js';

/** Traffic below this share of a link's capacity is control traffic, not a job's. */
const JOB_TRAFFIC_SHARE = 1e-4;

/** The end of a link that is nearer to the hosts. */
export function lowerPort(topology: Topology, link: number): number {
  const { portA, portB } = topology.links[link];
  const level = (port: number): number => topology.devices[topology.ports[port].device].tierLevel;
  return level(portA) <= level(portB) ? portA : portB;
}

/** Bytes over one link, both ways, read at its lower end. */
export class LinkTraffic {
  private readonly sent: Counter;
  private readonly received: Counter;

  constructor(index: EvidenceIndex, topology: Topology, link: number) {
    const id = portId(topology.ports[lowerPort(topology, link)].name);
    this.sent = new Counter(freshSamples(index.get('port_tx_bytes', id)));
    this.received = new Counter(freshSamples(index.get('port_rx_bytes', id)));
  }

  /** Poll intervals wholly between two instants. */
  spans(fromNs: number, toNs: number): Span[] {
    return pollSpans(this.sent.samples, fromNs, toNs);
  }

  /** Bytes per ns, both ways; null when a counter is silent. */
  rate({ fromNs, toNs }: Span): number | null {
    const sent = this.sent.rate(fromNs, toNs);
    const received = this.received.rate(fromNs, toNs);
    return sent === null || received === null ? null : sent + received;
  }
}

/** Sum of rates; null when any is not known. */
export function totalRate(links: readonly LinkTraffic[], span: Span): number | null {
  let sum = 0;
  for (const link of links) {
    const rate = link.rate(span);
    if (rate === null) return null;
    sum += rate;
  }
  return sum;
}

/** Links by which the lower device of a link can leave upwards instead of it, the link itself included. */
export function memberLinks(topology: Topology, link: number): number[] {
  const port = topology.ports[lowerPort(topology, link)];
  const device = topology.devices[port.device];
  const ports = device.role === 'host' ? (topology.nics[port.nic]?.ports ?? []) : device.ports;
  return ports
    .filter((index) => lowerPort(topology, topology.ports[index].link) === index)
    .map((index) => topology.ports[index].link);
}

/**
 * Whether a fault's target carried traffic that a job must have sent before the fault.
 * @returns null when no port counter of the target tells
 */
export function carriedJobBytes(
  index: EvidenceIndex,
  topology: Topology,
  truth: readonly TruthEntry[],
  injectedNs: number,
): boolean | null {
  let known = false;
  for (const link of faultElements(topology, truth).links) {
    const traffic = new LinkTraffic(index, topology, link);
    const least = JOB_TRAFFIC_SHARE * topology.links[link].rateGbps * BYTES_PER_NS_PER_GBPS;
    for (const span of traffic.spans(index.evidence.fromNs, injectedNs)) {
      const rate = traffic.rate(span);
      if (rate !== null && rate >= least) return true;
      known ||= rate !== null;
    }
  }
  return known ? false : null;
}
