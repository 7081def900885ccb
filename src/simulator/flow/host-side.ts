/**
 * What a NIC shows of a host side that is too slow: PCIe stalls, and the pause it sends to its switch.
 *
 * A NIC whose host can't take data as fast as it arrives fills its buffer and pauses the port that feeds it, for such a
 * share of the time that arrivals match what the host takes; one whose host can't deliver just sends less. While it
 * moves one packet's bytes at the speed of its ports it is not stalled, the rest of the time it waits for credits: a
 * saturated direction is stalled for 1 - host rate / port rate of the time. Counters: mlx5 `outbound_pci_stalled_wr`
 * and `_rd`, `tx_prio3_pause_duration`. Not modelled: buffer depth, single pause frames.
 */
import { peerPort, directionFrom, type Topology } from '../../topology/model.js';
import type { Counters } from './counters.js';
import { hostRead, hostWrite, type Rates } from './rates.js';

/** A capacity counts as full from here on. */
const FULL = 1 - 1e-9;

export class HostSide {
  /** NICs that were limited at some time. */
  private readonly watched: number[] = [];
  private readonly readStalled: Float64Array;
  private readonly writeStalled: Float64Array;
  /** By link direction: share of the time its sender is held by the NIC's pause. */
  private readonly paused: Float64Array;
  private accountedNs = 0;

  constructor(
    private readonly topology: Topology,
    private readonly rates: Rates,
    private readonly counters: Counters,
    /** bytes/ns now flowing through a capacity. */
    private readonly loadOf: (capacity: number) => number,
  ) {
    this.readStalled = new Float64Array(topology.nics.length);
    this.writeStalled = new Float64Array(topology.nics.length);
    this.paused = new Float64Array(2 * topology.links.length);
  }

  watch(nic: number): void {
    if (!this.watched.includes(nic)) this.watched.push(nic);
  }

  /** Counts the time since the last call by the shares that held in it. */
  account(nowNs: number): void {
    const spanNs = nowNs - this.accountedNs;
    this.accountedNs = nowNs;
    if (spanNs === 0) return;
    for (const nic of this.watched) {
      this.counters.pcieReadStalledNs[nic] += this.readStalled[nic] * spanNs;
      this.counters.pcieWriteStalledNs[nic] += this.writeStalled[nic] * spanNs;
      for (const port of this.topology.nics[nic].ports) {
        const direction = directionFrom(this.topology, peerPort(this.topology, port));
        this.counters.pausedNs[direction] += this.paused[direction] * spanNs;
      }
    }
  }

  /** Takes over the shares that hold from now on; called after rates have been solved. */
  update(): void {
    for (const nic of this.watched) {
      const { rates, topology } = this;
      this.readStalled[nic] = this.stalledShare(nic, hostRead(topology, nic), rates.hostReadGbps[nic]);
      this.writeStalled[nic] = this.stalledShare(nic, hostWrite(topology, nic), rates.hostWriteGbps[nic]);
      for (const port of this.topology.nics[nic].ports) {
        const direction = directionFrom(this.topology, peerPort(this.topology, port));
        this.paused[direction] = this.writeStalled[nic] > 0 ? this.idleShare(direction) : 0;
      }
    }
  }

  private stalledShare(nic: number, capacity: number, limitGbps: number): number {
    const most = this.rates.capacities[capacity];
    if (limitGbps === Infinity || this.loadOf(capacity) < most * FULL) return 0;
    return Math.max(0, 1 - limitGbps / this.rates.portsGbps(nic));
  }

  private idleShare(direction: number): number {
    return Math.max(0, 1 - this.loadOf(direction) / this.rates.capacities[direction]);
  }
}
