/**
 * What a NIC shows of a host side that is too slow: PCIe stalls, and the pause it sends to its switch.
 *
 * While a NIC moves one packet's bytes at the speed of its ports it is not stalled, the rest of the time it waits for
 * credits: a saturated direction is stalled for 1 - host rate / port rate of the time. One whose host can't take data as
 * fast as it arrives pauses the port that feeds it. Where senders want more than it takes, that is the congestion
 * equilibrium's business. Where they don't, since a ring moves at the pace of its slowest, each chunk still comes at
 * line rate, and the port is held for such a share of the time that arrivals match what the host takes; one whose host
 * can't deliver just sends less. Counters: mlx5 `outbound_pci_stalled_wr` and `_rd`, `tx_prio3_pause_duration`.
 */
import { directionFrom, peerPort, type Topology } from '../../model/topology/model.js';
import type { FabricSettings } from '../settings.js';
import { packetBytes } from '../settings.js';
import { pauseFramesPerNs } from '../congestion/congestion-picture.js';
import type { Counters } from '../sampling/counters.js';
import { pauseRhythm, type PauseRhythm } from '../congestion/equilibrium/pauses.js';
import { hostRead, hostWrite, type Rates } from '../rates/rates.js';

/** A capacity counts as full from here on; congestion control leaves a little of it unused. */
const FULL = 0.95;

export class HostSide {
  /** NICs that were limited at some time. */
  private readonly watched: number[] = [];
  private readonly readStalled: Float64Array;
  private readonly writeStalled: Float64Array;
  /** By direction towards a NIC: share of the time its sender is held by bursts, and the frames that takes. */
  private readonly paused: Float64Array;
  private readonly framesPerNs: Float64Array;
  private readonly rhythm: PauseRhythm = { heldShare: 0, pausesPerNs: 0, overshootBytes: 0, lossRatio: 0 };
  private accountedNs = 0;

  constructor(
    private readonly topology: Topology,
    private readonly settings: FabricSettings,
    private readonly rates: Rates,
    private readonly counters: Counters,
    /** bytes/ns now flowing through a capacity. */
    private readonly loadOf: (capacity: number) => number,
    /** The equilibrium tells of pauses that hold the sender of a direction, or it would not stop for any. */
    private readonly toldOf: (direction: number) => boolean,
  ) {
    this.readStalled = new Float64Array(topology.nics.length);
    this.writeStalled = new Float64Array(topology.nics.length);
    this.paused = new Float64Array(2 * topology.links.length);
    this.framesPerNs = new Float64Array(2 * topology.links.length);
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
      for (const direction of this.toward(nic)) {
        this.counters.pausedNs[direction] += this.paused[direction] * spanNs;
        this.counters.pauseFrames[direction] += this.framesPerNs[direction] * spanNs;
      }
    }
  }

  /** Takes over the shares that hold from now on; called after rates have been solved. */
  update(): void {
    for (const nic of this.watched) {
      const { rates, topology } = this;
      this.readStalled[nic] = this.stalledShare(nic, hostRead(topology, nic), rates.hostReadGbps[nic]);
      this.writeStalled[nic] = this.stalledShare(nic, hostWrite(topology, nic), rates.hostWriteGbps[nic]);
      for (const direction of this.toward(nic)) this.pause(direction, this.writeStalled[nic] > 0);
    }
  }

  private pause(direction: number, stalled: boolean): void {
    const { rates, rhythm, settings, topology } = this;
    const lineRate = rates.capacities[direction];
    const load = stalled && !this.toldOf(direction) ? this.loadOf(direction) : lineRate;
    this.paused[direction] = Math.max(0, 1 - load / lineRate);
    this.framesPerNs[direction] = 0;
    if (this.paused[direction] === 0) return;
    const signalNs = topology.links[direction >> 1].delayNs + packetBytes(settings) / lineRate;
    pauseRhythm(lineRate, load, signalNs, settings.pfc.resumeOffset, Infinity, rhythm);
    this.framesPerNs[direction] = pauseFramesPerNs(rhythm.pausesPerNs, this.paused[direction], lineRate);
  }

  /** Directions that end at a NIC. */
  private toward(nic: number): number[] {
    return this.topology.nics[nic].ports.map((port) =>
      directionFrom(this.topology, peerPort(this.topology, port)),
    );
  }

  private stalledShare(nic: number, capacity: number, limitGbps: number): number {
    const most = this.rates.capacities[capacity];
    if (limitGbps === Infinity || this.loadOf(capacity) < most * FULL) return 0;
    return Math.max(0, 1 - limitGbps / this.rates.portsGbps(nic));
  }
}
