/**
 * Flows of a list that load the same links alike, as one variable of the max-min solver each class.
 *
 * Max-min gives flows on one path the same rate, so a class of n is a variable with n times their coefficients, and its
 * rate is that of each. All of them receive the same bytes from when they start; who has the least to go ends first. So
 * a list of many flows on few paths costs its paths. Not modelled: caps of single flows.
 */
import type { IndexedHeap } from '../../src/core/heap.js';
import { LevelHeap } from '../../src/simulator/rates/level-heap.js';
import type { MaxMin } from '../../src/simulator/rates/maxmin.js';

interface Pattern {
  links: Int32Array;
  coefficients: Float64Array;
}

/** Flows of a class in most lists; there may be as many classes as flows. */
const MEMBERS = 4;

export class PathClasses {
  readonly count: number;
  /** By flow. */
  readonly classOf: Int32Array;
  /** By class: bytes/ns of each flow in it. */
  readonly rate: Float64Array;
  /** By class: its flows under way, by what the class has served when they end. */
  private readonly members: LevelHeap[] = [];
  /** By class: what it has served when the next of them ends, Infinity without any; apart, since it is read most. */
  private readonly leastEnd: Float64Array;
  /** By class: bytes that each flow would have that was there all the time, and up to when. */
  private readonly served: Float64Array;
  private readonly updatedNs: Float64Array;
  /** By class: its variable or -1, and how many flows that stands for. By variable: its class. */
  private readonly variable: Int32Array;
  private readonly solvedFor: Int32Array;
  private readonly classOfVariable: Int32Array;
  private readonly patterns: Pattern[] = [];
  private readonly isDirty: Uint8Array;
  private readonly dirty: number[] = [];

  constructor(
    private readonly solver: MaxMin,
    flows: readonly Pattern[],
  ) {
    this.classOf = new Int32Array(flows.length);
    const known = new Map<string, number>();
    flows.forEach(({ links, coefficients }, flow) => {
      const key = `${links.join()} ${coefficients.join()}`;
      let pathClass = known.get(key);
      if (pathClass === undefined) {
        pathClass = this.patterns.push({ links, coefficients }) - 1;
        known.set(key, pathClass);
        this.members.push(new LevelHeap(MEMBERS));
      }
      this.classOf[flow] = pathClass;
    });
    this.count = this.patterns.length;
    this.rate = new Float64Array(this.count);
    this.leastEnd = new Float64Array(this.count).fill(Infinity);
    this.served = new Float64Array(this.count);
    this.updatedNs = new Float64Array(this.count);
    this.variable = new Int32Array(this.count).fill(-1);
    this.solvedFor = new Int32Array(this.count);
    this.classOfVariable = new Int32Array(this.count);
    this.isDirty = new Uint8Array(this.count);
  }

  /** A flow begins to send. */
  enter(flow: number, bytes: number, nowNs: number): void {
    const pathClass = this.classOf[flow];
    this.advance(pathClass, nowNs);
    this.members[pathClass].push(flow, this.served[pathClass] + bytes);
    this.leastEnd[pathClass] = this.members[pathClass].peekLevel();
    this.touch(pathClass);
  }

  /** The flow of a class that ends at this instant; the next one may do so as well. */
  end(pathClass: number, nowNs: number): number {
    this.served[pathClass] = this.leastEnd[pathClass];
    this.updatedNs[pathClass] = nowNs;
    this.touch(pathClass);
    const members = this.members[pathClass];
    const flow = members.peekItem();
    members.pop();
    this.leastEnd[pathClass] = members.peekLevel();
    if (members.size === 0) this.served[pathClass] = 0;
    return flow;
  }

  /** When the next flow of a class ends at the present rate, Infinity if none does. */
  private endNs(pathClass: number): number {
    const rate = this.rate[pathClass];
    if (rate === 0) return Infinity;
    const left = Math.max(0, this.leastEnd[pathClass] - this.served[pathClass]);
    return this.updatedNs[pathClass] + left / rate;
  }

  /**
   * Shares the links among those that send from now on.
   * @param ends receives the next end of each class that has another one, as item `firstItem` + class
   * @returns how many rates changed
   */
  share(nowNs: number, ends: IndexedHeap, firstItem: number): number {
    const { solver, dirty, classOfVariable, leastEnd, rate, served, updatedNs } = this;
    for (const pathClass of dirty) this.tell(pathClass);
    solver.solve();
    const count = solver.changedCount;
    for (let index = 0; index < count; index++) {
      const id = solver.changed(index);
      const pathClass = classOfVariable[id];
      if (rate[pathClass] > 0)
        served[pathClass] += rate[pathClass] * Math.max(0, nowNs - updatedNs[pathClass]);
      updatedNs[pathClass] = nowNs;
      const now = (rate[pathClass] = solver.rate(id));
      const item = firstItem + pathClass;
      if (now > 0) ends.set(item, nowNs + Math.max(0, leastEnd[pathClass] - served[pathClass]) / now);
      else ends.remove(item);
    }
    for (const pathClass of dirty) {
      this.isDirty[pathClass] = 0;
      this.schedule(pathClass, ends, firstItem);
    }
    dirty.length = 0;
    return count;
  }

  /** Sets the next end of a class. */
  schedule(pathClass: number, ends: IndexedHeap, firstItem: number): void {
    const endNs = this.endNs(pathClass);
    if (endNs < Infinity) ends.set(firstItem + pathClass, endNs);
    else ends.remove(firstItem + pathClass);
  }

  private tell(pathClass: number): void {
    const { solver, members, variable } = this;
    const { size } = members[pathClass];
    if (size === this.solvedFor[pathClass]) return;
    const { links, coefficients } = this.patterns[pathClass];
    this.solvedFor[pathClass] = size;
    if (size === 0) {
      solver.remove(variable[pathClass]);
      variable[pathClass] = -1;
      this.rate[pathClass] = 0;
      return;
    }
    const all = size === 1 ? coefficients : coefficients.map((coefficient) => size * coefficient);
    if (variable[pathClass] >= 0) {
      solver.replace(variable[pathClass], links, all);
      return;
    }
    variable[pathClass] = solver.add(links, all);
    this.classOfVariable[variable[pathClass]] = pathClass;
  }

  private advance(pathClass: number, nowNs: number): void {
    const spanNs = nowNs - this.updatedNs[pathClass];
    this.updatedNs[pathClass] = nowNs;
    if (spanNs > 0 && this.members[pathClass].size > 0)
      this.served[pathClass] += this.rate[pathClass] * spanNs;
  }

  private touch(pathClass: number): void {
    if (this.isDirty[pathClass] === 1) return;
    this.isDirty[pathClass] = 1;
    this.dirty.push(pathClass);
  }
}
