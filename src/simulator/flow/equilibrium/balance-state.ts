/**
 * What a search for the balance knows of flows, queues and pairs of queues; see balance.ts for what it means.
 */
import type { EquilibriumNetwork } from './model.js';
import { roomFloat64, roomInt32 } from './room.js';
import type { Scene } from './scene.js';

/** Relative error of conditions at which a search ends. */
export const NEAR = 1e-4;
/** Most that a queue may grow or shrink by in one sweep, or a NIC's rate. */
export const MOST_STEP = 2;

export class BalanceState {
  /** By flow: useful bytes/ns. */
  rate = new Float64Array(64);
  /** By flow: the NIC that limits it, or -1. */
  limiter = new Int32Array(64);
  /** By queue: arriving bytes/ns, queueing delay in ns, probability of a mark and its hazard, share that is dropped. */
  load = new Float64Array(64);
  /** By queue: the part of the load that waits there and can be dropped; the rest are ACKs. */
  data = new Float64Array(64);
  delay = new Float64Array(64);
  mark = new Float64Array(64);
  hazard = new Float64Array(64);
  drop = new Float64Array(64);
  /** By queue: bytes that the port at its far end holds. */
  held = new Float64Array(64);
  /** By queue: share of what it sends that finds no room at its far end, where a headroom is too small. */
  spill = new Float64Array(64);
  /** By queue: share of its capacity that can be used, less than 1 where DCQCN lets the queue run dry. */
  usable = new Float64Array(64);
  /** By queue: bytes/ns that it has in this sweep. */
  room = new Float64Array(64);
  /** By NIC: rate that it leaves every flow, the fastest flow, and what flows that it limits send and hold. */
  phi = new Float64Array(64);
  mostRate = new Float64Array(64);
  limitedLoad = new Float64Array(64);
  limitedHeld = new Float64Array(64);
  /** By pair of queues: bytes/ns from one to the other, of all flows and of those that the first one limits. */
  pairRate = new Float64Array(256);
  pairLimited = new Float64Array(256);
  /** Largest relative error of a condition in this sweep. */
  worst = 0;
  /** Largest lack of capacity or room relative to it: with none left only queues that are too long keep a search going. */
  lack = 0;

  constructor(
    protected readonly network: EquilibriumNetwork,
    protected readonly scene: Scene,
  ) {}

  /** bytes/ns that a queue has of its link: an equal part of what classes without a backlog leave those with one. */
  shareOf(queue: number): number {
    const { scene, network } = this;
    const own = scene.capacity[queue];
    if (network.classes === 1) return own;
    const direction = scene.queueDirection[queue];
    const link = scene.link[queue];
    let classes = 1;
    let backlogged = 1;
    let others = 0;
    for (let other = 0; other < network.classes; other++) {
      const sibling = scene.queueAt(direction, other);
      if (sibling < 0 || sibling === queue || this.load[sibling] === 0) continue;
      classes++;
      if (this.delay[sibling] > 0 || this.limitedLoad[sibling] > 0) backlogged++;
      else others += this.load[sibling];
    }
    return Math.min(own, Math.max(link / classes, (link - others) / backlogged));
  }

  /** bytes/ns that leave a queue: what it drops is data, never ACKs. */
  carried(queue: number): number {
    return this.load[queue] - this.drop[queue] * this.data[queue];
  }

  /** Share of its data that a lossy queue must drop to fit a capacity. */
  excessShare(queue: number, capacity: number): number {
    const data = this.data[queue];
    return data > 0 ? Math.min(1, Math.max(0, this.load[queue] - capacity) / data) : 0;
  }

  /** Empty queues; NICs at what flows wish. */
  protected beginState(): void {
    const { scene } = this;
    this.growState(scene.flowCount, scene.queueCount);
    for (const name of FROM_ZERO) this[name].fill(0, 0, scene.queueCount);
    this.usable.fill(1, 0, scene.queueCount);
    for (let at = 0; at < scene.activeCount; at++) {
      const flow = scene.activeFlows[at];
      for (let place = scene.sourceStart[flow]; place < scene.sourceStart[flow + 1]; place++) {
        const nic = scene.sourceQueue[place];
        this.phi[nic] = Math.max(this.phi[nic], scene.wish[flow]);
      }
    }
  }

  private growState(flows: number, queues: number): void {
    this.rate = roomFloat64(this.rate, flows);
    this.limiter = roomInt32(this.limiter, flows);
    for (const name of BY_QUEUE) this[name] = roomFloat64(this[name], queues);
    this.pairRate = roomFloat64(this.pairRate, this.scene.pairCount);
    this.pairLimited = roomFloat64(this.pairLimited, this.scene.pairCount);
  }
}

const FROM_ZERO = [
  'load',
  'data',
  'delay',
  'mark',
  'hazard',
  'drop',
  'held',
  'spill',
  'phi',
  'limitedLoad',
] as const;
const BY_QUEUE = [...FROM_ZERO, 'usable', 'room', 'mostRate', 'limitedHeld'] as const;
