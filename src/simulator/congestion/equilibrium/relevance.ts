/**
 * Which queues can bind anybody in the steady state of lossless switches; the others are left out of the search.
 *
 * A coupled ring over hundreds of hosts crosses a thousand queues and is held by one or two. Where nothing is dropped no
 * queue carries more than its capacity, so each bounds its flows, and a queue that those bounds can not fill is idle. Of
 * the rest the bottlenecks of max-min rates are tried first, and what turns out full at the rates found joins them
 * (an active-set method). Of NICs one of those that mean the same is enough. While no port comes near its pause
 * threshold that is the whole problem; else all queues in front of one that may fill take part, since their far ports
 * may hold them. Where packets may be dropped repeats load queues beyond all bounds, and every queue counts.
 */
import type { Census } from './census.js';
import type { EquilibriumFlow, EquilibriumNetwork } from './model.js';
import { roomBytes, roomFloat64, roomInt32 } from './room.js';

const { max, min } = Math;

/** What is less full than this may be left out; the rest is more than the tolerance of TIE. */
const LESS = 1 - 1e-3;
const ROUNDING = 1e-9;

export class Relevance {
  /** By queue of the census: 1 where it takes part. */
  kept = new Uint8Array(64);
  /** Queues of switches that may fill, in order of the census. */
  private mayFill = new Int32Array(64);
  private mayFillCount = 0;
  /** By queue of the census, and one more: its flows in ascending order, and their coefficients over its capacity. */
  private columnStart = new Int32Array(65);
  private columnFlow = new Int32Array(256);
  private columnShare = new Float64Array(256);
  private load = new Float64Array(64);
  private next = new Int32Array(65);
  /** By flow: most that it can have, its max-min rate, and the NIC that is kept for it. */
  private bound = new Float64Array(64);
  private fair = new Float64Array(64);
  private nicOf = new Int32Array(64);

  constructor(
    private readonly network: EquilibriumNetwork,
    private readonly census: Census,
  ) {}

  /** Keeps what is tried first; false where packets may be dropped, and then all of it. */
  begin(): boolean {
    const { census } = this;
    this.kept = roomBytes(this.kept, census.queueCount);
    if (this.mayDrop()) {
      this.kept.fill(1, 0, census.queueCount);
      return false;
    }
    this.kept.fill(0, 0, census.queueCount);
    this.fillColumns();
    this.findBounds();
    this.findFilling();
    this.keepNics();
    this.keepBottlenecks();
    return true;
  }

  /** Keeps what is full at these rates, by flow; true when that is more than before. */
  grow(rate: Float64Array): boolean {
    let grew = false;
    for (let at = 0; at < this.mayFillCount; at++) {
      const queue = this.mayFill[at];
      if (this.kept[queue] === 1 || this.fullness(queue, rate) < LESS) continue;
      this.kept[queue] = 1;
      grew = true;
    }
    return grew;
  }

  /** Keeps all in front of what is kept. */
  keepPorts(flows: readonly EquilibriumFlow[]): void {
    while (this.keepBefore(flows));
  }

  /** Keeps all that may fill. */
  keepFilling(): void {
    for (let at = 0; at < this.mayFillCount; at++) this.kept[this.mayFill[at]] = 1;
  }

  /** Marks may hold whatever may fill. */
  get allMark(): boolean {
    const { census, network } = this;
    for (let at = 0; at < this.mayFillCount; at++) {
      const queue = this.mayFill[at];
      const device = network.fromDevice[census.queueDirection[queue]];
      const { marking } = network.switchClass(device, census.queueClass[queue]);
      if (marking === undefined || marking.pmax === 0 || census.capacity[queue] === 0) return false;
    }
    return true;
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
    this.next = roomInt32(this.next, queueCount + 1);
    const { columnStart, next } = this;
    columnStart.fill(0, 0, queueCount + 1);
    for (let entry = 0; entry < entries; entry++) columnStart[entryQueue[entry] + 1]++;
    for (let queue = 0; queue < queueCount; queue++) {
      columnStart[queue + 1] += columnStart[queue];
      next[queue] = columnStart[queue];
    }
    for (let flow = 0; flow < flowCount; flow++) {
      for (let entry = entryStart[flow]; entry < entryStart[flow + 1]; entry++) {
        const queue = entryQueue[entry];
        const place = next[queue]++;
        this.columnFlow[place] = flow;
        this.columnShare[place] = census.entryCoefficient[entry] / census.capacity[queue];
      }
    }
  }

  /** Most that each flow can have: what hosts would allow it alone, and each of its queues if no other flow were there. */
  private findBounds(): void {
    const { census } = this;
    const { flowCount, queueCount } = census;
    this.bound = roomFloat64(this.bound, flowCount);
    this.load = roomFloat64(this.load, queueCount);
    this.bound.set(census.alone.subarray(0, flowCount));
    for (let place = 0; place < census.entryStart[flowCount]; place++) {
      const flow = this.columnFlow[place];
      this.bound[flow] = min(this.bound[flow], 1 / this.columnShare[place]);
    }
    census.loads(census.alone, this.load);
  }

  private findFilling(): void {
    const { census } = this;
    this.mayFill = roomInt32(this.mayFill, census.queueCount);
    this.mayFillCount = 0;
    for (let queue = 0; queue < census.queueCount; queue++) {
      if (census.fromSwitch[queue] === 0 || !census.exceeds(queue, this.load)) continue;
      // Other classes on the link decide how much of it is left, so such a queue is kept whatever it carries.
      const shared = this.shared(queue);
      // Of a receiver that takes nothing the product is no number.
      if (!shared && this.fullness(queue, this.bound) < LESS) continue;
      if (shared || census.capacity[queue] === 0) this.kept[queue] = 1;
      this.mayFill[this.mayFillCount++] = queue;
    }
  }

  /** Load over capacity at rates by flow. */
  private fullness(queue: number, rate: Float64Array): number {
    let full = 0;
    for (let place = this.columnStart[queue]; place < this.columnStart[queue + 1]; place++) {
      full += this.columnShare[place] * rate[this.columnFlow[place]];
    }
    return full;
  }

  /** A NIC with one flow is left out where another one bounds the flow as much; all others are kept. */
  private keepNics(): void {
    const { census, columnFlow, columnShare, columnStart, kept, nicOf } = this;
    this.nicOf = roomInt32(nicOf, census.flowCount);
    this.nicOf.fill(-1, 0, census.flowCount);
    for (let queue = 0; queue < census.queueCount; queue++) {
      if (census.fromSwitch[queue] === 1) continue;
      const first = columnStart[queue];
      const flow = columnFlow[first];
      const known = this.nicOf[flow];
      if (columnStart[queue + 1] - first > 1 || this.shared(queue)) kept[queue] = 1;
      else if (known < 0 || columnShare[first] > columnShare[columnStart[known]] * (1 + ROUNDING)) {
        if (known >= 0) kept[known] = 0;
        kept[queue] = 1;
        this.nicOf[flow] = queue;
      }
    }
  }

  /** Progressive filling: all flows grow alike until a queue is full, or hosts give no more. */
  private keepBottlenecks(): void {
    const { census, fair } = this;
    this.fair = roomFloat64(fair, census.flowCount);
    this.fair.fill(-1, 0, census.flowCount);
    let left = census.flowCount;
    while (left > 0) {
      let level = Infinity;
      for (let flow = 0; flow < census.flowCount; flow++) {
        if (this.fair[flow] < 0) level = min(level, census.wish[flow]);
      }
      let fullest = -1;
      for (let at = 0; at < this.mayFillCount; at++) {
        const full = this.fullAt(this.mayFill[at]);
        if (full >= level) continue;
        level = full;
        fullest = this.mayFill[at];
      }
      if (fullest >= 0) this.kept[fullest] = 1;
      left -= fullest >= 0 ? this.fixOn(fullest, level) : this.fixBelow(level);
    }
  }

  /** Rate of the flows that still grow at which a queue is full, Infinity without such flows. */
  private fullAt(queue: number): number {
    let room = 1;
    let weight = 0;
    for (let place = this.columnStart[queue]; place < this.columnStart[queue + 1]; place++) {
      const rate = this.fair[this.columnFlow[place]];
      if (rate < 0) weight += this.columnShare[place];
      else room -= rate === 0 ? 0 : this.columnShare[place] * rate;
    }
    return weight > 0 ? max(0, room) / weight : Infinity;
  }

  private fixOn(queue: number, level: number): number {
    let fixed = 0;
    for (let place = this.columnStart[queue]; place < this.columnStart[queue + 1]; place++) {
      if (this.fair[this.columnFlow[place]] >= 0) continue;
      this.fair[this.columnFlow[place]] = level;
      fixed++;
    }
    return fixed;
  }

  private fixBelow(level: number): number {
    const { census, fair } = this;
    let fixed = 0;
    for (let flow = 0; flow < census.flowCount; flow++) {
      if (fair[flow] >= 0 || census.wish[flow] > level) continue;
      fair[flow] = level;
      fixed++;
    }
    return fixed;
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
