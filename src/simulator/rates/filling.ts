/**
 * One progressive filling over what a change touches: the heart of the max-min solver.
 *
 * Progressive filling (Bertsekas and Gallager, Data Networks, section 6.5.2) raises all rates together; where a link
 * fills up, its variables are fixed at that level. Here the filling is replayed on top of the last solution: an
 * untouched link is taken to fill at its old level with its old variables; as soon as one of its variables gets
 * another rate than before, the link joins at the current level and is filled anew. A variable whose old limiting
 * link no longer limits it is *released* at its old rate, and fills on with the rest. The same levels are passed in
 * the same order as from scratch, so the result is the exact allocation, at the price of what changes.
 *
 * One guess keeps the touched set small: a link that limited nobody before stays passive while the rates that rise
 * on it still fit. If it turns out that it should have joined earlier, `fill` says so and the caller starts over with
 * it in the set. Not modelled: weights of variables (all fill at the same pace).
 */
import { Incidence, grownFloat64, grownInt32 } from './incidence.js';
import { LevelHeap } from './level-heap.js';

const IDLE = 0;
/** A variable that fills; a link whose load was changed in passing. */
const ACTIVE = 1;
const PASSIVE = 1;
/** A variable that has its new rate; a link that is filled anew. */
const FIXED = 2;
const JOINED = 2;

/** Two rates this close are the same rate. */
export const SAME_RATE = 1e-12;
const LATE = 1e-11;

export class Filling {
  readonly matrix: Incidence;
  /** Solution, per variable: rate, limiting link (-1: its cap, or none), and the caller's cap. */
  rates = new Float64Array(64);
  limits = new Int32Array(64).fill(-1);
  caps = new Float64Array(64);
  /** Solution, per link: consumed bytes/ns, level at which it last filled up, how many variables it limits. */
  readonly loads: Float64Array;
  readonly levels: Float64Array;
  readonly limited: Int32Array;

  private variableState = new Uint8Array(64);
  private nextRates = new Float64Array(64);
  private nextLimits = new Int32Array(64);
  /** The rate with which a variable stands in the loads of passive links. */
  private assumedRates = new Float64Array(64);
  private nextQueued = new Int32Array(64);
  private seenVariables = new Int32Array(64);
  private seenVariableCount = 0;

  private readonly linkState: Uint8Array;
  private readonly room: Float64Array;
  private readonly weight: Float64Array;
  private readonly filling: Int32Array;
  private readonly nextLevels: Float64Array;
  /** Level at which the variables a joined link used to limit are released; Infinity when done or none. */
  private readonly releaseAt: Float64Array;
  private readonly firstQueued: Int32Array;
  private readonly seenLinks: Int32Array;
  private seenLinkCount = 0;
  private readonly loadsBefore: Float64Array;
  private readonly queuedLinks: Int32Array;
  private queuedLinkCount = 0;

  private readonly heap = new LevelHeap();
  private level = 0;
  /** Links that joined too late in any attempt since the last commit: `lateLinks[0 .. lateCount)`. */
  readonly lateLinks: Int32Array;
  lateCount = 0;
  private lateNow = false;
  private eager = false;

  constructor(readonly capacities: Float64Array) {
    const links = capacities.length;
    this.matrix = new Incidence(links);
    this.loads = new Float64Array(links);
    this.levels = new Float64Array(links);
    this.limited = new Int32Array(links);
    this.linkState = new Uint8Array(links);
    this.room = new Float64Array(links);
    this.weight = new Float64Array(links);
    this.filling = new Int32Array(links);
    this.nextLevels = new Float64Array(links);
    this.releaseAt = new Float64Array(links);
    this.firstQueued = new Int32Array(links).fill(-1);
    this.seenLinks = new Int32Array(links);
    this.loadsBefore = new Float64Array(links);
    this.queuedLinks = new Int32Array(links);
    this.lateLinks = new Int32Array(links);
  }

  /** Makes room for the variable's state. */
  reserve(variable: number): void {
    if (variable < this.rates.length) return;
    const length = variable + 1;
    this.rates = grownFloat64(this.rates, length);
    this.limits = grownInt32(this.limits, length, -1);
    this.caps = grownFloat64(this.caps, length);
    this.nextRates = grownFloat64(this.nextRates, length);
    this.nextLimits = grownInt32(this.nextLimits, length);
    this.assumedRates = grownFloat64(this.assumedRates, length);
    this.nextQueued = grownInt32(this.nextQueued, length);
    this.seenVariables = grownInt32(this.seenVariables, length);
    const states = new Uint8Array(this.rates.length);
    states.set(this.variableState);
    this.variableState = states;
  }

  /** Starts a filling at a level below which nothing changes. Eager: no link stays passive, so none comes late. */
  begin(level: number, eager: boolean): void {
    this.level = level;
    this.eager = eager;
    this.lateNow = false;
    this.heap.clear();
  }

  /** Marks a new or altered variable as filling; call it for all of them before any `join` or `enter`. */
  activate(variable: number): void {
    this.variableState[variable] = ACTIVE;
    this.assumedRates[variable] = this.rates[variable];
    this.seenVariables[this.seenVariableCount++] = variable;
    if (this.caps[variable] !== Infinity) {
      this.heap.push(this.capacities.length + variable, this.caps[variable]);
    }
  }

  /** Lets an activated variable join the links it may change; a rate it can't exceed spares the others. */
  enter(variable: number): void {
    const { variableStart, variableSize, variableLinks, variableCoefficients } = this.matrix;
    const start = variableStart[variable];
    const end = start + variableSize[variable];
    let most = this.caps[variable];
    if (start === end) this.fix(variable, most, -1);
    let tightest = -1;
    for (let entry = start; entry < end; entry++) {
      const alone = this.capacities[variableLinks[entry]] / variableCoefficients[entry];
      if (alone >= most) continue;
      most = alone;
      tightest = variableLinks[entry];
    }
    if (tightest >= 0) this.join(tightest);
    this.expect(variable, most);
  }

  /** Joins the links on which a rise of the variable to `rate` would change anything. */
  private expect(variable: number, rate: number): void {
    const { variableStart, variableSize, variableLinks, variableCoefficients } = this.matrix;
    const start = variableStart[variable];
    const end = start + variableSize[variable];
    const assumed = this.assumedRates[variable];
    const rise = rate > assumed ? rate - assumed : 0;
    for (let entry = start; entry < end; entry++) {
      const link = variableLinks[entry];
      if (this.linkState[link] === JOINED) continue;
      if (this.limited[link] === 0 && !this.eager) {
        this.addLoad(link, variableCoefficients[entry] * rise);
        if (this.loads[link] <= this.capacities[link]) continue;
      }
      this.join(link);
    }
    this.assumedRates[variable] = assumed + rise;
  }

  private addLoad(link: number, change: number): void {
    if (this.linkState[link] === IDLE) this.seeLink(link, PASSIVE);
    this.loads[link] += change;
  }

  private seeLink(link: number, state: number): void {
    this.linkState[link] = state;
    this.loadsBefore[link] = this.loads[link];
    this.seenLinks[this.seenLinkCount++] = link;
  }

  /** Takes a link into the filling at the current level; its variables below that level keep their rates. */
  join(link: number): void {
    if (this.linkState[link] === JOINED) return;
    if (this.linkState[link] === IDLE) this.seeLink(link, JOINED);
    else this.linkState[link] = JOINED;
    const passed = this.level * (1 - 1e-9);
    const { nextRates, rates, variableState } = this;
    const { linkVariables, linkCoefficients } = this.matrix;
    const start = this.matrix.linkStart[link];
    const end = start + this.matrix.linkSize[link];
    let room = this.capacities[link];
    let weight = 0;
    let filling = 0;
    for (let place = start; place < end; place++) {
      const variable = linkVariables[place];
      const coefficient = linkCoefficients[place];
      const state = variableState[variable];
      if (state === IDLE && rates[variable] < passed) this.settle(variable);
      if (variableState[variable] === FIXED) {
        room -= coefficient * nextRates[variable];
      } else {
        weight += coefficient;
        filling++;
        if (state === IDLE) this.awaken(variable);
      }
    }
    this.room[link] = room;
    this.weight[link] = weight;
    this.filling[link] = filling;
    this.releaseAt[link] = Infinity;
    this.nextLevels[link] = this.levels[link];
    const level = room > 0 ? room / weight : 0;
    const late = filling > 0 ? level < this.level * (1 - LATE) : room < -LATE * this.capacities[link];
    if (late && !this.eager) {
      this.lateNow = true;
      this.lateLinks[this.lateCount++] = link;
    }
    if (filling === 0) return;
    if (this.limited[link] > 0 && this.levels[link] >= passed) this.releaseAt[link] = this.levels[link];
    this.heap.push(link, Math.min(level, this.releaseAt[link]));
  }

  /** Settles a variable whose old rate lies below the current level: nothing changed it on the way. */
  private settle(variable: number): void {
    this.variableState[variable] = FIXED;
    this.nextRates[variable] = this.rates[variable];
    this.nextLimits[variable] = this.limits[variable];
    this.seenVariables[this.seenVariableCount++] = variable;
  }

  /** A variable of a joined link starts to fill; the link that limited it (or its cap) will end that, if untouched. */
  private awaken(variable: number): void {
    this.variableState[variable] = ACTIVE;
    this.assumedRates[variable] = this.rates[variable];
    this.seenVariables[this.seenVariableCount++] = variable;
    if (this.caps[variable] !== Infinity) {
      this.heap.push(this.capacities.length + variable, this.caps[variable]);
    }
    const limit = this.limits[variable];
    if (limit < 0 || this.linkState[limit] === JOINED) return;
    if (this.firstQueued[limit] < 0) {
      this.queuedLinks[this.queuedLinkCount++] = limit;
      this.heap.push(limit, this.levels[limit]);
    }
    this.nextQueued[variable] = this.firstQueued[limit];
    this.firstQueued[limit] = variable;
  }

  /** Runs the filling to its end; false when a link joined too late: then `rollBack` and start over with it. */
  fill(): boolean {
    const heap = this.heap;
    const links = this.capacities.length;
    while (heap.size > 0 && !this.lateNow) {
      const item = heap.peekItem();
      const key = heap.peekLevel();
      if (item >= links) {
        heap.pop();
        if (key > this.level) this.level = key;
        const variable = item - links;
        if (this.variableState[variable] === ACTIVE) this.fix(variable, this.caps[variable], -1);
      } else if (this.linkState[item] === JOINED) {
        this.visit(item, key);
      } else {
        heap.pop();
        if (key > this.level) this.level = key;
        this.repeat(item);
      }
    }
    return !this.lateNow;
  }

  /** The top of the heap is a joined link: its entry is stale, or it releases its old variables, or it is full. */
  private visit(link: number, key: number): void {
    if (this.filling[link] === 0) {
      this.heap.pop();
      return;
    }
    const level = this.room[link] > 0 ? this.room[link] / this.weight[link] : 0;
    const releaseAt = this.releaseAt[link];
    if (releaseAt < level * (1 - SAME_RATE)) {
      if (releaseAt > key) {
        this.heap.raiseTop(releaseAt);
        return;
      }
      if (releaseAt > this.level) this.level = releaseAt;
      this.releaseAt[link] = Infinity;
      this.heap.raiseTop(level);
      this.release(link, level);
    } else if (level > key) {
      this.heap.raiseTop(level);
      if (this.heap.peekItem() === link && this.heap.peekLevel() === level) this.saturate(link, level);
    } else {
      this.saturate(link, level);
    }
  }

  /** The link is full: whatever still fills on it is fixed at this level. */
  private saturate(link: number, fullAt: number): void {
    this.heap.pop();
    const before = this.levels[link];
    // The old level, to the bit, where only rounding differs: otherwise rounding alone would travel on.
    const level = this.limited[link] > 0 && Math.abs(fullAt - before) <= SAME_RATE * before ? before : fullAt;
    if (level > this.level) this.level = level;
    this.nextLevels[link] = level;
    const start = this.matrix.linkStart[link];
    const end = start + this.matrix.linkSize[link];
    const { linkVariables } = this.matrix;
    for (let place = start; place < end; place++) {
      const variable = linkVariables[place];
      if (this.variableState[variable] === ACTIVE) this.fix(variable, level, link);
    }
  }

  /** An untouched link fills at its old level: its variables that are of interest keep their rates. */
  private repeat(link: number): void {
    for (let variable = this.firstQueued[link]; variable >= 0; variable = this.nextQueued[variable]) {
      if (this.variableState[variable] === ACTIVE) this.fix(variable, this.rates[variable], link);
    }
  }

  /** The variables this link used to limit rise past their old rates. */
  private release(link: number, level: number): void {
    const start = this.matrix.linkStart[link];
    const end = start + this.matrix.linkSize[link];
    const { linkVariables } = this.matrix;
    for (let place = start; place < end; place++) {
      const variable = linkVariables[place];
      if (this.limits[variable] !== link || this.variableState[variable] !== ACTIVE) continue;
      this.expect(variable, Math.min(level, this.caps[variable]));
    }
  }

  private fix(variable: number, level: number, limit: number): void {
    const before = this.rates[variable];
    const rate = Math.abs(level - before) <= SAME_RATE * before ? before : level;
    this.variableState[variable] = FIXED;
    this.nextRates[variable] = rate;
    this.nextLimits[variable] = limit;
    const change = rate - this.assumedRates[variable];
    const { matrix, linkState, room, weight, filling } = this;
    const { variableLinks, variableCoefficients } = matrix;
    const start = matrix.variableStart[variable];
    const end = start + matrix.variableSize[variable];
    for (let entry = start; entry < end; entry++) {
      const link = variableLinks[entry];
      const coefficient = variableCoefficients[entry];
      if (linkState[link] === JOINED) {
        room[link] -= coefficient * rate;
        weight[link] -= coefficient;
        filling[link]--;
      } else if (change !== 0) {
        this.addLoad(link, coefficient * change);
        const overfull = this.loads[link] > this.capacities[link] * (1 + SAME_RATE);
        if (overfull || (rate < before && this.limited[link] > 0)) this.join(link);
      }
    }
  }

  /** Undoes an attempt: the last solution stands. */
  rollBack(): void {
    for (let index = 0; index < this.seenLinkCount; index++) {
      const link = this.seenLinks[index];
      this.loads[link] = this.loadsBefore[link];
    }
    this.forget();
  }

  /** Makes the filling the solution. Lists variables whose rate changed in `changed`; returns how many. */
  commit(changed: Int32Array): number {
    let count = 0;
    for (let index = 0; index < this.seenVariableCount; index++) {
      const variable = this.seenVariables[index];
      const rate = this.nextRates[variable];
      const limit = this.nextLimits[variable];
      const before = this.limits[variable];
      if (limit !== before) {
        if (before >= 0) this.limited[before]--;
        if (limit >= 0) this.limited[limit]++;
        this.limits[variable] = limit;
      }
      if (rate === this.rates[variable]) continue;
      this.rates[variable] = rate;
      changed[count++] = variable;
    }
    for (let index = 0; index < this.seenLinkCount; index++) {
      const link = this.seenLinks[index];
      if (this.linkState[link] !== JOINED) continue;
      this.loads[link] = this.capacities[link] - this.room[link];
      this.levels[link] = this.nextLevels[link];
    }
    this.lateCount = 0;
    this.forget();
    return count;
  }

  private forget(): void {
    for (let index = 0; index < this.seenVariableCount; index++) {
      this.variableState[this.seenVariables[index]] = IDLE;
    }
    for (let index = 0; index < this.seenLinkCount; index++) this.linkState[this.seenLinks[index]] = IDLE;
    for (let index = 0; index < this.queuedLinkCount; index++) this.firstQueued[this.queuedLinks[index]] = -1;
    this.seenVariableCount = 0;
    this.seenLinkCount = 0;
    this.queuedLinkCount = 0;
  }
}
