/**
 * How fast everything can go at this instant: link directions, scale-up ports, and the host side of NICs.
 *
 * A link runs at its rated speed until it has negotiated a lower one or lost lanes; both ends then report the lower
 * speed. A NIC's host side (PCIe) is as fast as its ports and no limit, unless its slot came up with fewer lanes or an
 * older generation; then it bounds what the NIC reads from and writes to memory, and no port's speed shows it.
 * Not modelled: the moment without a link in which a speed is negotiated, sharing of one PCIe switch by several NICs.
 */
import type { Topology } from '../../model/topology/model.js';

/** Numbering of capacities: link directions, then out of and into each GPU's scale-up port … */
export const scaleUpOut = (topology: Topology, gpu: number): number => 2 * topology.links.length + 2 * gpu;
export const scaleUpIn = (topology: Topology, gpu: number): number => scaleUpOut(topology, gpu) + 1;
/** … then what each NIC reads from its host and writes to it. */
export const hostRead = (topology: Topology, nic: number): number =>
  2 * (topology.links.length + topology.gpus.length + nic);
export const hostWrite = (topology: Topology, nic: number): number => hostRead(topology, nic) + 1;

export const isHostWrite = (topology: Topology, capacity: number): boolean =>
  capacity >= hostWrite(topology, 0) && ((capacity - hostWrite(topology, 0)) & 1) === 0;

/** What a NIC writes to its host, having received it, or reads from it, to send it. */
export type HostWay = 'receive' | 'send';

const GBPS_PER_BYTE_PER_NS = 8;

export class Rates {
  /** bytes/ns, in the numbering above. */
  readonly capacities: Float64Array;
  /** By link: what both ends have negotiated. */
  readonly linkGbps: Float64Array;
  /** By NIC: limit of what it reads from its host, and of what it writes to it; Infinity where it is none. */
  readonly hostReadGbps: Float64Array;
  readonly hostWriteGbps: Float64Array;
  /** Grows with every change. */
  version = 0;
  /** Capacities that changed since the reader last emptied the list. */
  readonly changed: number[] = [];

  constructor(readonly topology: Topology) {
    const { links, gpus, nics } = topology;
    this.capacities = new Float64Array(2 * (links.length + gpus.length + nics.length));
    this.linkGbps = Float64Array.from(links, (link) => link.rateGbps);
    this.hostReadGbps = new Float64Array(nics.length).fill(Infinity);
    this.hostWriteGbps = new Float64Array(nics.length).fill(Infinity);
    for (const { index, rateGbps } of links) {
      this.capacities.fill(rateGbps / GBPS_PER_BYTE_PER_NS, 2 * index, 2 * index + 2);
    }
    const afterLinks = 2 * links.length;
    this.capacities.fill(
      topology.scaleUpGbps / GBPS_PER_BYTE_PER_NS,
      afterLinks,
      afterLinks + 2 * gpus.length,
    );
    for (const { index } of nics) {
      const start = hostRead(topology, index);
      this.capacities.fill(this.portsGbps(index) / GBPS_PER_BYTE_PER_NS, start, start + 2);
    }
  }

  setLink(link: number, gbps: number): void {
    if (this.linkGbps[link] === gbps) return;
    this.linkGbps[link] = gbps;
    this.change(2 * link, gbps);
    this.change(2 * link + 1, gbps);
  }

  /**
   * @param gbps payload; Infinity when the host is as fast as it should be
   * @param way both when left out
   */
  setHost(nic: number, gbps: number, way?: HostWay): void {
    const limit = Math.min(gbps, this.portsGbps(nic));
    if (way !== 'receive' && this.hostReadGbps[nic] !== gbps) {
      this.hostReadGbps[nic] = gbps;
      this.change(hostRead(this.topology, nic), limit);
    }
    if (way !== 'send' && this.hostWriteGbps[nic] !== gbps) {
      this.hostWriteGbps[nic] = gbps;
      this.change(hostWrite(this.topology, nic), limit);
    }
  }

  /** Limit of a NIC's host side one way; the lower of both when none is named. */
  hostGbps(nic: number, way?: HostWay): number {
    const read = this.hostReadGbps[nic];
    const write = this.hostWriteGbps[nic];
    return way === 'send' ? read : way === 'receive' ? write : Math.min(read, write);
  }

  hostLimited(nic: number, way: HostWay): boolean {
    return this.hostGbps(nic, way) !== Infinity;
  }

  /** Rated speed of all ports of a NIC together. */
  portsGbps(nic: number): number {
    const { nics, ports, links } = this.topology;
    return nics[nic].ports.reduce((sum, port) => sum + links[ports[port].link].rateGbps, 0);
  }

  private change(capacity: number, gbps: number): void {
    this.capacities[capacity] = gbps / GBPS_PER_BYTE_PER_NS;
    this.changed.push(capacity);
    this.version++;
  }
}
