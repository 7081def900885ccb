/**
 * The rhythm of a pause: how often a port stops its sender, and what its headroom must take.
 *
 * A port that lets λ bytes/ns pass of a sender that could do S pauses at its threshold and resumes an offset below it.
 * Each signal takes a link's delay and one packet to be heard, and what is under way still comes, or does not yet: two
 * of those times. So the bytes it holds swing by A = offset + 2·S·d, up at S - λ, down at λ, and a period is
 * A·S / (λ·(S - λ)). Over the threshold come (S - λ)·2d and at worst, from a sender that was at full rate,
 * 2·S·d + packet; what exceeds the headroom is lost at every pause. Not modelled: several ports in step.
 */
import type { BalanceState } from './balance-state.js';
import type { Buffers } from './buffers.js';
import type { EquilibriumNetwork } from './model.js';
import type { Scene } from './scene.js';

/** A port is full from this share of its threshold on: searches end near it, not on it. */
const FULL = 0.98;

export interface PauseRhythm {
  /** Share of the time that the sender is held, 0..1. */
  heldShare: number;
  /** Pauses begun per ns. */
  pausesPerNs: number;
  /** Bytes held at most beyond the threshold. */
  overshootBytes: number;
  /** Share of what arrives that finds no headroom, 0..1. */
  lossRatio: number;
}

/**
 * @param senderRate bytes/ns between pauses
 * @param passRate bytes/ns on average, less than `senderRate`
 * @param signalNs from a decision to what the sender does next, arriving: one link delay and a packet each way
 * @param into receives the result, so that nothing is allocated
 */
export function pauseRhythm(
  senderRate: number,
  passRate: number,
  signalNs: number,
  resumeOffsetBytes: number,
  headroomBytes: number,
  into: PauseRhythm,
): void {
  into.heldShare = senderRate > 0 ? Math.max(0, 1 - passRate / senderRate) : 1;
  const underWay = senderRate * 2 * signalNs;
  const spare = Math.max(0, senderRate - passRate);
  const swing = resumeOffsetBytes + underWay;
  into.overshootBytes = Math.min(headroomBytes, spare * 2 * signalNs);
  if (spare <= senderRate * 1e-6 || passRate <= 0) {
    into.pausesPerNs = 0;
    into.lossRatio = 0;
    return;
  }
  into.pausesPerNs = (passRate * spare) / (swing * senderRate);
  into.lossRatio = Math.min(1, (into.pausesPerNs * Math.max(0, underWay - headroomBytes)) / passRate);
}

/** Reads from a balance which directions are held by pauses from their far end, and how. */
export class Pauses {
  readonly rhythm: PauseRhythm = { heldShare: 0, pausesPerNs: 0, overshootBytes: 0, lossRatio: 0 };

  constructor(
    private readonly network: EquilibriumNetwork,
    private readonly scene: Scene,
    private readonly buffers: Buffers,
  ) {}

  /** Fills `rhythm` for a queue; false where no pause holds it. */
  read(queue: number, balance: BalanceState): boolean {
    const { scene, network, buffers, rhythm } = this;
    if (!this.holds(queue, balance)) return false;
    const direction = scene.queueDirection[queue];
    const link = network.capacity[direction];
    const passes = balance.carried(queue);
    // A switch that is held has more to send than the link takes; a NIC what its flows would send.
    const wants = scene.fromSwitch[queue] === 1 ? link : Math.min(link, scene.wishLoad[queue]);
    const senderRate = Math.max(passes, wants - this.othersOn(queue, balance));
    const signalNs = network.delayNs[direction] + network.packetBytes / link;
    const headroom = buffers.pauses[queue] === 1 ? buffers.headroom[queue] : Infinity;
    pauseRhythm(senderRate, passes, signalNs, buffers.resumeOffset[queue], headroom, rhythm);
    return true;
  }

  /** The port at the far end is full, or the receiver there slow. */
  private holds(queue: number, balance: BalanceState): boolean {
    const { scene, buffers } = this;
    const link = this.network.capacity[scene.queueDirection[queue]];
    const isSlow = scene.capacity[queue] < link || scene.link[queue] < link;
    if (isSlow && balance.delay[queue] > 0) return buffers.limit[queue] === Infinity;
    return (
      buffers.pauses[queue] === 1 &&
      balance.held[queue] >= FULL * buffers.threshold[queue] &&
      (scene.fromSwitch[queue] === 0 || balance.delay[queue] > 0)
    );
  }

  private othersOn(queue: number, balance: BalanceState): number {
    const { scene, network } = this;
    let others = 0;
    for (let other = 0; network.classes > 1 && other < network.classes; other++) {
      const sibling = scene.queueAt(scene.queueDirection[queue], other);
      if (sibling >= 0 && sibling !== queue) others += balance.carried(sibling);
    }
    return others;
  }
}
