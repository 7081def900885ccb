/**
 * The steady state of contended queues, found by letting every queue's delay answer what its link is asked to carry.
 *
 * Unknown are the queueing delay T of each egress queue and the rate φ that each NIC leaves every flow. In a steady
 * state of first-in-first-out queues bytes in = bytes out, so (Little) a path of rate r holds r·T bytes in a queue, and
 * an ingress port holds the sum of r·T(next queue) over the paths that came by it. Conditions: no link carries more
 * than its capacity; no lossless port holds more than its threshold, since there it pauses its sender; T > 0 only
 * where one of the two is exhausted, at the link itself or at the port at its far end; φ is the largest that fits. So
 * ports that are backlogged towards one egress share it by what they may hold (equally, for equal thresholds), a port's
 * paths keep their mix, and a full port holds back whoever comes by it: head-of-line victims, hop by hop to the NICs.
 * With DCQCN a QP sends no faster than its fixed point for the marks of the queues on its way; whichever holds the
 * load first, marks or pauses, holds the queue there.
 * Every T moves by the ratio of what it is asked and what it has, with a gain of its own that shrinks when the sign
 * changes; NICs move by Newton steps on the flows that they limit.
 */
import { markProbability } from '../congestion/marking.js';
import { AT_REST, NEARLY, type Binding } from './binding.js';
import type { Buffers } from './buffers.js';
import type { EquilibriumFlow, EquilibriumNetwork } from './model.js';
import { hazardOf, queueOfMarkRatio, type ReactionCurve } from './reaction-curve.js';
import type { Repeats } from './repeats.js';
import { roomFloat64, roomInt32 } from './room.js';
import { TIE, type Scene } from './scene.js';
import type { Stuck } from './stuck.js';
import type { Swings } from './swings.js';

const { abs, max, min } = Math;

const MOST_SWEEPS = 400;
const MOST_ROUNDS = 4;
/** So often it is looked which queues hold anybody. */
const SWEEPS_TO_BIND = 8;
/** Relative error of conditions at which the search ends. */
const NEAR = 1e-4;
/** A queue gets its first bytes beyond this. */
const OPENS = 1 + 5 * NEAR;
/** Most that a queue may grow or shrink by in one sweep, or a NIC's rate. */
const MOST_STEP = 2;
/** Gains: at first, at least, at most, and what they become when a move keeps or turns its direction. */
const FIRST_GAIN = 0.7;
const LEAST_GAIN = 0.05;
const MOST_GAIN = 1;
const GAIN_KEPT = 1.1;
const GAIN_TURNED = 0.6;
/** Part of the way that the share of drops takes in one sweep. */
const DROP_DAMPING = 0.15;
/** A queue below this share of a packet is empty. */
const EMPTY = 1e-2;

export class Balance {
  /** By flow: useful bytes/ns. */
  rate = new Float64Array(64);
  /** By queue: arriving bytes/ns, queueing delay in ns, probability of a mark, share that is dropped. */
  load = new Float64Array(64);
  delay = new Float64Array(64);
  mark = new Float64Array(64);
  drop = new Float64Array(64);
  /** By queue: bytes that the port at its far end holds. */
  held = new Float64Array(64);
  /** By queue: share of its capacity that can be used, less than 1 where DCQCN lets the queue run dry. */
  usable = new Float64Array(64);
  sweeps = 0;
  /** By flow: the NIC that limits it, or -1. By queue: what flows that it limits put on it and hold at its far end. */
  limiter = new Int32Array(64);
  limitedLoad = new Float64Array(64);
  private limitedHeld = new Float64Array(64);
  pairRate = new Float64Array(256);
  private pairLimited = new Float64Array(256);
  hazard = new Float64Array(64);
  private room = new Float64Array(64);
  private phi = new Float64Array(64);
  private mostRate = new Float64Array(64);
  private gain = new Float64Array(64);
  private lastSign = new Float64Array(64);
  private worst = 0;
  /** Marks that hold a QP just below the rate of the fastest NIC. */
  private readonly leastMark: number;

  constructor(
    private readonly network: EquilibriumNetwork,
    private readonly scene: Scene,
    private readonly buffers: Buffers,
    private readonly stuck: Stuck,
    readonly repeats: Repeats,
    private readonly curve: ReactionCurve | null,
    readonly binding: Binding,
    readonly swings: Swings,
  ) {
    this.leastMark = curve === null ? 0 : curve.leastHazard * (1 - NEAR);
  }

  /** Searches from empty queues; rates fit all links in the end. */
  run(flows: readonly EquilibriumFlow[]): void {
    this.begin();
    this.swings.begin();
    this.binding.begin();
    this.sweeps = 0;
    for (let round = 0; round < MOST_ROUNDS; round++) {
      this.settle(flows);
      this.binding.find(this, AT_REST);
      const emptied = this.emptyIdle();
      const swung = !emptied && this.swings.find(this);
      if (!emptied && !swung) break;
    }
    this.fit();
  }

  private settle(flows: readonly EquilibriumFlow[]): void {
    for (let sweep = 1; sweep <= MOST_SWEEPS; sweep++) {
      this.worst = 0;
      this.chooseRates(flows);
      this.spend(true);
      if (sweep % SWEEPS_TO_BIND === 0) this.binding.find(this, NEARLY);
      this.move();
      this.sweeps++;
      if (this.worst < NEAR) break;
    }
  }

  /** Empties queues that hold nobody; true when there was one. */
  private emptyIdle(): boolean {
    let some = false;
    for (let queue = 0; queue < this.scene.queueCount; queue++) {
      if (this.delay[queue] === 0 || this.binding.binds[queue] === 1) continue;
      if (this.load[queue] > this.shareOf(queue) * this.usable[queue] * TIE) continue;
      this.setBytes(queue, 0, 1);
      some = true;
    }
    return some;
  }

  /** bytes/ns that a queue has of its link: what the others leave, and no less than an equal part of it. */
  shareOf(queue: number): number {
    const { scene, network } = this;
    const own = scene.capacity[queue];
    if (network.classes === 1) return own;
    const direction = scene.queueDirection[queue];
    let backlogged = 1;
    let others = 0;
    for (let other = 0; other < network.classes; other++) {
      const sibling = scene.queueAt(direction, other);
      if (sibling < 0 || sibling === queue) continue;
      if (this.delay[sibling] > 0 || this.limitedLoad[sibling] > 0) backlogged++;
      others += this.load[sibling] * (1 - this.drop[sibling]);
    }
    const link = network.capacity[direction];
    return min(own, max(link / backlogged, link - others));
  }

  private begin(): void {
    const { scene } = this;
    const { queueCount } = scene;
    this.grow(scene.flowCount, queueCount);
    for (const array of [this.delay, this.mark, this.drop, this.phi, this.hazard, this.lastSign, this.held])
      array.fill(0, 0, queueCount);
    this.gain.fill(FIRST_GAIN, 0, queueCount);
    this.usable.fill(1, 0, queueCount);
    this.repeats.begin();
    for (let at = 0; at < scene.activeCount; at++) {
      const flow = scene.activeFlows[at];
      for (let place = scene.sourceStart[flow]; place < scene.sourceStart[flow + 1]; place++) {
        const nic = scene.sourceQueue[place];
        this.phi[nic] = max(this.phi[nic], scene.wish[flow]);
      }
    }
  }

  private chooseRates(flows: readonly EquilibriumFlow[]): void {
    const { scene, mostRate } = this;
    mostRate.fill(0, 0, scene.queueCount);
    for (let at = 0; at < scene.activeCount; at++) {
      const flow = scene.activeFlows[at];
      this.rate[flow] = this.stuck.flows[flow] === 1 ? 0 : this.chooseRate(flow, flows[flow].potential);
    }
  }

  private chooseRate(flow: number, potential: number): number {
    const { scene, phi, mostRate } = this;
    const sent = this.repeats.some ? this.repeats.mostSentRatio(flow) : 1;
    let limit = min(potential, this.reactionLimit(flow)) / sent;
    this.limiter[flow] = -1;
    const end = scene.sourceStart[flow + 1];
    for (let place = scene.sourceStart[flow]; place < end; place++) {
      const nic = scene.sourceQueue[place];
      if (phi[nic] / sent >= limit) continue;
      limit = phi[nic] / sent;
      this.limiter[flow] = nic;
    }
    for (let place = scene.sourceStart[flow]; place < end; place++) {
      const nic = scene.sourceQueue[place];
      if (limit * sent > mostRate[nic]) mostRate[nic] = limit * sent;
    }
    return limit;
  }

  /** Most that the reaction points of a flow's QPs allow, bytes/ns of its variable. */
  private reactionLimit(flow: number): number {
    const { scene, curve, hazard } = this;
    if (curve === null) return Infinity;
    const { hopStart, hopQueue } = scene;
    let limit = Infinity;
    for (let path = scene.pathStart[flow]; path < scene.pathStart[flow + 1]; path++) {
      let sum = 0;
      for (let hop = hopStart[path]; hop < hopStart[path + 1]; hop++) sum += hazard[hopQueue[hop]];
      if (sum > 0) limit = min(limit, curve.rateAt(sum) / scene.pathWeight[path]);
    }
    return limit;
  }

  /** What the rates put on links and between queues; repeats follow the drops only while the search moves. */
  private spend(moves: boolean): void {
    const { scene, load, limitedLoad, rate } = this;
    const { queueCount, entryQueue, entryCoefficient, entryStart } = scene;
    load.fill(0, 0, queueCount);
    limitedLoad.fill(0, 0, queueCount);
    this.pairRate.fill(0, 0, scene.pairCount);
    this.pairLimited.fill(0, 0, scene.pairCount);
    for (let at = 0; at < scene.activeCount; at++) {
      const flow = scene.activeFlows[at];
      if (rate[flow] === 0) continue;
      const limiter = this.limiter[flow];
      for (let entry = entryStart[flow]; entry < entryStart[flow + 1]; entry++) {
        const bytes = entryCoefficient[entry] * rate[flow];
        load[entryQueue[entry]] += bytes;
        if (entryQueue[entry] === limiter) limitedLoad[limiter] += bytes;
      }
      this.pass(flow);
    }
    if (this.repeats.some) this.repeats.spend(this, moves);
  }

  /** Rates from queue to queue, of all and of what the first one limits. */
  private pass(flow: number): void {
    const { scene, pairRate, pairLimited } = this;
    const { hopPair, hopQueue, hopStart, pathWeight } = scene;
    const limiter = this.limiter[flow];
    for (let path = scene.pathStart[flow]; path < scene.pathStart[flow + 1]; path++) {
      const bytes = pathWeight[path] * this.rate[flow];
      const first = hopStart[path];
      const end = hopStart[path + 1] - 1;
      if (hopQueue[first] === limiter && first < end) pairLimited[hopPair[first]] += bytes;
      for (let hop = first; hop < end; hop++) pairRate[hopPair[hop]] += bytes;
    }
  }

  /** Lets every queue answer, receivers first, so that a port sees at once what the queues behind it do. */
  private move(): void {
    const { scene, held } = this;
    for (let at = 0; at < scene.orderCount; at++) {
      const queue = scene.order[at];
      this.hold(queue);
      this.room[queue] = this.shareOf(queue) * this.usable[queue];
    }
    for (let at = 0; at < scene.orderCount; at++) {
      const queue = scene.order[at];
      if (this.stuck.queues[queue] === 1) continue;
      if (scene.fromSwitch[queue] === 0) {
        this.moveNic(queue);
        continue;
      }
      const before = this.delay[queue];
      this.moveQueue(queue);
      const more = this.delay[queue] - before;
      for (let pair = scene.firstPairInto[queue]; more !== 0 && pair >= 0; pair = scene.pairNextInto[pair]) {
        held[scene.pairFrom[pair]] += this.pairRate[pair] * more;
        this.limitedHeld[scene.pairFrom[pair]] += this.pairLimited[pair] * more;
      }
    }
    this.buffers.follow(held);
  }

  /** Share of what comes to a queue that will come once full links and ports in front of it have held it back. */
  private relief(queue: number): number {
    const { scene, held, pairRate } = this;
    const { threshold } = this.buffers;
    let comes = 0;
    let will = 0;
    for (let pair = scene.firstPairInto[queue]; pair >= 0; pair = scene.pairNextInto[pair]) {
      const from = scene.pairFrom[pair];
      const rate = pairRate[pair];
      comes += rate;
      will += rate / max(1, held[from] / threshold[from], this.load[from] / this.room[from]);
    }
    return comes > 0 ? will / comes : 1;
  }

  /** What the port at a queue's far end holds: of the bytes in each queue there those that came by it. */
  private hold(queue: number): void {
    const { scene, delay } = this;
    let held = 0;
    let limited = 0;
    for (let pair = scene.firstPair[queue]; pair >= 0; pair = scene.pairNext[pair]) {
      held += this.pairRate[pair] * delay[scene.pairTo[pair]];
      limited += this.pairLimited[pair] * delay[scene.pairTo[pair]];
    }
    this.held[queue] = held;
    this.limitedHeld[queue] = limited;
  }

  private moveNic(nic: number): void {
    const { phi, load, held, limitedLoad, limitedHeld, mostRate } = this;
    if (phi[nic] === 0) return;
    const room = this.buffers.threshold[nic];
    const capacity = this.room[nic];
    if (limitedLoad[nic] === 0) {
      // Limits nobody: stay within reach of the rates, and step in where the NIC is asked too much.
      const asked = max(load[nic] / capacity, held[nic] / room);
      this.worst = max(this.worst, asked - 1);
      phi[nic] = asked > 1 + NEAR ? mostRate[nic] * (1 - NEAR) : min(MOST_STEP, 1 / asked) * mostRate[nic];
      return;
    }
    const byLoad = (capacity - load[nic]) / limitedLoad[nic];
    const byRoom = limitedHeld[nic] > 0 ? (room - held[nic]) / limitedHeld[nic] : Infinity;
    const step = min(byLoad, byRoom);
    this.worst = max(this.worst, abs(step));
    phi[nic] *= max(1 / MOST_STEP, min(MOST_STEP, 1 + step));
  }

  private moveQueue(queue: number): void {
    const { buffers, load, held, delay } = this;
    // A hair more than there is, so that a tie with a NIC leaves the queue empty; `fit` takes it back.
    const capacity = this.room[queue] * TIE;
    const asked = max(load[queue] / capacity, held[queue] / buffers.threshold[queue]) * this.relief(queue);
    if (delay[queue] === 0) {
      if (asked > OPENS) this.worst = max(this.worst, asked - 1);
      if (asked > OPENS) this.setBytes(queue, this.firstBytes(queue), capacity);
      return;
    }
    if (this.overflows(queue, capacity)) return;
    if (asked > OPENS) this.binding.revive(queue);
    if (asked < 1 && this.binding.binds[queue] === 0) {
      // Holds nobody: it need not wait until the little that it is asked less has emptied it.
      this.setBytes(queue, (delay[queue] * capacity) / MOST_STEP, capacity);
      return;
    }
    // Where a tie may be, how much less is asked says nothing of whether the queue is at rest.
    this.worst = max(this.worst, asked - 1, 1 / (TIE + NEAR) - asked);
    this.answer(queue, asked, capacity);
  }

  /** Bytes with which a queue begins: enough to mark, or a part of what a port may hold. */
  private firstBytes(queue: number): number {
    const marking = this.curve === null ? undefined : this.buffers.marking[queue];
    const typical = this.buffers.typical[queue] / 4;
    return max(this.network.packetBytes, marking === undefined ? typical : min(typical, marking.kminBytes));
  }

  private answer(queue: number, asked: number, capacity: number): void {
    const sign = asked > 1 ? 1 : -1;
    const turned = this.lastSign[queue] * sign < 0;
    this.gain[queue] = max(
      LEAST_GAIN,
      min(MOST_GAIN, turned ? min(1, this.gain[queue]) * GAIN_TURNED : this.gain[queue] * GAIN_KEPT),
    );
    this.lastSign[queue] = sign;
    const step = min(MOST_STEP, max(1 / MOST_STEP, asked)) ** this.gain[queue];
    const bytes = this.delay[queue] * capacity;
    if (asked > OPENS && this.mark[queue] === 0 && bytes < this.firstBytes(queue) / MOST_STEP) {
      this.setBytes(queue, this.firstBytes(queue), capacity);
      return;
    }
    const next = bytes * step;
    const marking = this.curve === null ? undefined : this.buffers.marking[queue];
    const mark = this.mark[queue];
    if (marking !== undefined && (mark > 0 ? mark * step >= this.leastMark : next > marking.kminBytes)) {
      // On a steep slope few bytes are many marks: of the two moves the shorter one is safe. Too few marks to hold
      // anyone are where the slope begins.
      const ratio = max(this.leastMark, mark * step);
      const byMarks = queueOfMarkRatio(marking, ratio);
      if (ratio < 1 && byMarks < this.buffers.limit[queue] && abs(byMarks - bytes) <= abs(next - bytes)) {
        this.delay[queue] = byMarks / capacity;
        this.setMark(queue, ratio);
        return;
      }
    }
    this.setBytes(queue, next < this.network.packetBytes * EMPTY ? 0 : next, capacity);
  }

  /** A lossy queue at its limit drops what it can not carry; true where it does. */
  private overflows(queue: number, capacity: number): boolean {
    const limit = this.buffers.limit[queue];
    if (limit === Infinity) return false;
    const wanted = max(0, 1 - capacity / this.load[queue]);
    const full = this.delay[queue] * capacity >= limit * (1 - NEAR);
    if (!full || wanted === 0) {
      this.drop[queue] *= 1 - DROP_DAMPING;
      if (this.drop[queue] < 1e-12) this.drop[queue] = 0;
      return false;
    }
    this.repeats.some = true;
    this.worst = max(this.worst, abs(wanted - this.drop[queue]));
    this.drop[queue] += DROP_DAMPING * (wanted - this.drop[queue]);
    this.setBytes(queue, limit, capacity);
    return true;
  }

  private setBytes(queue: number, bytes: number, capacity: number): void {
    const kept = min(bytes, this.buffers.limit[queue]);
    const marking = this.buffers.marking[queue];
    this.delay[queue] = kept / capacity;
    this.setMark(queue, marking === undefined ? 0 : markProbability(marking, kept));
  }

  private setMark(queue: number, ratio: number): void {
    this.mark[queue] = ratio;
    this.hazard[queue] = ratio > 0 ? hazardOf(ratio) : 0;
  }

  /** Takes from every flow what the search left over on its fullest link, so that none carries more than it can. */
  private fit(): void {
    const { scene, load, rate } = this;
    this.spend(false);
    for (let at = 0; at < scene.activeCount; at++) {
      const flow = scene.activeFlows[at];
      let factor = 1;
      for (let entry = scene.entryStart[flow]; entry < scene.entryStart[flow + 1]; entry++) {
        const queue = scene.entryQueue[entry];
        if (this.buffers.limit[queue] < Infinity || load[queue] === 0) continue;
        factor = min(factor, (this.shareOf(queue) * this.usable[queue]) / load[queue]);
      }
      rate[flow] *= factor;
    }
    for (let pass = 0; pass < 2; pass++) {
      this.spend(false);
      for (let queue = 0; queue < scene.queueCount; queue++) {
        if (this.buffers.limit[queue] < Infinity && load[queue] > 0)
          this.drop[queue] = max(0, 1 - this.shareOf(queue) / load[queue]);
      }
    }
    for (let at = 0; at < scene.orderCount; at++) this.hold(scene.order[at]);
  }

  private grow(flows: number, queues: number): void {
    this.rate = roomFloat64(this.rate, flows);
    this.limiter = roomInt32(this.limiter, flows);
    for (const name of BY_QUEUE) this[name] = roomFloat64(this[name], queues);
    this.pairRate = roomFloat64(this.pairRate, this.scene.pairCount);
    this.pairLimited = roomFloat64(this.pairLimited, this.scene.pairCount);
    this.hazard = roomFloat64(this.hazard, queues);
    this.room = roomFloat64(this.room, queues);
    this.phi = roomFloat64(this.phi, queues);
    this.mostRate = roomFloat64(this.mostRate, queues);
    this.gain = roomFloat64(this.gain, queues);
    this.lastSign = roomFloat64(this.lastSign, queues);
    this.limitedHeld = roomFloat64(this.limitedHeld, queues);
  }
}

const BY_QUEUE = ['load', 'delay', 'mark', 'drop', 'held', 'usable', 'limitedLoad'] as const;
