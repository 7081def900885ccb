/**
 * Exact max-min fair rates under a stream of changes: who gets how much of every link.
 *
 * A *variable* is one rate x (bytes/ns); on each of its links it consumes coefficient · x. A plain flow has
 * coefficient 1 on its path and its ACK share on the way back; a coupled collective is one variable over all its
 * edges, since it moves at the pace of the slowest. Max-min fairness (Bertsekas and Gallager, Data Networks, section
 * 6.5): no rate can rise without lowering one that is not larger. So every variable is at its cap, or has a full
 * link on which nobody is faster. `solve` re-solves what the changes since the last solve touch, exactly, whatever
 * the size of the rest. Not modelled here: queues, congestion control, priorities.
 */
import { Filling } from './filling.js';
import { grownInt32 } from './incidence.js';

/** What `pending` says of an id: not listed, listed but gone, altered, or given other links. */
const UNLISTED = 0;
const GONE = 1;
const ALTERED = 2;
const REPLACED = 3;
/** When so many attempts found links that joined too late, the next one lets no link stay passive. */
const ATTEMPTS_BEFORE_EAGER = 6;

export class MaxMin {
  private readonly filling: Filling;
  private readonly freeIds: number[] = [];
  private idCount = 0;
  private alive = new Uint8Array(64);
  private pending = new Uint8Array(64);
  private pendingVariables = new Int32Array(64);
  private pendingVariableCount = 0;
  private readonly linkPending: Uint8Array;
  private pendingLinks: Int32Array;
  private pendingLinkCount = 0;
  /** Nothing below this level has changed since the last solve. */
  private startLevel = Infinity;
  /** Sum of the coefficients on each link. */
  private readonly weights: Float64Array;
  private changedIds = new Int32Array(64);
  private changes = 0;
  private attemptCount = 0;

  /** @param capacities bytes/ns per link direction, finite and >= 0; copied */
  constructor(capacities: Float64Array) {
    for (let link = 0; link < capacities.length; link++)
      checkAmount(capacities[link], `capacity of link ${link}`);
    this.filling = new Filling(Float64Array.from(capacities));
    this.linkPending = new Uint8Array(capacities.length);
    this.pendingLinks = new Int32Array(capacities.length);
    this.weights = new Float64Array(capacities.length);
  }

  /**
   * Adds a variable and returns its id; ids of removed variables are used again. Its rate is 0 until `solve`.
   *
   * @param links link numbers, each at most once
   * @param coefficients bytes consumed on that link per byte of rate, finite and > 0
   * @param count how many entries of both arrays count
   * @throws RangeError on a link that is not there or a coefficient that is no amount
   */
  add(links: Int32Array, coefficients: Float64Array, count = links.length): number {
    this.check(links, coefficients, count);
    const id = this.freeIds.length > 0 ? this.freeIds.pop()! : this.idCount++;
    this.grow(id);
    this.alive[id] = 1;
    this.filling.caps[id] = Infinity;
    this.enter(id, links, coefficients, count, ALTERED);
    return id;
  }

  /** Removes a variable; the rates of the others follow with the next `solve`. */
  remove(id: number): void {
    this.checkId(id);
    this.leave(id);
    this.alive[id] = 0;
    if (this.pending[id] !== UNLISTED) this.pending[id] = GONE;
    this.freeIds.push(id);
  }

  /** Gives a variable other links; its cap stays. It is among the changed ones of the next `solve`. */
  replace(id: number, links: Int32Array, coefficients: Float64Array, count = links.length): void {
    this.checkId(id);
    this.check(links, coefficients, count);
    this.leave(id);
    this.enter(id, links, coefficients, count, REPLACED);
  }

  /** Sets a link's capacity, bytes/ns; with 0 its variables stand still. */
  setCapacity(link: number, value: number): void {
    checkAmount(value, `capacity of link ${link}`);
    const { capacities, loads, limited, levels } = this.filling;
    const before = capacities[link];
    if (before === undefined) throw new RangeError(`no link ${link}`);
    if (value === before) return;
    capacities[link] = value;
    // More room matters only where the link limits someone; less room also where its load no longer fits.
    if (limited[link] === 0 && loads[link] <= value && this.linkPending[link] === 0) return;
    if (limited[link] > 0) this.startLevel = Math.min(this.startLevel, levels[link]);
    this.touchLink(link);
  }

  /** Limits a variable's rate, bytes/ns; Infinity lifts the cap. */
  setCap(id: number, rate: number): void {
    this.checkId(id);
    if (!(rate >= 0)) throw new RangeError(`a cap must be >= 0, not ${rate}`);
    const { caps, rates, limits } = this.filling;
    if (rate === caps[id]) return;
    const matters = rate < rates[id] || limits[id] < 0;
    caps[id] = rate;
    if (matters) this.touchVariable(id, ALTERED);
  }

  /** Brings all rates up to date with the changes since the last call. */
  solve(): void {
    this.changes = 0;
    this.attemptCount = 0;
    if (this.pendingVariableCount > 0 || this.pendingLinkCount > 0) {
      const level = this.lowestLevel();
      this.attemptCount = 1;
      while (!this.attempt(level, this.attemptCount > ATTEMPTS_BEFORE_EAGER)) {
        this.filling.rollBack();
        this.attemptCount++;
      }
      this.changes = this.filling.commit(this.changedIds);
      this.forgetPending();
    }
  }

  /** How many variables got another rate in the last `solve` (by more than a relative 1e-12). */
  get changedCount(): number {
    return this.changes;
  }

  /** Id of one of them, `index` in [0, changedCount); the order means nothing, but is the same in every run. */
  changed(index: number): number {
    return this.changedIds[index];
  }

  /** How many fillings the last `solve` needed: 0 without changes, 1 as a rule, more where passive links joined late. */
  get attempts(): number {
    return this.attemptCount;
  }

  /** Rate after the last `solve`, bytes/ns; Infinity for a variable without links and cap. */
  rate(id: number): number {
    return this.filling.rates[id];
  }

  /** Bytes/ns consumed on a link: the sum of coefficient · rate over its variables. */
  load(link: number): number {
    return this.filling.loads[link];
  }

  /** Bytes/ns the link can carry. */
  capacity(link: number): number {
    return this.filling.capacities[link];
  }

  /** Sum of the coefficients on a link. */
  weight(link: number): number {
    return this.weights[link];
  }

  /** Adds up coefficient · rate over a link's variables, at other rates than those of the last solve. */
  loadAt(link: number, rateOf: (id: number) => number): number {
    const { linkStart, linkSize, linkVariables, linkCoefficients } = this.filling.matrix;
    let load = 0;
    for (let entry = linkStart[link]; entry < linkStart[link] + linkSize[link]; entry++) {
      load += linkCoefficients[entry] * rateOf(linkVariables[entry]);
    }
    return load;
  }

  /** A full link that limits the variable; -1 where its cap does. */
  bottleneck(id: number): number {
    return this.filling.limits[id];
  }

  private attempt(level: number, eager: boolean): boolean {
    const filling = this.filling;
    filling.begin(level, eager);
    for (let index = 0; index < this.pendingVariableCount; index++) {
      const id = this.pendingVariables[index];
      if (this.pending[id] >= ALTERED) filling.activate(id);
    }
    for (let index = 0; index < this.pendingLinkCount; index++) {
      const link = this.pendingLinks[index];
      if (filling.limited[link] > 0 || filling.loads[link] > filling.capacities[link]) filling.join(link);
    }
    for (let index = 0, count = filling.lateCount; index < count; index++)
      filling.join(filling.lateLinks[index]);
    for (let index = 0; index < this.pendingVariableCount; index++) {
      const id = this.pendingVariables[index];
      if (this.pending[id] >= ALTERED) filling.enter(id);
    }
    return filling.fill();
  }

  /**
   * A level that no change reaches below. A link of capacity C whose coefficients sum to W can't fill up below C / W,
   * and a variable that left at rate r was in nobody's way below r.
   */
  private lowestLevel(): number {
    const { capacities, rates, caps } = this.filling;
    const { variableStart, variableSize, variableLinks } = this.filling.matrix;
    let lowest = this.startLevel;
    for (let index = 0; index < this.pendingVariableCount; index++) {
      const id = this.pendingVariables[index];
      if (this.pending[id] < ALTERED) continue;
      lowest = Math.min(lowest, caps[id], rates[id] > 0 ? rates[id] : Infinity);
      const end = variableStart[id] + variableSize[id];
      for (let entry = variableStart[id]; entry < end; entry++) {
        const link = variableLinks[entry];
        const level = capacities[link] / this.weights[link];
        if (level < lowest) lowest = level;
      }
    }
    for (let index = 0; index < this.pendingLinkCount; index++) {
      const link = this.pendingLinks[index];
      if (this.weights[link] > 0) lowest = Math.min(lowest, capacities[link] / this.weights[link]);
    }
    return lowest * (1 - 1e-9);
  }

  private enter(
    id: number,
    links: Int32Array,
    coefficients: Float64Array,
    count: number,
    pending: number,
  ): void {
    const filling = this.filling;
    filling.matrix.attach(id, links, coefficients, count);
    for (let index = 0; index < count; index++) this.weights[links[index]] += coefficients[index];
    filling.rates[id] = 0;
    filling.limits[id] = -1;
    this.touchVariable(id, pending);
  }

  /** Takes a variable off its links; those that limited others must be filled anew. */
  private leave(id: number): void {
    const { matrix, rates, limits, limited, loads } = this.filling;
    const rate = rates[id];
    if (limits[id] >= 0) limited[limits[id]]--;
    const start = matrix.variableStart[id];
    const end = start + matrix.variableSize[id];
    const { variableLinks, variableCoefficients, linkSize } = matrix;
    for (let entry = start; entry < end; entry++) {
      const link = variableLinks[entry];
      const alone = linkSize[link] === 1;
      loads[link] = alone ? 0 : loads[link] - variableCoefficients[entry] * rate;
      this.weights[link] = alone ? 0 : this.weights[link] - variableCoefficients[entry];
      if (limited[link] === 0 || rate === 0) continue;
      this.touchLink(link);
      if (rate < this.startLevel) this.startLevel = rate;
    }
    matrix.detach(id);
  }

  private touchVariable(id: number, pending: number): void {
    if (this.pending[id] === UNLISTED) {
      if (this.pendingVariableCount === this.pendingVariables.length) {
        this.pendingVariables = grownInt32(this.pendingVariables, this.pendingVariableCount + 1);
      }
      this.pendingVariables[this.pendingVariableCount++] = id;
    }
    this.pending[id] = Math.max(this.pending[id], pending);
  }

  private touchLink(link: number): void {
    if (this.linkPending[link] !== 0) return;
    this.linkPending[link] = 1;
    this.pendingLinks[this.pendingLinkCount++] = link;
  }

  private forgetPending(): void {
    const { rates } = this.filling;
    for (let index = 0; index < this.pendingVariableCount; index++) {
      const id = this.pendingVariables[index];
      // A replaced variable that came to rest was entered with rate 0, so the filling saw no change.
      if (this.pending[id] === REPLACED && rates[id] === 0) this.changedIds[this.changes++] = id;
      this.pending[id] = UNLISTED;
    }
    for (let index = 0; index < this.pendingLinkCount; index++)
      this.linkPending[this.pendingLinks[index]] = 0;
    this.pendingVariableCount = 0;
    this.pendingLinkCount = 0;
    this.startLevel = Infinity;
  }

  private grow(id: number): void {
    this.filling.reserve(id);
    const length = this.filling.rates.length;
    if (this.alive.length >= length) return;
    const alive = new Uint8Array(length);
    alive.set(this.alive);
    this.alive = alive;
    const pending = new Uint8Array(length);
    pending.set(this.pending);
    this.pending = pending;
    this.changedIds = grownInt32(this.changedIds, length);
  }

  private checkId(id: number): void {
    if (this.alive[id] !== 1) throw new RangeError(`no variable ${id}`);
  }

  private check(links: Int32Array, coefficients: Float64Array, count: number): void {
    if (count > links.length || count > coefficients.length)
      throw new RangeError(`fewer than ${count} entries`);
    for (let index = 0; index < count; index++) {
      const link = links[index];
      if (!(link >= 0 && link < this.weights.length)) throw new RangeError(`no link ${link}`);
      const coefficient = coefficients[index];
      if (!(coefficient > 0 && coefficient < Infinity)) {
        throw new RangeError(`a coefficient must be finite and > 0, not ${coefficient}`);
      }
    }
  }
}

function checkAmount(value: number, what: string): void {
  if (!(value >= 0 && value < Infinity))
    throw new RangeError(`${what} must be finite and >= 0, not ${value}`);
}
