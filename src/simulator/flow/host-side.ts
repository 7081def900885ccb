/**
 * What a NIC shows of a host side that is too slow: PCIe stalls.
 *
 * A NIC whose host can't take data as fast as it arrives fills its buffer and pauses the port that feeds it (that is the
 * congestion equilibrium's business); one whose host can't deliver just sends less. While it moves one packet's bytes
 * at the speed of its ports it is not stalled, the rest of the time it waits for credits: a saturated direction is
 * stalled for 1 - host rate / port rate of the time. Counters: mlx5 `outbound_pci_stalled_wr` and `_rd`.
 */
import type { Topology } from '../../topology/model.js';
import type { Counters } from './counters.js';
import { hostRead, hostWrite, type Rates } from './rates.js';

/** A capacity counts as full from here on; congestion control leaves a little of it unused. */
const FULL = 0.95;

export class HostSide {
  /** NICs that were limited at some time. */
  private readonly watched: number[] = [];
  private readonly readStalled: Float64Array;
  private readonly writeStalled: Float64Array;
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
    }
  }

  /** Takes over the shares that hold from now on; called after rates have been solved. */
  update(): void {
    for (const nic of this.watched) {
      const { rates, topology } = this;
      this.readStalled[nic] = this.stalledShare(nic, hostRead(topology, nic), rates.hostReadGbps[nic]);
      this.writeStalled[nic] = this.stalledShare(nic, hostWrite(topology, nic), rates.hostWriteGbps[nic]);
    }
  }

  private stalledShare(nic: number, capacity: number, limitGbps: number): number {
    const most = this.rates.capacities[capacity];
    if (limitGbps === Infinity || this.loadOf(capacity) < most * FULL) return 0;
    return Math.max(0, 1 - limitGbps / this.rates.portsGbps(nic));
  }
}
