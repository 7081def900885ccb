/**
 * The flows of one solve as flat arrays over the queues they touch, and which of them a contention can reach.
 *
 * A queue is a link direction in one class; queues are numbered anew in each solve, so that its cost follows what the
 * flows touch and not what exists. What the hosts alone would let flows send, the wish, is max-min over the sending
 * NICs' own directions. A queue that wishes overfill, or whose receiver holds it, is contended; flows that share a
 * link with a contended one, directly or over others, are active. All others have their wish.
 */
import { MaxMin } from '../sharing/maxmin.js';
import type { EquilibriumFlow, EquilibriumNetwork } from './model.js';
import { roomBytes, roomFloat64, roomInt32 } from './room.js';

/** Beyond a capacity by less than this a link is full, not contended: a tie with a NIC is no queue. */
export const TIE = 1 + 5e-4;

export class Scene {
  flowCount = 0;
  queueCount = 0;
  /** By flow. */
  wish = new Float64Array(64);
  active = new Uint8Array(64);
  activeFlows = new Int32Array(64);
  activeCount = 0;
  /** By flow: its places in the entries, paths and sources; one more than flows. Paths count for active flows only. */
  entryStart = new Int32Array(65);
  pathStart = new Int32Array(65);
  sourceStart = new Int32Array(65);
  entryQueue = new Int32Array(256);
  entryCoefficient = new Float64Array(256);
  pathWeight = new Float64Array(256);
  /** By path, and one more: its places in `hopQueue`. */
  hopStart = new Int32Array(257);
  hopQueue = new Int32Array(1024);
  /** By hop: the pair of its queue and the path's next one, -1 for a last hop. */
  hopPair = new Int32Array(1024);
  /** Pairs: which queue is fed by which, each once; those of a queue are a list. */
  pairCount = 0;
  pairFrom = new Int32Array(256);
  pairTo = new Int32Array(256);
  pairNext = new Int32Array(256);
  pairNextInto = new Int32Array(256);
  /** By queue: first pair from it, and first into it, or -1; most hops that a path has from here to its end. */
  firstPair = new Int32Array(64);
  firstPairInto = new Int32Array(64);
  rank = new Int32Array(64);
  /** Queues of active flows from the receivers back to the senders. */
  order = new Int32Array(64);
  orderCount = 0;
  /** Queues of NICs that a flow's paths begin with, each once per flow. */
  sourceQueue = new Int32Array(256);
  /** By queue. */
  queueDirection = new Int32Array(64);
  queueClass = new Int32Array(64);
  /** 1 where a switch sends, 0 where a NIC does. */
  fromSwitch = new Uint8Array(64);
  contended = new Uint8Array(64);
  /** bytes/ns at the wishes; and what the link or its receiver takes at most. */
  wishLoad = new Float64Array(64);
  capacity = new Float64Array(64);
  /** bytes/ns of the link for all classes, by queue. */
  link = new Float64Array(64);
  private readonly localOf: Int32Array;
  private parent = new Int32Array(64);
  private seenBy = new Int32Array(64);
  private readonly hosts: MaxMin;
  private readonly hostDirections: Int32Array;
  private hostLinks = new Int32Array(64);
  private hostCoefficients = new Float64Array(64);
  private variables = new Int32Array(64);

  constructor(private readonly network: EquilibriumNetwork) {
    const { directions, classes, fromDevice, isSwitch, capacity } = network;
    this.localOf = new Int32Array(directions * classes).fill(-1);
    this.hosts = new MaxMin(capacity);
    const hostDirections: number[] = [];
    for (let direction = 0; direction < directions; direction++) {
      if (isSwitch[fromDevice[direction]] === 0) hostDirections.push(direction);
    }
    this.hostDirections = Int32Array.from(hostDirections);
  }

  /** Takes the flows in; true when something is contended, and then `spread` follows. */
  load(flows: readonly EquilibriumFlow[]): boolean {
    this.clear();
    this.makeWishes(flows);
    let place = 0;
    for (let flow = 0; flow < flows.length; flow++) {
      const { links, coefficients, count, classIndex } = flows[flow];
      this.entryStart[flow] = place;
      this.entryQueue = roomInt32(this.entryQueue, place + count);
      this.entryCoefficient = roomFloat64(this.entryCoefficient, place + count);
      for (let entry = 0; entry < count && links[entry] < this.network.directions; entry++) {
        const queue = this.queueOf(links[entry], classIndex);
        this.entryQueue[place] = queue;
        this.entryCoefficient[place++] = coefficients[entry];
        this.wishLoad[queue] += coefficients[entry] * this.wish[flow];
      }
    }
    this.entryStart[flows.length] = place;
    return this.findContended();
  }

  /** Finds the active flows and takes in their paths. */
  spread(flows: readonly EquilibriumFlow[]): void {
    this.join();
    this.activeCount = 0;
    this.pairCount = 0;
    this.firstPair.fill(-1, 0, this.queueCount);
    this.firstPairInto.fill(-1, 0, this.queueCount);
    this.rank.fill(-1, 0, this.queueCount);
    let path = 0;
    let hop = 0;
    let source = 0;
    for (let flow = 0; flow < this.flowCount; flow++) {
      this.pathStart[flow] = path;
      this.sourceStart[flow] = source;
      const start = this.entryStart[flow];
      this.active[flow] = 0;
      if (start === this.entryStart[flow + 1] || this.contended[this.rootOf(this.entryQueue[start])] === 0)
        continue;
      this.active[flow] = 1;
      this.activeFlows[this.activeCount++] = flow;
      const { paths, classIndex } = flows[flow];
      this.pathWeight = roomFloat64(this.pathWeight, path + paths.count);
      this.hopStart = roomInt32(this.hopStart, path + paths.count + 1);
      this.hopPair = roomInt32(this.hopPair, hop + paths.starts[paths.count] - paths.starts[0]);
      this.hopQueue = roomInt32(this.hopQueue, hop + paths.starts[paths.count] - paths.starts[0]);
      this.sourceQueue = roomInt32(this.sourceQueue, source + paths.count);
      for (let index = 0; index < paths.count; index++) {
        if (paths.starts[index] === paths.starts[index + 1]) continue;
        this.pathWeight[path] = paths.weights[index];
        this.hopStart[path++] = hop;
        for (let at = paths.starts[index]; at < paths.starts[index + 1]; at++) {
          this.hopQueue[hop++] = this.queueOf(paths.links[at], classIndex);
        }
        this.pair(this.hopStart[path - 1], hop);
        const first = this.hopQueue[this.hopStart[path - 1]];
        if (this.seenBy[first] === flow + 1 || this.fromSwitch[first] === 1) continue;
        this.seenBy[first] = flow + 1;
        this.sourceQueue[source++] = first;
      }
      this.hopStart[path] = hop;
    }
    this.pathStart[this.flowCount] = path;
    this.sourceStart[this.flowCount] = source;
    this.sort();
  }

  /** Notes which queues a path joins, and how far they are from its end. */
  private pair(first: number, end: number): void {
    const { hopQueue, hopPair, rank } = this;
    for (let hop = first; hop < end; hop++) {
      const queue = hopQueue[hop];
      rank[queue] = Math.max(rank[queue], end - hop);
      hopPair[hop] = hop + 1 < end ? this.pairOf(queue, hopQueue[hop + 1]) : -1;
    }
  }

  private pairOf(from: number, to: number): number {
    let pair = this.firstPair[from];
    while (pair >= 0 && this.pairTo[pair] !== to) pair = this.pairNext[pair];
    if (pair >= 0) return pair;
    pair = this.pairCount++;
    this.pairTo = roomInt32(this.pairTo, pair + 1);
    this.pairNext = roomInt32(this.pairNext, pair + 1);
    this.pairFrom = roomInt32(this.pairFrom, pair + 1);
    this.pairNextInto = roomInt32(this.pairNextInto, pair + 1);
    this.pairFrom[pair] = from;
    this.pairTo[pair] = to;
    this.pairNextInto[pair] = this.firstPairInto[to];
    this.firstPairInto[to] = pair;
    this.pairNext[pair] = this.firstPair[from];
    this.firstPair[from] = pair;
    return pair;
  }

  private sort(): void {
    this.orderCount = 0;
    let longest = 0;
    for (let queue = 0; queue < this.queueCount; queue++) longest = Math.max(longest, this.rank[queue]);
    for (let rank = 1; rank <= longest; rank++) {
      for (let queue = 0; queue < this.queueCount; queue++) {
        if (this.rank[queue] === rank) this.order[this.orderCount++] = queue;
      }
    }
  }

  /** The queue of a direction in a class, -1 where no flow uses it. */
  queueAt(direction: number, classIndex: number): number {
    return this.localOf[classIndex * this.network.directions + direction];
  }

  private clear(): void {
    const { directions } = this.network;
    for (let queue = 0; queue < this.queueCount; queue++) {
      this.localOf[this.queueClass[queue] * directions + this.queueDirection[queue]] = -1;
    }
    this.queueCount = 0;
  }

  private makeWishes(flows: readonly EquilibriumFlow[]): void {
    const { network, hosts } = this;
    const { capacity, directions, fromDevice, isSwitch } = network;
    const count = flows.length;
    this.flowCount = count;
    this.growFlows(count);
    for (let at = 0; at < this.hostDirections.length; at++) {
      hosts.setCapacity(this.hostDirections[at], capacity[this.hostDirections[at]]);
    }
    for (let flow = 0; flow < count; flow++) {
      const { links, coefficients, count: entries, potential } = flows[flow];
      this.hostLinks = roomInt32(this.hostLinks, entries);
      this.hostCoefficients = roomFloat64(this.hostCoefficients, entries);
      let kept = 0;
      for (let entry = 0; entry < entries && links[entry] < directions; entry++) {
        if (isSwitch[fromDevice[links[entry]]] === 1) continue;
        this.hostLinks[kept] = links[entry];
        this.hostCoefficients[kept++] = coefficients[entry];
      }
      this.variables[flow] = hosts.add(this.hostLinks, this.hostCoefficients, kept);
      if (potential < Infinity) hosts.setCap(this.variables[flow], potential);
    }
    hosts.solve();
    for (let flow = 0; flow < count; flow++) {
      this.wish[flow] = hosts.rate(this.variables[flow]);
      hosts.remove(this.variables[flow]);
    }
  }

  private findContended(): boolean {
    let some = false;
    for (let queue = 0; queue < this.queueCount; queue++) {
      const direction = this.queueDirection[queue];
      const link = this.link[queue];
      let load = 0;
      for (let other = 0; other < this.network.classes; other++) {
        const sibling = this.localOf[other * this.network.directions + direction];
        if (sibling >= 0) load += this.wishLoad[sibling];
      }
      const over = load > link * TIE || this.wishLoad[queue] > this.capacity[queue] * TIE;
      this.contended[queue] = Number(over && this.fromSwitch[queue] === 1);
      some ||= this.contended[queue] === 1;
    }
    return some;
  }

  /** Joins queues that share flows or a link; the root of a set says whether it holds a contended one. */
  private join(): void {
    const { directions, classes } = this.network;
    for (let queue = 0; queue < this.queueCount; queue++) this.parent[queue] = queue;
    for (let flow = 0; flow < this.flowCount; flow++) {
      for (let entry = this.entryStart[flow] + 1; entry < this.entryStart[flow + 1]; entry++) {
        this.unite(this.entryQueue[entry - 1], this.entryQueue[entry]);
      }
    }
    for (let queue = 0; classes > 1 && queue < this.queueCount; queue++) {
      for (let other = 0; other < classes; other++) {
        const sibling = this.localOf[other * directions + this.queueDirection[queue]];
        if (sibling >= 0) this.unite(queue, sibling);
      }
    }
  }

  private unite(one: number, other: number): void {
    const rootOne = this.rootOf(one);
    const rootOther = this.rootOf(other);
    if (rootOne === rootOther) return;
    this.parent[rootOther] = rootOne;
    this.contended[rootOne] |= this.contended[rootOther];
  }

  private rootOf(queue: number): number {
    let root = queue;
    while (this.parent[root] !== root) {
      this.parent[root] = this.parent[this.parent[root]];
      root = this.parent[root];
    }
    return root;
  }

  private queueOf(direction: number, classIndex: number): number {
    const key = classIndex * this.network.directions + direction;
    const known = this.localOf[key];
    if (known >= 0) return known;
    const queue = this.queueCount++;
    if (queue >= this.queueDirection.length) this.growQueues(queue + 1);
    this.localOf[key] = queue;
    this.queueDirection[queue] = direction;
    this.queueClass[queue] = classIndex;
    this.fromSwitch[queue] = this.network.isSwitch[this.network.fromDevice[direction]];
    this.wishLoad[queue] = 0;
    const acceptsAll = this.network.acceptsAll?.(direction) ?? Infinity;
    this.link[queue] = Math.min(this.network.capacity[direction], acceptsAll);
    this.capacity[queue] = Math.min(this.link[queue], this.network.accepts(direction, classIndex));
    this.seenBy[queue] = 0;
    this.contended[queue] = 0;
    this.parent[queue] = queue;
    this.firstPair[queue] = -1;
    this.firstPairInto[queue] = -1;
    this.rank[queue] = -1;
    return queue;
  }

  private growQueues(length: number): void {
    this.queueDirection = roomInt32(this.queueDirection, length);
    this.queueClass = roomInt32(this.queueClass, length);
    this.parent = roomInt32(this.parent, length);
    this.firstPair = roomInt32(this.firstPair, length);
    this.firstPairInto = roomInt32(this.firstPairInto, length);
    this.rank = roomInt32(this.rank, length);
    this.order = roomInt32(this.order, length);
    this.seenBy = roomInt32(this.seenBy, length);
    this.wishLoad = roomFloat64(this.wishLoad, length);
    this.capacity = roomFloat64(this.capacity, length);
    this.link = roomFloat64(this.link, length);
    this.fromSwitch = roomBytes(this.fromSwitch, length);
    this.contended = roomBytes(this.contended, length);
  }

  private growFlows(count: number): void {
    this.wish = roomFloat64(this.wish, count);
    this.active = roomBytes(this.active, count);
    this.activeFlows = roomInt32(this.activeFlows, count);
    this.variables = roomInt32(this.variables, count);
    this.entryStart = roomInt32(this.entryStart, count + 1);
    this.pathStart = roomInt32(this.pathStart, count + 1);
    this.sourceStart = roomInt32(this.sourceStart, count + 1);
  }
}
