/**
 * Queues in a balance: how each answers what it is asked to carry.
 *
 * What a queue is asked is its load over its capacity, or what the port at its far end holds over the threshold there,
 * whichever is more, less what full links and ports in front of it will hold back anyway. Its bytes move by that ratio
 * to the power of a gain of its own; where it marks, the marks may move instead. A lossy queue at its limit drops.
 */
import { markProbability } from '../../fluid/marking.js';
import { MOST_STEP, NEAR, type BalanceState } from './balance-state.js';
import type { Binding } from './binding.js';
import type { Buffers } from './buffers.js';
import type { EquilibriumNetwork } from './model.js';
import { hazardOf, queueOfMarkRatio, type ReactionCurve } from './reaction-curve.js';
import type { Pace } from './pace.js';
import type { Repeats } from './repeats.js';
import { roomFloat64 } from './room.js';
import { TIE, type Scene } from './scene.js';

const { abs, max, min } = Math;

/** A queue gets its first bytes beyond this. */
const OPENS = 1 + 5 * NEAR;
/** Gains: at first, at least, and what they become when a move keeps or turns its direction. */
const FIRST_GAIN = 0.7;
const LEAST_GAIN = 0.05;
const GAIN_KEPT = 1.1;
const GAIN_TURNED = 0.6;
/** Part of the way that the share of drops takes in one sweep. */
const DROP_DAMPING = 0.15;
/** A queue below this share of a packet is empty. */
const EMPTY = 1e-2;

const within = (step: number): number => min(MOST_STEP, max(1 / MOST_STEP, step));

export class Queues {
  private gain = new Float64Array(64);
  private lastSign = new Float64Array(64);
  /** Marks that hold a QP just below the rate of the fastest NIC. */
  private readonly leastMark: number;

  constructor(
    private readonly state: BalanceState,
    private readonly network: EquilibriumNetwork,
    private readonly scene: Scene,
    private readonly buffers: Buffers,
    private readonly repeats: Repeats,
    private readonly binding: Binding,
    private readonly curve: ReactionCurve | null,
    private readonly pace: Pace,
  ) {
    this.leastMark = curve === null ? 0 : curve.leastHazard * (1 - NEAR);
  }

  begin(): void {
    const { queueCount } = this.scene;
    this.gain = roomFloat64(this.gain, queueCount);
    this.lastSign = roomFloat64(this.lastSign, queueCount);
    this.gain.fill(FIRST_GAIN, 0, queueCount);
    this.lastSign.fill(0, 0, queueCount);
  }

  moveQueue(queue: number): void {
    const { buffers } = this;
    const { load, held, delay } = this.state;
    // A hair more than there is, so that a tie with a NIC leaves the queue empty; `fit` takes it back.
    const capacity = this.state.room[queue] * TIE;
    const asked = max(load[queue] / capacity, held[queue] / buffers.threshold[queue]) * this.relief(queue);
    if (delay[queue] === 0) {
      if (asked > OPENS) this.state.worst = max(this.state.worst, asked - 1);
      if (asked > OPENS) this.setBytes(queue, this.firstBytes(queue), capacity);
      return;
    }
    this.state.lack = max(this.state.lack, asked - 1);
    if (this.overflows(queue, capacity)) return;
    if (asked > OPENS) this.binding.revive(queue);
    if (asked < 1 && this.binding.binds[queue] === 0) {
      // Holds nobody: it need not wait until the little that it is asked less has emptied it.
      this.setBytes(queue, (delay[queue] * capacity) / MOST_STEP, capacity);
      return;
    }
    // Where a tie may be, how much less is asked says nothing of whether the queue is at rest.
    this.state.worst = max(this.state.worst, asked - 1, 1 / (TIE + NEAR) - asked);
    this.answer(queue, asked, capacity);
  }

  setBytes(queue: number, bytes: number, capacity: number): void {
    const kept = min(bytes, this.buffers.limit[queue]);
    const marking = this.buffers.marking[queue];
    this.state.delay[queue] = kept / capacity;
    this.setMark(queue, marking === undefined ? 0 : markProbability(marking, kept));
  }

  /** Share of what comes to a queue that will come once full links and ports in front of it have held it back. */
  private relief(queue: number): number {
    const { scene } = this;
    const { held, pairRate } = this.state;
    const { threshold } = this.buffers;
    let comes = 0;
    let will = 0;
    for (let pair = scene.firstPairInto[queue]; pair >= 0; pair = scene.pairNextInto[pair]) {
      const from = scene.pairFrom[pair];
      const rate = pairRate[pair];
      comes += rate;
      will += rate / max(1, held[from] / threshold[from], this.state.load[from] / this.state.room[from]);
    }
    return comes > 0 ? will / comes : 1;
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
      min(this.pace.mostGain, turned ? min(1, this.gain[queue]) * GAIN_TURNED : this.gain[queue] * GAIN_KEPT),
    );
    this.lastSign[queue] = sign;
    const step = within(within(asked) ** this.gain[queue]);
    const bytes = this.state.delay[queue] * capacity;
    if (asked > OPENS && this.state.mark[queue] === 0 && bytes < this.firstBytes(queue) / MOST_STEP) {
      this.setBytes(queue, this.firstBytes(queue), capacity);
      return;
    }
    const next = bytes * step;
    const marking = this.curve === null ? undefined : this.buffers.marking[queue];
    const mark = this.state.mark[queue];
    if (marking !== undefined && (mark > 0 ? mark * step >= this.leastMark : next > marking.kminBytes)) {
      // On a steep slope few bytes are many marks: of the two moves the shorter one is safe. Too few marks to hold
      // anyone are where the slope begins.
      const ratio = max(this.leastMark, mark * step);
      const byMarks = queueOfMarkRatio(marking, ratio);
      if (ratio < 1 && byMarks < this.buffers.limit[queue] && abs(byMarks - bytes) <= abs(next - bytes)) {
        this.state.delay[queue] = byMarks / capacity;
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
    const wanted = this.state.excessShare(queue, capacity);
    const full = this.state.delay[queue] * capacity >= limit * (1 - NEAR);
    if (!full || wanted === 0) {
      this.state.drop[queue] *= 1 - DROP_DAMPING;
      if (this.state.drop[queue] < 1e-12) this.state.drop[queue] = 0;
      return false;
    }
    this.repeats.some = true;
    this.state.worst = max(this.state.worst, abs(wanted - this.state.drop[queue]));
    this.state.drop[queue] += DROP_DAMPING * (wanted - this.state.drop[queue]);
    this.setBytes(queue, limit, capacity);
    return true;
  }

  private setMark(queue: number, ratio: number): void {
    this.state.mark[queue] = ratio;
    this.state.hazard[queue] = ratio > 0 ? hazardOf(ratio) : 0;
  }
}
