/**
 * Least latency between two NICs of an idle fabric, over the fewest hops.
 *
 * One packet's way there, less its first transmission (that is part of any transfer), and its ACK's way back:
 * 2·delay a link, packet and ACK once more on every further link, twice the switch latency a switch. This is the
 * latency term of the closed form of one flow over L equal links, (L−1)·tx + 2·L·delay + L·tx_ack.
 * Not modelled: routing policy; the fewest hops are what it would choose in a healthy Clos.
 */
import { peerPort, type Topology } from '../topology/model.js';

/** Bytes on the wire per packet; part of every fabric's settings. */
export interface WireSettings {
  /** Payload bytes of a full packet. */
  mtu: number;
  headerBytes: number;
  /** Wire bytes of an ACK; one answers each packet. */
  ackBytes: number;
  /** ns per switch, 0 when left out. */
  switchLatency?: number;
}

interface Reach {
  /** Links from the start, -1 where there is no way. */
  hops: Int32Array;
  costNs: Float64Array;
}

export class PathLatencies {
  private readonly reachOf = new Map<number, Reach>();

  constructor(
    private readonly topology: Topology,
    private readonly settings: WireSettings,
  ) {}

  /** ns; 0 when there is no way (a fabric that is not connected is refused long before). */
  between(sourceNic: number, destinationNic: number): number {
    const { topology } = this;
    let best = { hops: Infinity, costNs: 0 };
    for (const sourcePort of topology.nics[sourceNic].ports) {
      for (const destinationPort of topology.nics[destinationNic].ports) {
        const found = this.betweenPorts(sourcePort, destinationPort);
        if (found === undefined) continue;
        if (found.hops < best.hops || (found.hops === best.hops && found.costNs < best.costNs)) best = found;
      }
    }
    return best.costNs;
  }

  private betweenPorts(source: number, destination: number): { hops: number; costNs: number } | undefined {
    const { topology, settings } = this;
    const firstLink = topology.ports[source].link;
    const packetNs = (settings.mtu + settings.headerBytes) / (topology.links[firstLink].rateGbps / 8);
    const startNs = this.linkNs(firstLink) - packetNs;
    if (peerPort(topology, source) === destination) return { hops: 1, costNs: startNs };
    const first = topology.ports[peerPort(topology, source)].device;
    const last = topology.ports[peerPort(topology, destination)].device;
    const reach = this.reachFrom(first);
    if (reach.hops[last] < 0) return undefined;
    const endNs = this.linkNs(topology.ports[destination].link) + this.switchNs();
    return { hops: reach.hops[last] + 2, costNs: startNs + reach.costNs[last] + endNs };
  }

  private linkNs(link: number): number {
    const { rateGbps, delayNs } = this.topology.links[link];
    const { mtu, headerBytes, ackBytes } = this.settings;
    return 2 * delayNs + (mtu + headerBytes + ackBytes) / (rateGbps / 8);
  }

  private switchNs(): number {
    return 2 * (this.settings.switchLatency ?? 0);
  }

  /** Breadth first over switches; among ways of as many links the cheapest. */
  private reachFrom(start: number): Reach {
    const known = this.reachOf.get(start);
    if (known !== undefined) return known;
    const { devices, ports } = this.topology;
    const reach: Reach = {
      hops: new Int32Array(devices.length).fill(-1),
      costNs: new Float64Array(devices.length).fill(Infinity),
    };
    reach.hops[start] = 0;
    reach.costNs[start] = 0;
    const queue = [start];
    for (const device of queue) {
      if (devices[device].role === 'host') continue;
      for (const port of devices[device].ports) {
        const peer = ports[peerPort(this.topology, port)].device;
        const costNs = reach.costNs[device] + this.linkNs(ports[port].link) + this.switchNs();
        if (reach.hops[peer] < 0) {
          reach.hops[peer] = reach.hops[device] + 1;
          queue.push(peer);
        } else if (reach.hops[peer] !== reach.hops[device] + 1) continue;
        reach.costNs[peer] = Math.min(reach.costNs[peer], costNs);
      }
    }
    this.reachOf.set(start, reach);
    return reach;
  }
}
