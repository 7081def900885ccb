/**
 * Egress queues and wires: first in, first out, paused as a whole, marking what leaves a long queue.
 *
 * Time moves in steps. What arrives in one step is one slice of the queue, mixed in proportion to what each stream
 * brought; slices leave in order. So a link is shared in proportion to what arrives and not fairly, a paused queue
 * holds everybody back, and order within a stream is kept. A wire hands over a whole number of steps later.
 * Not modelled: the order of packets within a step, gaps between frames.
 */
import { CERTAIN_HAZARD, markHazard } from './marking.js';
import type { CongestionNetwork } from './network.js';
import { HAZARD, NACK, NEXT, PACKETS, PAIR, ParcelLists, SEQUENCE_END, STEP, TAIL_NS } from './parcels.js';
import type { Parcels } from './parcels.js';
import type { Routes } from './routes.js';
import type { SharedBuffers } from './shared-buffers.js';

/** Packets within which two sequence numbers are the same. */
export const SAME = 1e-6;
/** Less than this of a packet, or of a ns, is rounding. */
const CRUMB = 1e-9;
// A module constant is read faster than a global where tests run in a sandbox.
const { abs, expm1, max, min } = Math;

export class FluidLinks {
  readonly queues: ParcelLists;
  readonly wires: ParcelLists;
  readonly queuedBytes: Float64Array;
  /** 1 while the link's sender has been told to pause. */
  readonly paused: Uint8Array;
  readonly down: Uint8Array;
  /** Steps a parcel is on the wire: propagation, and one packet's transmission since links store and forward. */
  readonly flightSteps: Int32Array;
  /** Totals per link. */
  readonly queuedInBytes: Float64Array;
  readonly sentBytes: Float64Array;
  /** Lost with the link: out of its queue, and under way. */
  readonly lostBytes: Float64Array;
  readonly lostUnderWayBytes: Float64Array;
  readonly markedPackets: Float64Array;
  readonly peakBytes: Float64Array;
  private readonly openParcel: Int32Array;
  private readonly openStep: Float64Array;
  /** What leaves in one serving, by the link it had come in by. */
  private readonly leavingBytes: Float64Array;
  private readonly leavingFrom: Int32Array;
  private leavingCount = 0;
  /** State of the slice that is leaving: time passed in the step, hazard of a packet, arrived in this very step. */
  private passedNs = 0;
  private hazard = 0;
  private fresh = false;
  private readonly packetNs: Float64Array;
  private readonly ackNs: Float64Array;
  private readonly packetBytes: number;
  private readonly ackBytes: number;

  constructor(
    private readonly network: CongestionNetwork,
    private readonly parcels: Parcels,
    private readonly routes: Routes,
    private readonly buffers: SharedBuffers,
    stepNs: number,
  ) {
    const count = network.links.length;
    this.queues = new ParcelLists(parcels, count);
    this.wires = new ParcelLists(parcels, count);
    const zeros = (): Float64Array => new Float64Array(count);
    this.queuedBytes = zeros();
    this.queuedInBytes = zeros();
    this.sentBytes = zeros();
    this.lostBytes = zeros();
    this.lostUnderWayBytes = zeros();
    this.markedPackets = zeros();
    this.peakBytes = zeros();
    this.paused = new Uint8Array(count);
    this.down = new Uint8Array(count);
    this.flightSteps = Int32Array.from(network.links, ({ delayNs, packetNs }) =>
      Math.max(1, Math.round((delayNs + packetNs) / stepNs)),
    );
    this.leavingBytes = zeros();
    this.leavingFrom = new Int32Array(count);
    this.packetNs = Float64Array.from(network.links, ({ packetNs }) => packetNs);
    this.ackNs = Float64Array.from(network.links, ({ ackNs }) => ackNs);
    this.packetBytes = network.packetBytes;
    this.ackBytes = network.ackBytes;
    this.openParcel = new Int32Array(routes.linkOf.length).fill(-1);
    this.openStep = new Float64Array(routes.linkOf.length).fill(-1);
  }

  /** Bytes of a parcel on the wire. */
  bytesOf(parcel: number): number {
    const { data } = this.parcels;
    const isData = (this.routes.streamOf[data[parcel + PAIR]] & 1) === 0;
    return data[parcel + PACKETS] * (isData ? this.packetBytes : this.ackBytes);
  }

  /** Bytes a link carries now. */
  underWayBytes(link: number): number {
    const { data } = this.parcels;
    let bytes = 0;
    for (let parcel = this.wires.head[link]; parcel >= 0; parcel = data[parcel + NEXT]) {
      bytes += this.bytesOf(parcel);
    }
    return bytes;
  }

  /** Puts a parcel that has the link as its place into the link's queue. */
  enqueue(link: number, parcel: number): void {
    const bytes = this.bytesOf(parcel);
    this.queuedBytes[link] += bytes;
    this.queuedInBytes[link] += bytes;
    if (this.queuedBytes[link] > this.peakBytes[link]) this.peakBytes[link] = this.queuedBytes[link];
    this.queues.append(link, parcel);
  }

  /** Sends from the queue for up to `budgetNs` of this step; returns what is left of them. */
  serve(link: number, step: number, budgetNs: number): number {
    const { queues } = this;
    this.hazard = this.hazardNow(link, budgetNs);
    let leftNs = budgetNs;
    while (queues.head[link] >= 0 && leftNs > CRUMB) {
      const sliceNs = this.sliceNs(link);
      const all = sliceNs <= leftNs + CRUMB;
      const share = all ? 1 : leftNs / sliceNs;
      leftNs = all ? max(0, leftNs - sliceNs) : 0;
      this.passedNs = budgetNs - leftNs;
      this.sendSlice(link, step, all, share);
    }
    this.releaseAll(link);
    return leftNs;
  }

  /** Puts a parcel on the wire, joined to what its stream already put there in this step. */
  emit(link: number, parcel: number, step: number): void {
    const { data } = this.parcels;
    const arrival = step + this.flightSteps[link];
    const pair = data[parcel + PAIR];
    const open = this.openParcel[pair];
    const isNack = data[parcel + NACK] === 1;
    const begin = data[parcel + SEQUENCE_END] - data[parcel + PACKETS];
    this.sentBytes[link] += this.bytesOf(parcel);
    if (this.openStep[pair] === arrival && !isNack && abs(begin - data[open + SEQUENCE_END]) < SAME) {
      data[open + PACKETS] += data[parcel + PACKETS];
      data[open + HAZARD] += data[parcel + HAZARD];
      data[open + SEQUENCE_END] = data[parcel + SEQUENCE_END];
      data[open + TAIL_NS] = max(data[open + TAIL_NS], data[parcel + TAIL_NS]);
      this.parcels.free(parcel);
      return;
    }
    data[parcel + STEP] = arrival;
    this.wires.append(link, parcel);
    this.openParcel[pair] = parcel;
    this.openStep[pair] = isNack ? -1 : arrival;
  }

  /** The link goes down: what is queued for it and what it carries is lost. */
  takeDown(link: number): void {
    this.down[link] = 1;
    while (this.wires.head[link] >= 0) {
      const parcel = this.wires.shift(link);
      this.lostUnderWayBytes[link] += this.bytesOf(parcel);
      this.parcels.free(parcel);
    }
    this.dropQueue(link);
    this.openStep.fill(-1);
  }

  /** Loses all that is queued for a link. */
  dropQueue(link: number): void {
    while (this.queues.head[link] >= 0) {
      const parcel = this.queues.shift(link);
      const bytes = this.bytesOf(parcel);
      const from = this.routes.linkBefore[this.parcels.data[parcel + PAIR]];
      this.lostBytes[link] += bytes;
      if (from >= 0) this.buffers.release(from, bytes);
      this.parcels.free(parcel);
    }
    this.queuedBytes[link] = 0;
  }

  /** Sends the first slice of the queue, or the same share of each of its parcels. */
  private sendSlice(link: number, step: number, all: boolean, share: number): void {
    const { parcels, queues } = this;
    let parcel = queues.head[link];
    const arrived = parcels.data[parcel + STEP];
    this.fresh = arrived === step;
    while (parcel >= 0 && parcels.data[parcel + STEP] === arrived) {
      const next = parcels.data[parcel + NEXT];
      if (all) queues.shift(link);
      this.depart(link, all ? parcel : parcels.cut(parcel, share), step);
      parcel = next;
    }
  }

  private depart(link: number, parcel: number, step: number): void {
    const { data } = this.parcels;
    const pair = data[parcel + PAIR];
    const packets = data[parcel + PACKETS];
    const isData = (this.routes.streamOf[pair] & 1) === 0;
    const bytes = packets * (isData ? this.packetBytes : this.ackBytes);
    const from = this.routes.linkBefore[pair];
    if (from < 0) {
      this.queuedBytes[link] -= bytes;
    } else {
      if (this.leavingBytes[from] === 0) this.leavingFrom[this.leavingCount++] = from;
      this.leavingBytes[from] += bytes;
    }
    if (!this.fresh || this.passedNs > data[parcel + TAIL_NS]) data[parcel + TAIL_NS] = this.passedNs;
    if (isData && this.hazard > 0) {
      data[parcel + HAZARD] += this.hazard * packets;
      this.markedPackets[link] += -expm1(-this.hazard) * packets;
    }
    this.emit(link, parcel, step);
  }

  /** Tells the switch what has left over a link, once for each port it had come in by. */
  private releaseAll(link: number): void {
    for (let index = 0; index < this.leavingCount; index++) {
      const from = this.leavingFrom[index];
      const bytes = this.leavingBytes[from];
      this.leavingBytes[from] = 0;
      this.queuedBytes[link] -= bytes;
      this.buffers.release(from, bytes);
    }
    this.leavingCount = 0;
    if (this.queues.head[link] < 0 || this.queuedBytes[link] < 0) this.queuedBytes[link] = 0;
  }

  private sliceNs(link: number): number {
    const { data } = this.parcels;
    const { streamOf } = this.routes;
    const packetNs = this.packetNs[link];
    const ackNs = this.ackNs[link];
    let parcel = this.queues.head[link];
    const arrived = data[parcel + STEP];
    let sumNs = 0;
    while (parcel >= 0 && data[parcel + STEP] === arrived) {
      sumNs += data[parcel + PACKETS] * ((streamOf[data[parcel + PAIR]] & 1) === 0 ? packetNs : ackNs);
      parcel = data[parcel + NEXT];
    }
    return sumNs;
  }

  /** Hazard of a packet that leaves in this step, by the queue in the middle of it. */
  private hazardNow(link: number, budgetNs: number): number {
    const { marking, packetNs } = this.network.links[link];
    if (marking === undefined) return 0;
    const before = this.queuedBytes[link];
    if (before <= marking.kminBytes) return 0;
    const leaving = min(before, (budgetNs / packetNs) * this.network.packetBytes);
    return min(CERTAIN_HAZARD, markHazard(marking, before - leaving / 2));
  }
}
