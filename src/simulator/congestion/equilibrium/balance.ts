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
 * changes; NICs move by Newton steps on the flows that they limit. A search that runs out of sweeps or rounds, or gets
 * nowhere (pace.ts), goes back to where it was nearest to its end and says how far from it that is (`residual`).
 */
import type { Effort } from '../../effort.js';
import { BalanceState, NEAR } from './balance-state.js';
import { AT_REST, NEARLY, type Binding } from './binding.js';
import type { Buffers } from './buffers.js';
import type { EquilibriumFlow, EquilibriumNetwork } from './model.js';
import { Pace } from './pace.js';
import type { Pauses } from './pauses.js';
import { Queues } from './queues.js';
import type { ReactionCurve } from './reaction-curve.js';
import type { Repeats } from './repeats.js';
import { TIE, type Scene } from './scene.js';
import { Senders } from './senders.js';
import type { Stuck } from './stuck.js';
import type { Swings } from './swings.js';

const { abs, max, min } = Math;

/** Sweeps of the first round and of later ones, which begin near their end. */
const MOST_SWEEPS = 400;
const LATER_SWEEPS = 150;
const MOST_ROUNDS = 8;
/** Rounds that may end without an end of their search. */
const UNSETTLED_ROUNDS = 1;
/** A spill that changes by less, relative to itself, is the same. */
const SAME_SPILL = 0.1;
/** So often it is looked which queues hold anybody. */
const SWEEPS_TO_BIND = 8;

export class Balance extends BalanceState {
  sweeps = 0;
  /** Largest relative error of a condition at the end of the last search; 0 where it converged. */
  residual = 0;
  /** A queue outgrew its switch while no port paused anyone: no balance without pauses. */
  outgrown = false;
  private readonly senders: Senders;
  private readonly queues: Queues;
  private readonly pace: Pace;
  /** What a search moves, as it was before the last sweep and where it was nearest to its end. */
  private before: Float64Array[] = [];
  private nearest: Float64Array[] = [];
  /** Largest change of a share that headrooms lose which was found last. */
  private spillChange = 0;

  constructor(
    network: EquilibriumNetwork,
    scene: Scene,
    private readonly buffers: Buffers,
    private readonly stuck: Stuck,
    readonly repeats: Repeats,
    readonly binding: Binding,
    readonly swings: Swings,
    readonly pauses: Pauses,
    curve: ReactionCurve | null,
    private readonly effort: Effort,
  ) {
    super(network, scene);
    this.pace = new Pace(curve !== null);
    this.senders = new Senders(this, scene, buffers, stuck, repeats, curve);
    this.queues = new Queues(this, network, scene, buffers, repeats, binding, curve, this.pace);
  }

  /** Searches from empty queues; rates fit all links in the end. */
  run(flows: readonly EquilibriumFlow[]): void {
    this.beginState();
    this.repeats.begin();
    this.queues.begin();
    this.swings.begin();
    this.binding.begin();
    this.sweeps = 0;
    this.residual = 0;
    this.spillChange = 0;
    this.outgrown = false;
    let unsettled = 0;
    for (let round = 0; round < MOST_ROUNDS; round++) {
      this.settle(flows, round === 0 ? MOST_SWEEPS : LATER_SWEEPS);
      this.binding.find(this, AT_REST);
      this.residual = this.worst < NEAR ? 0 : this.worst;
      if (this.outgrown) break;
      if (this.residual > 0) unsettled++;
      if (round === MOST_ROUNDS - 1 || unsettled > UNSETTLED_ROUNDS) {
        this.residual = max(this.residual, this.swings.change, this.spillChange);
        break;
      }
      const emptied = this.emptyIdle();
      const swung = !emptied && this.swings.find(this);
      const spilled = this.findSpills();
      if (!emptied && !swung && !spilled) break;
    }
    this.fit();
  }

  private settle(flows: readonly EquilibriumFlow[], most: number): void {
    const { pace } = this;
    pace.begin();
    for (let sweep = 1; sweep <= most; sweep++) {
      if (pace.isLong) this.copyMoved(this.before, false);
      this.sweep(flows, sweep);
      if (this.worst < NEAR) return;
      const goesOn = pace.goesOn(this.worst);
      if (pace.isNearest) [this.before, this.nearest] = [this.nearest, this.before];
      this.outgrown = pace.isLong && this.outgrows();
      if (this.outgrown) return;
      if (!goesOn) break;
    }
    this.copyMoved(this.nearest, true);
    this.sweep(flows, 1);
  }

  private sweep(flows: readonly EquilibriumFlow[], sweep: number): void {
    const full = this.lack < NEAR && sweep > SWEEPS_TO_BIND ? AT_REST : NEARLY;
    this.worst = 0;
    this.lack = 0;
    this.effort.work();
    this.senders.chooseRates(flows);
    this.senders.spend(true);
    if (sweep % SWEEPS_TO_BIND === 0) this.binding.find(this, full);
    this.move();
    this.sweeps++;
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
        this.senders.moveNic(queue);
        continue;
      }
      const before = this.delay[queue];
      this.queues.moveQueue(queue);
      const more = this.delay[queue] - before;
      for (let pair = scene.firstPairInto[queue]; more !== 0 && pair >= 0; pair = scene.pairNextInto[pair]) {
        held[scene.pairFrom[pair]] += this.pairRate[pair] * more;
        this.limitedHeld[scene.pairFrom[pair]] += this.pairLimited[pair] * more;
      }
    }
    this.buffers.follow(held);
  }

  /** Whether a lossless queue is longer than all its switch shares, which only pauses would prevent. */
  private outgrows(): boolean {
    const { scene, buffers } = this;
    if (buffers.pausing) return false;
    for (let queue = 0; queue < scene.queueCount; queue++) {
      if (scene.fromSwitch[queue] === 0 || buffers.limit[queue] < Infinity) continue;
      const device = this.network.fromDevice[scene.queueDirection[queue]];
      if (this.delay[queue] * this.room[queue] > buffers.sharedOf(device)) return true;
    }
    return false;
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

  /** What headrooms can't take when they pause is lost; true when that has changed. */
  private findSpills(): boolean {
    const { scene, pauses, spill } = this;
    let changed = false;
    this.spillChange = 0;
    for (let queue = 0; queue < scene.queueCount; queue++) {
      const lost = pauses.read(queue, this) ? pauses.rhythm.lossRatio : 0;
      if (abs(lost - spill[queue]) <= SAME_SPILL * max(lost, spill[queue])) continue;
      this.spillChange = max(this.spillChange, abs(lost - spill[queue]));
      // Loss relieves the port that it comes from, so only part of the way.
      spill[queue] += (lost - spill[queue]) / 2;
      changed = true;
    }
    if (changed) this.repeats.some = true;
    return changed;
  }

  /** Empties queues that hold nobody; true when there was one. */
  private emptyIdle(): boolean {
    let some = false;
    for (let queue = 0; queue < this.scene.queueCount; queue++) {
      if (this.delay[queue] === 0 || this.binding.binds[queue] === 1) continue;
      if (this.load[queue] > this.shareOf(queue) * this.usable[queue] * TIE) continue;
      this.queues.setBytes(queue, 0, 1);
      some = true;
    }
    return some;
  }

  /** Takes from every flow what the search left over on its fullest link, so that none carries more than it can. */
  private fit(): void {
    const { scene, load, repeats } = this;
    const repeating = repeats.some;
    repeats.some = false;
    this.fitTo(true);
    repeats.some = repeating;
    if (repeating) this.fitTo(false);
    for (let pass = 0; pass < 2; pass++) {
      this.senders.spend(false);
      for (let queue = 0; queue < scene.queueCount; queue++) {
        if (this.buffers.limit[queue] < Infinity && load[queue] > 0)
          this.drop[queue] = this.excessShare(queue, this.shareOf(queue));
      }
    }
    for (let at = 0; at < scene.orderCount; at++) this.hold(scene.order[at]);
  }

  /** @param lossy also where a queue drops: useful bytes must get through, repeats need not */
  private fitTo(lossy: boolean): void {
    const { scene, load, rate } = this;
    this.senders.spend(false);
    for (let at = 0; at < scene.activeCount; at++) {
      const flow = scene.activeFlows[at];
      let factor = 1;
      for (let entry = scene.entryStart[flow]; entry < scene.entryStart[flow + 1]; entry++) {
        const queue = scene.entryQueue[entry];
        if ((!lossy && this.buffers.limit[queue] < Infinity) || load[queue] === 0) continue;
        factor = min(factor, (this.shareOf(queue) * this.usable[queue]) / load[queue]);
      }
      rate[flow] *= factor;
    }
  }
}
