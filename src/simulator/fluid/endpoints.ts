/**
 * Senders and receivers: go-back-N transport on top of the fluid.
 *
 * A sender paces its flow at its reaction point's rate; its NIC serves ACKs first and shares the rest round robin,
 * which for paced flows is a max-min share of the NIC. The receiver accepts what is next in order, answers each packet
 * with an ACK that carries the mark's hazard back, and answers a gap with one NACK, repeated after a while.
 * Whether a hazard became a mark is drawn per flow: the distance to the next mark is exponential.
 * Not modelled: windows, retransmission timers, loss of NACKs by anything but a dead link.
 */
import type { Prng } from '../../core/prng.js';
import { SAME, type FluidLinks } from './fluid-links.js';
import type { CongestionFlow, CongestionNetwork } from './network.js';
import { HAZARD, NACK, PACKETS, PAIR, SEQUENCE_END, STEP, TAIL_NS, type Parcels } from './parcels.js';
import { ReactionPoints } from './reaction-points.js';
import type { Routes } from './routes.js';

// A module constant is read faster than a global where tests run in a sandbox.
const { floor, max, min } = Math;

export class Endpoints {
  readonly points: ReactionPoints;
  /** Packets: sent so far (goes back on a NACK), next in order at the receiver, known to have arrived. */
  readonly sent: Float64Array;
  readonly expected: Float64Array;
  readonly acknowledged: Float64Array;
  /** Packets put on the wire, repeats included. */
  readonly emitted: Float64Array;
  readonly marks: Int32Array;
  /** When the sender learnt that all has arrived, on the fluid's clock, ns. */
  readonly completeNs: Float64Array;
  /** Flows that completed in this step. */
  readonly completed: number[] = [];
  /** Flows with something left to send, per host (first link of their path). */
  private readonly sending = new Map<number, number[]>();
  private readonly startNs: Float64Array;
  private readonly paceNs: Float64Array;
  /** What a flow may send and has not sent, and from how much on it does: slow flows send whole packets. */
  private readonly credit: Float64Array;
  private readonly lot: Float64Array;
  private readonly toNextMark: Float64Array;
  /** Hazard of ACKs heard since the last whole packet. */
  private readonly heardHazard: Float64Array;
  private readonly gapAt: Float64Array;
  private readonly nackNs: Float64Array;
  private demandNs = new Float64Array(16);

  constructor(
    private readonly network: CongestionNetwork,
    private readonly flows: readonly CongestionFlow[],
    private readonly parcels: Parcels,
    private readonly routes: Routes,
    private readonly fluid: FluidLinks,
    private readonly random: Prng,
    private readonly stepNs: number,
  ) {
    const count = flows.length;
    const zeros = (): Float64Array => new Float64Array(count);
    const nics = flows.map(({ path }) => network.links[path[0]]);
    const lineRate = Float64Array.from(nics, ({ packetNs }) => network.packetBytes / packetNs);
    this.points = new ReactionPoints(network.dcqcn, lineRate);
    [this.sent, this.expected, this.acknowledged, this.emitted] = [zeros(), zeros(), zeros(), zeros()];
    [this.credit, this.lot] = [zeros(), zeros().fill(1)];
    [this.startNs, this.nackNs, this.heardHazard] = [zeros(), zeros(), zeros()];
    this.marks = new Int32Array(count);
    this.completeNs = zeros().fill(Infinity);
    this.gapAt = zeros().fill(-1);
    this.paceNs = Float64Array.from(nics, ({ packetNs }) => packetNs);
    this.toNextMark = zeros().map(() => random.exponential(1));
  }

  start(flow: number, startNs: number): void {
    this.startNs[flow] = startNs;
    this.resume(flow);
    const flows = this.sending.get(this.flows[flow].path[0])!;
    // As in a round robin, equal flows of a NIC take turns and do not all send in the same step.
    this.lot[flow] = (flows.indexOf(flow) + 1) / flows.length;
  }

  /** Runs the clocks of all reaction points that are due. */
  runTimers(untilNs: number): void {
    const { nextNs } = this.points;
    for (let flow = 0; flow < nextNs.length; flow++) {
      if (nextNs[flow] <= untilNs && this.points.advance(flow, untilNs)) this.pace(flow);
    }
  }

  /** A host's NIC in one step: ACKs, then what its flows may send. */
  send(nic: number, step: number): void {
    const leftNs = this.fluid.serve(nic, step, this.stepNs);
    const flows = this.sending.get(nic);
    if (flows === undefined || flows.length === 0 || this.fluid.paused[nic] === 1 || leftNs <= 0) return;
    const stepStartNs = step * this.stepNs;
    const fairNs = this.fairNs(nic, flows, stepStartNs, leftNs);
    const packetNs = this.network.links[nic].packetNs;
    let kept = 0;
    const alone = flows.length === 1;
    for (let index = 0; index < flows.length; index++) {
      const flow = flows[index];
      const usedNs = min(this.demandNs[index], fairNs);
      this.credit[flow] += usedNs / packetNs;
      const left = this.flows[flow].packets - this.sent[flow];
      // At line rate a packet may leave across two steps; held for the second it would come a packet late.
      const lot = alone && this.paceNs[flow] <= packetNs ? 0 : this.lot[flow];
      if (this.credit[flow] > 0 && this.credit[flow] >= min(lot, left - SAME)) {
        // A crumb of a packet left behind would wait for a step of its own.
        const packets = this.credit[flow] > left - 2 * SAME ? left : this.credit[flow];
        this.credit[flow] = 0;
        this.lot[flow] = 1;
        // Round robin ends all flows near the step's end; one alone ends when its bytes do. What it had saved up
        // before this step has taken no time in it.
        const beganNs = max(0, this.startNs[flow] - stepStartNs);
        const takenNs = (usedNs / packetNs) * max(packetNs, this.paceNs[flow]);
        const passedNs = alone ? beganNs + takenNs : this.stepNs;
        this.emitData(nic, flow, packets, step, min(this.stepNs, passedNs));
      }
      if (this.sent[flow] < this.flows[flow].packets - SAME) flows[kept++] = flow;
    }
    flows.length = kept;
  }

  /** Hosts that have something to send. */
  get nics(): IterableIterator<number> {
    return this.sending.keys();
  }

  /** True while some flow may put more on the wire. */
  get active(): boolean {
    for (const flows of this.sending.values()) if (flows.length > 0) return true;
    return false;
  }

  /** A parcel at the end of its way. */
  deliver(parcel: number, step: number): void {
    const stream = this.routes.streamOf[this.parcels.data[parcel + PAIR]];
    if ((stream & 1) === 0) this.receive(stream >> 1, parcel, step);
    else this.hear(stream >> 1, parcel, step);
    this.parcels.free(parcel);
  }

  private receive(flow: number, parcel: number, step: number): void {
    const { data } = this.parcels;
    const { expected } = this;
    const end = data[parcel + SEQUENCE_END];
    if (end - data[parcel + PACKETS] > expected[flow] + SAME) {
      const nowNs = step * this.stepNs;
      if (this.gapAt[flow] === expected[flow] && nowNs < this.nackNs[flow]) return;
      this.gapAt[flow] = expected[flow];
      this.nackNs[flow] = nowNs + this.network.nackRepeatNs;
      this.answer(flow, parcel, 1, expected[flow], 1);
      return;
    }
    const fresh = end - expected[flow];
    if (fresh <= SAME) return;
    expected[flow] = end;
    this.answer(flow, parcel, fresh, end, 0);
  }

  /** Sends an ACK or a NACK that carries the hazard of what it answers. */
  private answer(flow: number, cause: number, packets: number, end: number, nack: number): void {
    const parcel = this.parcels.take();
    const { data } = this.parcels;
    const pair = this.routes.current[2 * flow + 1];
    data[parcel + PAIR] = pair;
    data[parcel + PACKETS] = packets;
    data[parcel + SEQUENCE_END] = end;
    data[parcel + HAZARD] = data[cause + HAZARD];
    data[parcel + STEP] = data[cause + STEP];
    data[parcel + TAIL_NS] = data[cause + TAIL_NS];
    data[parcel + NACK] = nack;
    const nic = this.routes.linkOf[pair];
    this.fluid.enqueue(nic, parcel);
    if (!this.sending.has(nic)) this.sending.set(nic, []);
  }

  private hear(flow: number, parcel: number, step: number): void {
    const { data } = this.parcels;
    if (this.completeNs[flow] < Infinity) return;
    const end = data[parcel + SEQUENCE_END];
    const isNack = data[parcel + NACK] === 1;
    const nowNs = step * this.stepNs + data[parcel + TAIL_NS];
    this.heardHazard[flow] += data[parcel + HAZARD];
    if (isNack || floor(end + SAME) > this.acknowledged[flow] + SAME) this.hearMarks(flow, nowNs);
    if (isNack) {
      this.sent[flow] = end;
      this.resume(flow);
    }
    if (end <= this.acknowledged[flow]) return;
    this.acknowledged[flow] = end;
    if (end < this.flows[flow].packets - SAME) return;
    this.completeNs[flow] = nowNs;
    this.points.stop(flow);
    this.completed.push(flow);
  }

  /** A mark comes with a whole packet: a slow flow hears of one per packet at most, however long its queue is. */
  private hearMarks(flow: number, nowNs: number): void {
    if (this.heardHazard[flow] === 0) return;
    this.toNextMark[flow] -= this.heardHazard[flow];
    this.heardHazard[flow] = 0;
    if (this.toNextMark[flow] > 0) return;
    this.toNextMark[flow] = this.random.exponential(1);
    this.marks[flow]++;
    this.points.mark(flow, nowNs);
  }

  private emitData(nic: number, flow: number, packets: number, step: number, tailNs: number): void {
    const parcel = this.parcels.take();
    const { data } = this.parcels;
    this.sent[flow] += packets;
    this.emitted[flow] += packets;
    data[parcel + PAIR] = this.routes.current[2 * flow];
    data[parcel + PACKETS] = packets;
    data[parcel + SEQUENCE_END] = this.sent[flow];
    data[parcel + HAZARD] = 0;
    data[parcel + TAIL_NS] = tailNs;
    data[parcel + NACK] = 0;
    this.fluid.emit(nic, parcel, step);
  }

  private resume(flow: number): void {
    const nic = this.flows[flow].path[0];
    const flows = this.sending.get(nic) ?? [];
    if (!flows.includes(flow)) flows.push(flow);
    this.sending.set(nic, flows);
  }

  /** A new rate becomes the time from one packet to the next. */
  private pace(flow: number): void {
    const paceNs = this.network.packetBytes / this.points.rate[flow];
    this.paceNs[flow] = this.network.wholeNs === true ? floor(paceNs) : paceNs;
  }

  /** Fills `demandNs` with what each flow wants of the NIC and returns the most that one may have. */
  private fairNs(nic: number, flows: readonly number[], stepStartNs: number, budgetNs: number): number {
    if (flows.length > this.demandNs.length) this.demandNs = new Float64Array(2 * flows.length);
    const demandNs = this.demandNs;
    const packetNs = this.network.links[nic].packetNs;
    let wantedNs = 0;
    for (let index = 0; index < flows.length; index++) {
      const flow = flows[index];
      const lateNs = max(0, this.startNs[flow] - stepStartNs);
      const pacedNs = (max(0, this.stepNs - lateNs) * packetNs) / max(packetNs, this.paceNs[flow]);
      const left = this.flows[flow].packets - this.sent[flow] - this.credit[flow];
      demandNs[index] = min(pacedNs, max(0, left) * packetNs);
      wantedNs += demandNs[index];
    }
    if (wantedNs <= budgetNs) return Infinity;
    let fair = budgetNs / flows.length;
    for (;;) {
      let freeNs = budgetNs;
      let greedy = 0;
      for (let index = 0; index < flows.length; index++) {
        if (demandNs[index] <= fair) freeNs -= demandNs[index];
        else greedy++;
      }
      const next = greedy === 0 ? fair : freeNs / greedy;
      if (next <= fair * (1 + 1e-12)) return fair;
      fair = next;
    }
  }
}
