/**
 * The flows of one solve as flat arrays over the queues that can bind them.
 *
 * Queues of the census that matter (relevance.ts) are numbered anew. Flows that share one with a contended one, directly
 * or over others, are active; all others have their wish. Of a path only the queues that matter count; a flow's paths
 * that have the same ones are one, so many times.
 */
import { Census, TIE } from './census.js';
import type { EquilibriumFlow, EquilibriumNetwork } from './model.js';
import { QueueColumns } from './queue-columns.js';
import { Relevance } from './relevance.js';
import { roomBytes, roomFloat64, roomInt32 } from './room.js';

export { TIE };

export class Scene extends QueueColumns {
  readonly census: Census;
  flowCount = 0;
  /** By flow. */
  active = new Uint8Array(64);
  activeFlows = new Int32Array(64);
  activeCount = 0;
  /** By flow: its places in the entries, paths and sources; one more than flows. */
  entryStart = new Int32Array(65);
  pathStart = new Int32Array(65);
  sourceStart = new Int32Array(65);
  entryQueue = new Int32Array(256);
  entryCoefficient = new Float64Array(256);
  /** By path: weight of each, how many there are, and a round trip without queues over all links of the first, ns. */
  pathWeight = new Float64Array(256);
  pathCopies = new Float64Array(256);
  pathRoundTripNs = new Float64Array(256);
  /** By flow, and one more: its paths as given. By given path: its path here, -1 where nothing on it matters. */
  givenStart = new Int32Array(65);
  pathOf = new Int32Array(256);
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
  /** By queue of the census: its number here, or -1. */
  placeOf = new Int32Array(64);
  readonly relevance: Relevance;
  private parent = new Int32Array(64);
  private seenBy = new Int32Array(64);
  /** By queue: the last path of this flow that ends there, and by path the one before. */
  private lastEnding = new Int32Array(64);
  private endsLike = new Int32Array(256);

  constructor(private readonly network: EquilibriumNetwork) {
    super();
    this.census = new Census(network);
    this.relevance = new Relevance(network, this.census);
  }

  /** By flow: bytes/ns that hosts would let it send. */
  get wish(): Float64Array {
    return this.census.wish;
  }

  /** Takes the flows in; true when something is contended, and then `spread` follows. */
  load(flows: readonly EquilibriumFlow[]): boolean {
    this.flowCount = flows.length;
    return this.census.load(flows);
  }

  /** Takes in the queues that are kept, the active flows, and their paths. */
  spread(flows: readonly EquilibriumFlow[]): void {
    this.takeQueues();
    this.join();
    this.growFlows(this.flowCount);
    this.activeCount = 0;
    this.pairCount = 0;
    this.firstPair.fill(-1, 0, this.queueCount);
    this.firstPairInto.fill(-1, 0, this.queueCount);
    this.rank.fill(-1, 0, this.queueCount);
    this.seenBy.fill(0, 0, this.queueCount);
    this.lastEnding.fill(-1, 0, this.queueCount);
    let entry = 0;
    let path = 0;
    let source = 0;
    let given = 0;
    for (let flow = 0; flow < this.flowCount; flow++) {
      this.entryStart[flow] = entry;
      this.pathStart[flow] = path;
      this.sourceStart[flow] = source;
      this.givenStart[flow] = given;
      this.active[flow] = Number(this.isActive(flow));
      if (this.active[flow] === 0) continue;
      this.activeFlows[this.activeCount++] = flow;
      entry = this.takeEntries(flow, entry);
      path = this.takePaths(flows[flow], path, given);
      given += flows[flow].paths.count;
      source = this.takeSources(flow, path, source);
    }
    this.entryStart[this.flowCount] = entry;
    this.pathStart[this.flowCount] = path;
    this.sourceStart[this.flowCount] = source;
    this.givenStart[this.flowCount] = given;
    this.sort();
  }

  private takeQueues(): void {
    const { census, relevance } = this;
    this.placeOf = roomInt32(this.placeOf, census.queueCount);
    this.queueCount = 0;
    for (let other = 0; other < census.queueCount; other++) {
      this.placeOf[other] = relevance.kept[other] === 1 ? this.queueCount++ : -1;
    }
    this.growQueues(this.queueCount);
    for (let other = 0; other < census.queueCount; other++) {
      const queue = this.placeOf[other];
      if (queue < 0) continue;
      this.copyQueue(queue, census, other);
      this.parent[queue] = queue;
    }
  }

  private isActive(flow: number): boolean {
    const { census, placeOf } = this;
    for (let at = census.entryStart[flow]; at < census.entryStart[flow + 1]; at++) {
      const queue = placeOf[census.entryQueue[at]];
      if (queue >= 0) return this.contended[this.rootOf(queue)] === 1;
    }
    return false;
  }

  private takeEntries(flow: number, first: number): number {
    const { census } = this;
    const [start, end] = [census.entryStart[flow], census.entryStart[flow + 1]];
    this.entryQueue = roomInt32(this.entryQueue, first + end - start);
    this.entryCoefficient = roomFloat64(this.entryCoefficient, first + end - start);
    let place = first;
    for (let at = start; at < end; at++) {
      const queue = this.placeOf[census.entryQueue[at]];
      if (queue < 0) continue;
      this.entryQueue[place] = queue;
      this.entryCoefficient[place++] = census.entryCoefficient[at];
    }
    return place;
  }

  /** Takes in a flow's paths; those alike become one. Returns the number of all paths so far. */
  private takePaths({ paths, classIndex }: EquilibriumFlow, first: number, given: number): number {
    const { starts, links, weights, count } = paths;
    this.growPaths(first + count, given + count, this.hopStart[first] + starts[count] - starts[0]);
    let path = first;
    for (let index = 0; index < count; index++) {
      const start = this.hopStart[path];
      let end = start;
      for (let at = starts[index]; at < starts[index + 1]; at++) {
        const queue = this.placeOf[this.census.queueAt(links[at], classIndex)];
        if (queue >= 0) this.hopQueue[end++] = queue;
      }
      this.hopStart[path + 1] = end;
      this.pathWeight[path] = weights[index];
      const known = end > start ? this.alike(path, first) : -1;
      if (end === start || known >= 0) {
        this.pathOf[given + index] = known;
        if (known >= 0) this.pathCopies[known]++;
        continue;
      }
      this.pathOf[given + index] = path;
      this.pathCopies[path] = 1;
      this.pathRoundTripNs[path] = this.roundTripNs(links, starts[index], starts[index + 1]);
      this.endsLike[path] = this.lastEnding[this.hopQueue[end - 1]];
      this.lastEnding[this.hopQueue[end - 1]] = path;
      this.pair(start, end);
      path++;
    }
    return path;
  }

  /** An earlier path of the same flow with the same queues and weight, or -1. */
  private alike(path: number, first: number): number {
    const { hopQueue, hopStart, pathWeight } = this;
    const length = hopStart[path + 1] - hopStart[path];
    let other = this.lastEnding[hopQueue[hopStart[path + 1] - 1]];
    for (; other >= first; other = this.endsLike[other]) {
      if (pathWeight[other] !== pathWeight[path] || hopStart[other + 1] - hopStart[other] !== length)
        continue;
      let hop = 0;
      while (hop < length && hopQueue[hopStart[other] + hop] === hopQueue[hopStart[path] + hop]) hop++;
      if (hop === length) return other;
    }
    return -1;
  }

  private roundTripNs(links: Int32Array, first: number, end: number): number {
    const { capacity, delayNs, packetBytes } = this.network;
    let sumNs = 0;
    for (let at = first; at < end; at++) sumNs += 2 * delayNs[links[at]] + packetBytes / capacity[links[at]];
    return sumNs;
  }

  private takeSources(flow: number, pathEnd: number, first: number): number {
    let source = first;
    this.sourceQueue = roomInt32(this.sourceQueue, first + pathEnd - this.pathStart[flow]);
    for (let path = this.pathStart[flow]; path < pathEnd; path++) {
      const queue = this.hopQueue[this.hopStart[path]];
      if (this.seenBy[queue] === flow + 1 || this.fromSwitch[queue] === 1) continue;
      this.seenBy[queue] = flow + 1;
      this.sourceQueue[source++] = queue;
    }
    return source;
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

  /** The queue of a direction in a class, -1 where no flow uses it or it does not matter. */
  queueAt(direction: number, classIndex: number): number {
    const queue = this.census.queueAt(direction, classIndex);
    return queue < 0 ? -1 : this.placeOf[queue];
  }

  /** Joins queues that share flows or a link; the root of a set says whether it holds a contended one. */
  private join(): void {
    const { census } = this;
    for (let flow = 0; flow < this.flowCount; flow++) {
      let last = -1;
      for (let at = census.entryStart[flow]; at < census.entryStart[flow + 1]; at++) {
        const queue = this.placeOf[census.entryQueue[at]];
        if (queue >= 0 && last >= 0) this.unite(last, queue);
        if (queue >= 0) last = queue;
      }
    }
    for (let queue = 0; this.network.classes > 1 && queue < this.queueCount; queue++) {
      for (let other = 0; other < this.network.classes; other++) {
        const sibling = this.queueAt(this.queueDirection[queue], other);
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

  private growQueues(length: number): void {
    this.growColumns(length);
    this.parent = roomInt32(this.parent, length);
    this.firstPair = roomInt32(this.firstPair, length);
    this.firstPairInto = roomInt32(this.firstPairInto, length);
    this.rank = roomInt32(this.rank, length);
    this.order = roomInt32(this.order, length);
    this.seenBy = roomInt32(this.seenBy, length);
    this.lastEnding = roomInt32(this.lastEnding, length);
  }

  private growFlows(count: number): void {
    this.active = roomBytes(this.active, count);
    this.activeFlows = roomInt32(this.activeFlows, count);
    this.entryStart = roomInt32(this.entryStart, count + 1);
    this.pathStart = roomInt32(this.pathStart, count + 1);
    this.sourceStart = roomInt32(this.sourceStart, count + 1);
    this.givenStart = roomInt32(this.givenStart, count + 1);
  }

  private growPaths(paths: number, given: number, hops: number): void {
    this.pathWeight = roomFloat64(this.pathWeight, paths);
    this.pathCopies = roomFloat64(this.pathCopies, paths);
    this.pathRoundTripNs = roomFloat64(this.pathRoundTripNs, paths);
    this.endsLike = roomInt32(this.endsLike, paths);
    this.hopStart = roomInt32(this.hopStart, paths + 1);
    this.pathOf = roomInt32(this.pathOf, given);
    this.hopQueue = roomInt32(this.hopQueue, hops);
    this.hopPair = roomInt32(this.hopPair, hops);
  }
}
