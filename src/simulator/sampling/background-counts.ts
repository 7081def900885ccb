/**
 * What healthy devices count beside the jobs: control traffic, marks and short pauses while they send, now and then a
 * packet that is sent again. Brought up to date before each poll; nothing of it slows a job down.
 */
import { directionFrom, peerPort, type Topology } from '../../model/topology/model.js';
import type { FabricSettings } from '../settings.js';
import type { CounterNoise, SecondOfNic } from '../noise/counter-noise.js';
import type { PhysicalLayer } from '../network/physical-layer.js';
import type { Rates } from '../rates/rates.js';
import type { Connections } from '../transport/connections.js';
import type { Counters } from './counters.js';

const NS_PER_S = 1e9;

interface BackgroundSources {
  topology: Topology;
  settings: FabricSettings;
  physical: PhysicalLayer;
  rates: Rates;
  connections: Connections;
  counters: Counters;
}

export class BackgroundCounts {
  private settledNs = 0;
  private second = 0;
  /** By direction: bytes of all classes at the last call; by NIC: it has sent since the last second. */
  private readonly before: Float64Array;
  private readonly sends: Uint8Array;
  /** By direction: the port that receives, and its NIC or -1; the NIC that sends or -1. */
  private readonly receiver: Int32Array;
  private readonly intoNic: Int32Array;
  private readonly fromNic: Int32Array;
  private readonly now: SecondOfNic = { bursts: 0, packets: 0, lateAcks: 0 };
  private readonly starts: Int32Array;

  constructor(
    private readonly sources: BackgroundSources,
    private readonly noise: CounterNoise,
  ) {
    const { links, nics, ports } = sources.topology;
    const directions = 2 * links.length;
    this.before = new Float64Array(directions);
    this.receiver = new Int32Array(directions);
    this.intoNic = new Int32Array(directions);
    this.fromNic = new Int32Array(directions);
    this.sends = new Uint8Array(nics.length);
    this.starts = new Int32Array(nics.length);
    for (const { index, nic } of ports) {
      const direction = directionFrom(sources.topology, index);
      this.receiver[direction] = peerPort(sources.topology, index);
      this.fromNic[direction] = nic;
      this.intoNic[direction ^ 1] = nic;
    }
  }

  settle(nowNs: number): void {
    const spanNs = nowNs - this.settledNs;
    if (spanNs <= 0) return;
    const second = Math.floor(this.settledNs / NS_PER_S);
    this.settledNs = nowNs;
    this.countControl(spanNs);
    for (let direction = 0; direction < this.before.length; direction++) this.countSending(direction, second);
    for (; (this.second + 1) * NS_PER_S <= nowNs; this.second++) this.countBursts(this.second);
  }

  /** Queues of a NIC overflow for an instant when a job begins to send. */
  jobStarted(nics: Iterable<number>): void {
    for (const nic of nics)
      this.sources.counters.nicDiscards[nic] += this.noise.startDiscards(nic, this.starts[nic]++);
  }

  private countControl(spanNs: number): void {
    const bytes = this.noise.controlBytesPerNs * spanNs;
    if (bytes === 0) return;
    const { counters, physical, topology } = this.sources;
    for (const { index } of topology.ports) {
      const direction = directionFrom(topology, index);
      if (physical.operUp[index] === 1) counters.controlSent[direction] += bytes;
      if (physical.operUp[index] === 1 && physical.usable[direction] === 1)
        counters.controlReceived[direction] += bytes;
    }
  }

  private countSending(direction: number, second: number): void {
    const { counters, rates, settings } = this.sources;
    let bytes = 0;
    for (const carried of counters.carried) bytes += carried[direction];
    const sentNs = (bytes - this.before[direction]) / rates.capacities[direction];
    this.before[direction] = bytes;
    if (sentNs <= 0) return;
    const from = this.fromNic[direction];
    if (from >= 0) this.sends[from] = 1;
    const port = this.receiver[direction];
    const { pauseRate, pauseLastsNs, cnpRate } = this.noise;
    if (settings.pfc.on && pauseRate[port] > 0) {
      const pauses = (sentNs / NS_PER_S) * pauseRate[port] * this.noise.burstiness('port', port, second);
      counters.pauseFrames[direction] += 2 * pauses;
      counters.pausedNs[direction] += pauses * pauseLastsNs[port];
    }
    if (!settings.dcqcn.on || settings.ecn.pmax === 0) return;
    const into = this.intoNic[direction];
    if (into >= 0) {
      const marks = (sentNs / NS_PER_S) * cnpRate[into] * this.noise.burstiness('nic', into, second);
      counters.marked[0][direction] += marks;
      counters.markedReceived[into] += marks;
      counters.cnpSent[into] += marks;
    }
    if (from >= 0) {
      counters.cnpHandled[from] +=
        (sentNs / NS_PER_S) * cnpRate[from] * this.noise.burstiness('nic', from, second);
    }
  }

  private countBursts(second: number): void {
    const { counters, settings } = this.sources;
    for (let nic = 0; nic < this.sends.length; nic++) {
      if (this.sends[nic] === 0) continue;
      this.sends[nic] = 0;
      this.noise.second(nic, second, this.now);
      if (this.now.bursts > 0) {
        counters.sequenceErrors[nic] += this.now.bursts;
        counters.outOfSequence[this.peerOf(nic)] += this.now.packets;
      }
      const late = settings.adaptiveRetransmission ? counters.adaptiveRetransmissions : counters.ackTimeouts;
      late[nic] += this.now.lateAcks;
    }
  }

  /** Who receives from a NIC. */
  private peerOf(nic: number): number {
    return this.sources.connections.all.find(({ sourceNic }) => sourceNic === nic)?.destinationNic ?? nic;
  }
}
