/**
 * All queues that the flows of one solve cross, what hosts alone would let flows send, and where that is too much.
 *
 * A queue is a link direction in one class; queues are numbered anew in each solve, so that its cost follows what the
 * flows touch and not what exists. The wish of a flow is its max-min rate over the sending NICs' own directions. A queue
 * that wishes overfill, or whose receiver holds it, is contended.
 */
import { MaxMin } from '../../rates/maxmin.js';
import type { EquilibriumFlow, EquilibriumNetwork } from './model.js';
import { QueueColumns } from './queue-columns.js';
import { roomFloat64, roomInt32 } from './room.js';

/** Beyond a capacity by less than this a link is full, not contended: a tie with a NIC is no queue. */
export const TIE = 1 + 5e-4;
/** Rounding of a sum, relative to it. */
const ROUNDING = 1e-12;

export class Census extends QueueColumns {
  flowCount = 0;
  /** By flow: bytes/ns that hosts allow, and what they would if no other flow were there. */
  wish = new Float64Array(64);
  alone = new Float64Array(64);
  /** By flow, and one more: its places in the entries. */
  entryStart = new Int32Array(65);
  entryQueue = new Int32Array(256);
  entryCoefficient = new Float64Array(256);
  private readonly localOf: Int32Array;
  private readonly hosts: MaxMin;
  private hostLinks = new Int32Array(64);
  private hostCoefficients = new Float64Array(64);
  private variables = new Int32Array(64);

  constructor(private readonly network: EquilibriumNetwork) {
    super();
    const { directions, classes, capacity } = network;
    this.localOf = new Int32Array(directions * classes).fill(-1);
    this.hosts = new MaxMin(capacity);
  }

  /** Takes the flows in; true when something is contended. */
  load(flows: readonly EquilibriumFlow[]): boolean {
    this.clear();
    this.flowCount = flows.length;
    this.growFlows(flows.length);
    let place = 0;
    for (let flow = 0; flow < flows.length; flow++) {
      const { links, coefficients, count, classIndex, potential } = flows[flow];
      this.entryStart[flow] = place;
      this.entryQueue = roomInt32(this.entryQueue, place + count);
      this.entryCoefficient = roomFloat64(this.entryCoefficient, place + count);
      let alone = potential;
      for (let entry = 0; entry < count && links[entry] < this.network.directions; entry++) {
        const queue = this.queueOf(links[entry], classIndex);
        const coefficient = coefficients[entry];
        this.entryQueue[place] = queue;
        this.entryCoefficient[place++] = coefficient;
        if (this.fromSwitch[queue] === 0) alone = Math.min(alone, this.capacityOf(queue) / coefficient);
      }
      this.alone[flow] = alone;
    }
    this.entryStart[flows.length] = place;
    this.makeWishes(flows);
    return this.findContended();
  }

  /** The queue of a direction in a class, -1 where no flow uses it. */
  queueAt(direction: number, classIndex: number): number {
    return this.localOf[classIndex * this.network.directions + direction];
  }

  /** bytes/ns that a load by flow puts on each queue. */
  loads(rate: Float64Array, into: Float64Array): void {
    into.fill(0, 0, this.queueCount);
    for (let flow = 0; flow < this.flowCount; flow++) {
      for (let entry = this.entryStart[flow]; entry < this.entryStart[flow + 1]; entry++) {
        into[this.entryQueue[entry]] += this.entryCoefficient[entry] * rate[flow];
      }
    }
  }

  /** Of a queue's link and its receiver, for all classes that cross it: whether loads by queue are too much. */
  exceeds(queue: number, load: Float64Array): boolean {
    const { directions, classes } = this.network;
    if (load[queue] > this.capacity[queue] * TIE) return true;
    let sum = 0;
    for (let other = 0; other < classes; other++) {
      const sibling = this.localOf[other * directions + this.queueDirection[queue]];
      if (sibling >= 0) sum += load[sibling];
    }
    return sum > this.link[queue] * TIE;
  }

  private clear(): void {
    const { directions } = this.network;
    for (let queue = 0; queue < this.queueCount; queue++) {
      this.localOf[this.queueClass[queue] * directions + this.queueDirection[queue]] = -1;
    }
    this.queueCount = 0;
  }

  private makeWishes(flows: readonly EquilibriumFlow[]): void {
    this.wish.set(this.alone.subarray(0, this.flowCount));
    this.loads(this.alone, this.wishLoad);
    if (!this.hostsAreShared()) return;
    const { hosts, fromSwitch } = this;
    for (let queue = 0; queue < this.queueCount; queue++) {
      if (fromSwitch[queue] === 0) hosts.setCapacity(this.queueDirection[queue], this.capacityOf(queue));
    }
    for (let flow = 0; flow < flows.length; flow++)
      this.variables[flow] = this.enter(flow, flows[flow].potential);
    hosts.solve();
    for (let flow = 0; flow < flows.length; flow++) {
      this.wish[flow] = hosts.rate(this.variables[flow]);
      hosts.remove(this.variables[flow]);
    }
    this.loads(this.wish, this.wishLoad);
  }

  /** Some NIC could not send what its flows would if each were alone. */
  private hostsAreShared(): boolean {
    const { fromSwitch, queueDirection, wishLoad } = this;
    const { directions, classes } = this.network;
    for (let queue = 0; queue < this.queueCount; queue++) {
      if (fromSwitch[queue] === 1) continue;
      let load = 0;
      for (let other = 0; other < classes; other++) {
        const sibling = this.localOf[other * directions + queueDirection[queue]];
        if (sibling >= 0) load += wishLoad[sibling];
      }
      if (load > this.capacityOf(queue) * (1 + ROUNDING)) return true;
    }
    return false;
  }

  private enter(flow: number, potential: number): number {
    const { hosts } = this;
    const [start, end] = [this.entryStart[flow], this.entryStart[flow + 1]];
    this.hostLinks = roomInt32(this.hostLinks, end - start);
    this.hostCoefficients = roomFloat64(this.hostCoefficients, end - start);
    let kept = 0;
    for (let entry = start; entry < end; entry++) {
      const queue = this.entryQueue[entry];
      if (this.fromSwitch[queue] === 1) continue;
      this.hostLinks[kept] = this.queueDirection[queue];
      this.hostCoefficients[kept++] = this.entryCoefficient[entry];
    }
    const variable = hosts.add(this.hostLinks, this.hostCoefficients, kept);
    if (potential < Infinity) hosts.setCap(variable, potential);
    return variable;
  }

  private findContended(): boolean {
    let some = false;
    for (let queue = 0; queue < this.queueCount; queue++) {
      this.contended[queue] = Number(this.fromSwitch[queue] === 1 && this.exceeds(queue, this.wishLoad));
      some ||= this.contended[queue] === 1;
    }
    return some;
  }

  private capacityOf(queue: number): number {
    return this.network.capacity[this.queueDirection[queue]];
  }

  private queueOf(direction: number, classIndex: number): number {
    const key = classIndex * this.network.directions + direction;
    const known = this.localOf[key];
    if (known >= 0) return known;
    const queue = this.queueCount++;
    if (queue >= this.queueDirection.length) this.growColumns(queue + 1);
    this.localOf[key] = queue;
    this.queueDirection[queue] = direction;
    this.queueClass[queue] = classIndex;
    this.fromSwitch[queue] = this.network.isSwitch[this.network.fromDevice[direction]];
    const acceptsAll = this.network.acceptsAll?.(direction) ?? Infinity;
    this.link[queue] = Math.min(this.network.capacity[direction], acceptsAll);
    this.capacity[queue] = Math.min(this.link[queue], this.network.accepts(direction, classIndex));
    return queue;
  }

  private growFlows(count: number): void {
    this.wish = roomFloat64(this.wish, count);
    this.alone = roomFloat64(this.alone, count);
    this.variables = roomInt32(this.variables, count);
    this.entryStart = roomInt32(this.entryStart, count + 1);
  }
}
