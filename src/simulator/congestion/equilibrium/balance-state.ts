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

/** Share of a link that a class has behind strict ones that fill it: a search needs more than nothing. */
const STARVED = 1e-3;

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

  /**
   * bytes/ns that a queue has of its link: all that strict classes before it leave, or of what all of those leave, by its
   * weight, a part of what classes without a backlog leave those with one.
   */
  shareOf(queue: number): number {
    const { scene, network } = this;
    const own = scene.capacity[queue];
    if (network.classes === 1) return own;
    const direction = scene.queueDirection[queue];
    const classIndex = scene.queueClass[queue];
    const link = scene.link[queue];
    const strict = network.strict?.[classIndex] === 1;
    const weight = network.weights?.[classIndex] ?? 1;
    let room = link;
    let weights = weight;
    let backlogged = weight;
    let others = 0;
    for (let other = 0; other < network.classes; other++) {
      const sibling = scene.queueAt(direction, other);
      if (sibling < 0 || sibling === queue || this.load[sibling] === 0) continue;
      if (network.strict?.[other] === 1) {
        if (!strict || other > classIndex) room -= this.load[sibling];
        continue;
      }
      if (strict) continue;
      const weightOfOther = network.weights?.[other] ?? 1;
      weights += weightOfOther;
      if (this.delay[sibling] > 0 || this.limitedLoad[sibling] > 0) backlogged += weightOfOther;
      else others += this.load[sibling];
    }
    room = Math.max(room, link * STARVED);
    if (strict) return Math.min(own, room);
    return Math.min(own, Math.max((room * weight) / weights, ((room - others) * weight) / backlogged));
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

  /** What a search moves from sweep to sweep, into a copy or back from it. */
  protected copyMoved(copy: Float64Array[], back: boolean): void {
    const { queueCount } = this.scene;
    MOVED.forEach((name, at) => {
      copy[at] = roomFloat64(copy[at] ?? this[name].slice(), queueCount);
      const [from, to] = back ? [copy[at], this[name]] : [this[name], copy[at]];
      for (let queue = 0; queue < queueCount; queue++) to[queue] = from[queue];
    });
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
const MOVED = ['delay', 'mark', 'hazard', 'drop', 'phi'] as const;
const BY_QUEUE = [...FROM_ZERO, 'usable', 'room', 'mostRate', 'limitedHeld'] as const;
