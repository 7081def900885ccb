/**
 * Which queues of a balance bind someone, and so really stand: by their marks, or by a full port in front of them.
 *
 * Where a link is exactly as fast as its senders' NICs, or a flow is held elsewhere as well, a search can end with bytes
 * in a queue that holds nobody. Nothing keeps such bytes there: the queue empties. For queues that bind by their marks
 * it is also counted how much of their load they bind, and how fast its fastest QP is: their ratio is the N of DCQCN.
 */
import type { BalanceState } from './balance-state.js';
import type { Buffers } from './buffers.js';
import type { ReactionCurve } from './reaction-curve.js';
import { roomBytes, roomFloat64 } from './room.js';
import type { Scene } from './scene.js';

/** At rest a port is full from this share of its threshold on, and a path held by marks that allow it hardly more. */
export const AT_REST = 0.98;
/** While the search moves, what is not even near to that holds nobody. */
export const NEARLY = 0.6;
const MOST_REVIVALS = 2;

export class Binding {
  /** By queue: 1 where it binds someone. */
  binds = new Uint8Array(64);
  /** By queue: bytes/ns of the paths it binds by marks, and the fastest of them. */
  markedLoad = new Float64Array(64);
  markedMost = new Float64Array(64);

  /** By queue: how often it was taken for one that holds nobody, and then was asked too much. */
  private revivals = new Uint8Array(64);

  constructor(
    private readonly scene: Scene,
    private readonly buffers: Buffers,
    private readonly curve: ReactionCurve | null,
  ) {}

  /** Nothing is known yet, so all may bind. */
  begin(): void {
    const { queueCount } = this.scene;
    this.binds = roomBytes(this.binds, queueCount);
    this.markedLoad = roomFloat64(this.markedLoad, queueCount);
    this.markedMost = roomFloat64(this.markedMost, queueCount);
    this.binds.fill(1, 0, queueCount);
    this.revivals = roomBytes(this.revivals, queueCount);
    this.revivals.fill(0, 0, queueCount);
  }

  /** A queue is asked too much: it binds, and after a few such mistakes is left to find its size by itself. */
  revive(queue: number): void {
    if (this.binds[queue] === 1) return;
    this.binds[queue] = 1;
    this.revivals[queue]++;
  }

  /** @param full share of what holds somebody that counts as holding him */
  find(balance: BalanceState, full: number): void {
    const { scene } = this;
    this.binds.fill(0, 0, scene.queueCount);
    this.markedLoad.fill(0, 0, scene.queueCount);
    this.markedMost.fill(0, 0, scene.queueCount);
    for (let queue = 0; full === NEARLY && queue < scene.queueCount; queue++) {
      if (this.revivals[queue] > MOST_REVIVALS) this.binds[queue] = 1;
    }
    for (let queue = 0; queue < scene.queueCount; queue++) this.findByPort(queue, balance, full);
    if (this.curve === null) return;
    for (let at = 0; at < scene.activeCount; at++) this.findByMarks(scene.activeFlows[at], balance, full);
  }

  /** A full port that holds its sender is full by the queues it feeds; a queue that drops binds by that. */
  private findByPort(queue: number, balance: BalanceState, full: number): void {
    const { scene, buffers, binds } = this;
    if (balance.drop[queue] > 0) binds[queue] = 1;
    if (balance.held[queue] < full * buffers.threshold[queue]) return;
    for (let pair = scene.firstPair[queue]; pair >= 0; pair = scene.pairNext[pair]) {
      if (balance.pairRate[pair] > 0) binds[scene.pairTo[pair]] = 1;
    }
  }

  private findByMarks(flow: number, balance: BalanceState, full: number): void {
    const { scene, curve, binds } = this;
    const { hopStart, hopQueue } = scene;
    const limit = balance.rate[flow] / full;
    for (let path = scene.pathStart[flow]; path < scene.pathStart[flow + 1]; path++) {
      let hazard = 0;
      for (let hop = hopStart[path]; hop < hopStart[path + 1]; hop++) hazard += balance.hazard[hopQueue[hop]];
      const bytes = scene.pathWeight[path] * balance.rate[flow];
      if (hazard === 0 || curve!.rateAt(hazard) > limit * scene.pathWeight[path]) continue;
      for (let hop = hopStart[path]; hop < hopStart[path + 1]; hop++) {
        const queue = hopQueue[hop];
        if (balance.hazard[queue] === 0) continue;
        binds[queue] = 1;
        this.markedLoad[queue] += scene.pathCopies[path] * bytes;
        if (bytes > this.markedMost[queue]) this.markedMost[queue] = bytes;
      }
    }
  }
}
