/**
 * Which queues can bind anybody in the steady state of lossless switches; the others are left out of the search.
 *
 * A coupled ring over hundreds of hosts crosses a thousand queues and is held by one or two. Where nothing is dropped no
 * queue carries more than its capacity, so each bounds its flows; a queue that those bounds can not fill is idle, and
 * so is one whose flows load another one more, relative to its capacity. What is left, and all queues in front of it on
 * some path, since their far ports may fill and pause, is the whole problem. Of NICs one of those that mean the same
 * is enough. Where packets may be dropped repeats load queues beyond all bounds, and every queue counts.
 */
import type { Census } from './census.js';
import type { EquilibriumFlow, EquilibriumNetwork } from './model.js';
import { roomBytes, roomFloat64, roomInt32 } from './room.js';

const { min } = Math;

/** What is less full than another by this share never has a queue beside it; more than the tolerance of TIE. */
const LESS = 1 - 1e-3;
const ROUNDING = 1e-9;

export class Relevance {
  /** By queue of the census: 1 where it takes part. */
  kept = new Uint8Array(64);
  /** By queue of the census, and one more: its flows in ascending order, and their coefficients over its capacity. */
  private columnStart = new Int32Array(65);
  private columnFlow = new Int32Array(256);
  private columnShare = new Float64Array(256);
  private bound = new Float64Array(64);
  private load = new Float64Array(64);
  private order = new Int32Array(64);
  /** By flow: the last column entry of a kept queue, and by column entry the one before. */
  private lastOf = new Int32Array(64);
  private before = new Int32Array(256);
  private queueOfEntry = new Int32Array(256);

  constructor(
    private readonly network: EquilibriumNetwork,
    private readonly census: Census,
  ) {}

  find(flows: readonly EquilibriumFlow[]): void {
    const { census } = this;
    this.kept = roomBytes(this.kept, census.queueCount);
    if (this.mayDrop()) {
      this.kept.fill(1, 0, census.queueCount);
      return;
    }
    this.kept.fill(0, 0, census.queueCount);
    this.fillColumns();
    this.findBounds();
    this.keep(0);
    this.keep(1);
    while (this.keepBefore(flows));
  }

  /** Some switch on the way drops, or has too little headroom for what is under way when it pauses. */
  private mayDrop(): boolean {
    const { census, network } = this;
    const { capacity, delayNs, fromDevice, isSwitch, packetBytes, toDevice } = network;
    for (let queue = 0; queue < census.queueCount; queue++) {
      const direction = census.queueDirection[queue];
      const classIndex = census.queueClass[queue];
      if (census.fromSwitch[queue] === 1 && !network.switchClass(fromDevice[direction], classIndex).pfc) {
        return true;
      }
      if (isSwitch[toDevice[direction]] === 0) continue;
      const { pfc, headroomBytes } = network.switchClass(toDevice[direction], classIndex);
      const underWay = 2 * (capacity[direction] * delayNs[direction] + packetBytes);
      if (!pfc || headroomBytes < underWay * (1 - ROUNDING)) return true;
    }
    return false;
  }

  private fillColumns(): void {
    const { census } = this;
    const { entryQueue, entryStart, flowCount, queueCount } = census;
    const entries = entryStart[flowCount];
    this.columnStart = roomInt32(this.columnStart, queueCount + 1);
    this.columnFlow = roomInt32(this.columnFlow, entries);
    this.columnShare = roomFloat64(this.columnShare, entries);
    this.before = roomInt32(this.before, entries);
    this.queueOfEntry = roomInt32(this.queueOfEntry, entries);
    this.order = roomInt32(this.order, queueCount + 1);
    const { columnStart, order } = this;
    columnStart.fill(0, 0, queueCount + 1);
    for (let entry = 0; entry < entries; entry++) columnStart[entryQueue[entry] + 1]++;
    for (let queue = 0; queue < queueCount; queue++) {
      columnStart[queue + 1] += columnStart[queue];
      order[queue] = columnStart[queue];
    }
    for (let flow = 0; flow < flowCount; flow++) {
      for (let entry = entryStart[flow]; entry < entryStart[flow + 1]; entry++) {
        const queue = entryQueue[entry];
        const place = order[queue]++;
        this.columnFlow[place] = flow;
        this.columnShare[place] = census.entryCoefficient[entry] / census.capacity[queue];
        this.queueOfEntry[place] = queue;
      }
    }
  }

  /** Most that each flow can have: what hosts would allow it alone, and each of its queues if no other flow were there. */
  private findBounds(): void {
    const { census } = this;
    const { flowCount, queueCount } = census;
    this.bound = roomFloat64(this.bound, flowCount);
    this.lastOf = roomInt32(this.lastOf, flowCount);
    this.load = roomFloat64(this.load, queueCount);
    this.bound.set(census.alone.subarray(0, flowCount));
    this.lastOf.fill(-1, 0, flowCount);
    for (let place = 0; place < census.entryStart[flowCount]; place++) {
      const flow = this.columnFlow[place];
      this.bound[flow] = min(this.bound[flow], 1 / this.columnShare[place]);
    }
    census.loads(census.alone, this.load);
  }

  /** Keeps those NICs, or those queues of switches, that could be the fullest of their flows. */
  private keep(fromSwitch: number): void {
    const { census, kept, order } = this;
    let count = 0;
    for (let queue = 0; queue < census.queueCount; queue++) {
      if (census.fromSwitch[queue] !== fromSwitch) continue;
      if (fromSwitch === 0 || this.mayFill(queue)) order[count++] = queue;
    }
    const fullness = (queue: number): number => census.wishLoad[queue] / census.capacity[queue];
    const sorted = order.subarray(0, count).sort((one, other) => {
      const more = fullness(other) - fullness(one);
      return more > 0 || more < 0 ? more : one - other;
    });
    if (fromSwitch === 1) this.lastOf.fill(-1, 0, census.flowCount);
    for (let at = 0; at < count; at++) {
      const queue = sorted[at];
      if (!this.shared(queue) && this.isCovered(queue, fromSwitch === 1)) continue;
      kept[queue] = 1;
      for (let place = this.columnStart[queue]; place < this.columnStart[queue + 1]; place++) {
        this.before[place] = this.lastOf[this.columnFlow[place]];
        this.lastOf[this.columnFlow[place]] = place;
      }
    }
  }

  /** What hosts would send is too much for it, and so is the most that its flows can have elsewhere. */
  private mayFill(queue: number): boolean {
    const { census } = this;
    if (!census.exceeds(queue, this.load)) return false;
    if (this.shared(queue)) return true;
    let full = 0;
    for (let place = this.columnStart[queue]; place < this.columnStart[queue + 1]; place++) {
      full += this.columnShare[place] * this.bound[this.columnFlow[place]];
    }
    // Of a receiver that takes nothing the product is no number.
    return !(full < LESS);
  }

  /** Other classes use the link as well: how much of it is left depends on them. */
  private shared(queue: number): boolean {
    const { census, network } = this;
    for (let other = 0; network.classes > 1 && other < network.classes; other++) {
      if (other === census.queueClass[queue]) continue;
      if (census.queueAt(census.queueDirection[queue], other) >= 0) return true;
    }
    return false;
  }

  /** Each of its flows loads one that is kept as much or more. @param strictly and together they load that one more */
  private isCovered(queue: number, strictly: boolean): boolean {
    const first = this.columnFlow[this.columnStart[queue]];
    for (let place = this.lastOf[first]; place >= 0; place = this.before[place]) {
      if (this.covers(this.queueOfEntry[place], queue, strictly)) return true;
    }
    return false;
  }

  private covers(one: number, other: number, strictly: boolean): boolean {
    const { census, columnFlow, columnShare, columnStart } = this;
    if (census.capacity[other] === 0) return false;
    let place = columnStart[one];
    const end = columnStart[one + 1];
    for (let at = columnStart[other]; at < columnStart[other + 1]; at++) {
      while (place < end && columnFlow[place] < columnFlow[at]) place++;
      if (place === end || columnFlow[place] !== columnFlow[at]) return false;
      if (columnShare[at] > columnShare[place] * (1 + ROUNDING)) return false;
    }
    if (!strictly || census.capacity[one] === 0) return true;
    const fullness = census.wishLoad[one] / census.capacity[one];
    return census.wishLoad[other] / census.capacity[other] < LESS * fullness;
  }

  /** Keeps what comes before a kept queue of a switch on some path; true when that were more. */
  private keepBefore(flows: readonly EquilibriumFlow[]): boolean {
    const { census, kept } = this;
    let grew = false;
    for (let flow = 0; flow < census.flowCount; flow++) {
      const { paths, classIndex } = flows[flow];
      for (let path = 0; path < paths.count; path++) {
        let needed = false;
        for (let at = paths.starts[path + 1] - 1; at >= paths.starts[path]; at--) {
          const queue = census.queueAt(paths.links[at], classIndex);
          if (needed && kept[queue] === 0) {
            kept[queue] = 1;
            grew = true;
          }
          needed ||= kept[queue] === 1;
        }
      }
    }
    return grew;
  }
}
