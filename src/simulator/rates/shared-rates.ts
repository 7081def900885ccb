/**
 * Max-min rates of all flows, at the price of what is new: the solver of the flow engine.
 *
 * Flows are sorted into domains, sets of patterns that share links directly or through others; flows inside a host are
 * a domain each, the rings of one rail another. A domain of few patterns remembers its rates by the set of active ones
 * (domain.ts), so that a step which repeats the last one costs look-ups. One of many, such as an all-to-all, is handed
 * to the incremental solver (maxmin.ts) for good, since its sets hardly ever come back. Which way a flow goes depends
 * on the history of flows only, never on what is remembered.
 */
import { Domain, type Pattern } from './domain.js';
import { SAME_RATE } from './filling.js';
import { MaxMin } from './maxmin.js';

export interface SharedRatesOptions {
  /** False works everything out anew, for the test that looking up changes nothing. */
  reuse?: boolean;
  /** A domain with more patterns goes to the incremental solver. */
  mostPatterns?: number;
}

export class SharedRates {
  private readonly capacities: Float64Array;
  private readonly patternsOf = new WeakMap<Int32Array, Pattern[]>();
  /** By link: the domain of the patterns on it. */
  private readonly domainOf: (Domain | undefined)[];
  private readonly freeIds: number[] = [];
  /** By variable: its pattern, undefined for a free id; its id in the incremental solver, or -1. */
  private readonly patternOf: (Pattern | undefined)[] = [];
  /** By variable: its rate, a function of what is active alone; and the rate last said to have changed. */
  private readonly rates: number[] = [];
  private readonly toldRates: number[] = [];
  private readonly innerIds: number[] = [];
  private readonly outerIds: number[] = [];
  private domains = 1;
  private readonly dirty: Domain[] = [];
  private readonly changedIds: number[] = [];
  private inner?: MaxMin;
  /** Variables that entered the incremental solver since the last `solve`. */
  private readonly movedIds: number[] = [];
  private readonly reuse: boolean;
  private readonly mostPatterns: number;

  /** @param capacities bytes/ns per link direction, finite and >= 0; copied */
  constructor(capacities: Float64Array, { reuse = true, mostPatterns = 96 }: SharedRatesOptions = {}) {
    this.reuse = reuse;
    this.mostPatterns = mostPatterns;
    this.capacities = Float64Array.from(capacities);
    this.domainOf = new Array<undefined>(capacities.length).fill(undefined);
  }

  /**
   * Adds a variable and returns its id; ids of removed variables are used again. Its rate is 0 until `solve`.
   *
   * @param links link numbers, each at most once; neither array may change afterwards
   * @param coefficients bytes consumed on that link per byte of rate, finite and > 0
   */
  add(links: Int32Array, coefficients: Float64Array, count = links.length): number {
    const id = this.freeIds.pop() ?? this.patternOf.length;
    this.rates[id] = this.toldRates[id] = 0;
    this.innerIds[id] = -1;
    this.enter(id, this.pattern(links, coefficients, count, Infinity));
    return id;
  }

  /** Removes a variable; the rates of the others follow with the next `solve`. */
  remove(id: number): void {
    this.leave(id);
    this.patternOf[id] = undefined;
    this.freeIds.push(id);
  }

  /** Gives a variable other links; its cap stays. */
  replace(id: number, links: Int32Array, coefficients: Float64Array, count = links.length): void {
    const { cap } = this.patternOf[id]!;
    this.leave(id);
    this.enter(id, this.pattern(links, coefficients, count, cap));
  }

  /** Limits a variable's rate, bytes/ns; Infinity lifts the cap. */
  setCap(id: number, cap: number): void {
    if (!(cap >= 0)) throw new RangeError(`a cap must be >= 0, not ${cap}`);
    const pattern = this.patternOf[id]!;
    if (pattern.cap === cap) return;
    this.leave(id);
    this.enter(id, this.pattern(pattern.links, pattern.coefficients, pattern.count, cap));
  }

  /** Sets a link's capacity, bytes/ns; with 0 its variables stand still. */
  setCapacity(link: number, value: number): void {
    if (!(value >= 0 && value < Infinity)) throw new RangeError(`capacity of link ${link} is ${value}`);
    if (this.capacities[link] === value) return;
    this.capacities[link] = value;
    this.inner?.setCapacity(link, value);
    const domain = this.domainOf[link];
    if (domain === undefined || domain.large) return;
    domain.forget();
    this.touch(domain);
  }

  /** Brings all rates up to date with the changes since the last call. */
  solve(): void {
    this.changedIds.length = 0;
    for (const domain of this.dirty) {
      domain.dirty = false;
      if (domain.large || domain.patterns.length === 0) continue;
      const rates = domain.rates(this.capacities, this.reuse);
      for (const { variables, place } of domain.patterns) {
        for (const id of variables) this.take(id, rates[place]);
      }
    }
    this.dirty.length = 0;
    const { inner } = this;
    if (inner === undefined) return;
    inner.solve();
    for (let index = 0; index < inner.changedCount; index++) {
      this.take(this.outerIds[inner.changed(index)], inner.rate(inner.changed(index)));
    }
    // One that came to rest there is no change to the incremental solver, which knew nothing of its rate before.
    for (const id of this.movedIds) {
      if (this.innerIds[id] >= 0) this.take(id, inner.rate(this.innerIds[id]));
    }
    this.movedIds.length = 0;
  }

  /** How many variables have another rate than when they were last listed here (by more than a relative 1e-12). */
  get changedCount(): number {
    return this.changedIds.length;
  }

  /** Id of one of them, `index` in [0, changedCount); the order is the same in every run. */
  changed(index: number): number {
    return this.changedIds[index];
  }

  /** Rate after the last `solve`, bytes/ns; Infinity for a variable without links and cap. */
  rate(id: number): number {
    return this.rates[id];
  }

  /**
   * Number of the domain that the variable competes in; flows of different ones have no link in common, not even
   * through others. It changes when domains meet. All that the incremental solver has is one domain, 0.
   */
  domain(id: number): number {
    const { domain } = this.patternOf[id]!;
    return domain.large ? 0 : domain.id;
  }

  /** Bytes/ns the link can carry. */
  capacity(link: number): number {
    return this.capacities[link];
  }

  /** Bytes/ns consumed on a link: the sum of coefficient · rate over its variables. */
  load(link: number): number {
    return this.loadAt(link, (id) => this.rates[id]);
  }

  /** Sum of the coefficients on a link. */
  weight(link: number): number {
    return this.loadAt(link, () => 1);
  }

  /** Adds up coefficient · rate over a link's variables, at other rates than those of the last solve. */
  loadAt(link: number, rateOf: (id: number) => number): number {
    const domain = this.domainOf[link];
    if (domain === undefined) return 0;
    if (domain.large) return this.inner!.loadAt(link, (innerId) => rateOf(this.outerIds[innerId]));
    let load = 0;
    for (const { place, coefficient } of domain.usersOf(link)) {
      for (const id of domain.patterns[place].variables) load += coefficient * rateOf(id);
    }
    return load;
  }

  private take(id: number, rate: number): void {
    this.rates[id] = rate;
    const told = this.toldRates[id];
    if (rate === told || Math.abs(rate - told) <= SAME_RATE * Math.min(rate, told)) return;
    this.toldRates[id] = rate;
    this.changedIds.push(id);
  }

  private enter(id: number, pattern: Pattern): void {
    this.patternOf[id] = pattern;
    pattern.variables.push(id);
    if (pattern.domain.large) this.enterLarge(id, pattern);
    else this.touch(pattern.domain);
  }

  private leave(id: number): void {
    const { variables, domain } = this.patternOf[id]!;
    const at = variables.indexOf(id);
    variables[at] = variables[variables.length - 1];
    variables.pop();
    if (this.innerIds[id] >= 0) {
      this.inner!.remove(this.innerIds[id]);
      this.innerIds[id] = -1;
    } else this.touch(domain);
  }

  private enterLarge(id: number, { links, coefficients, count, cap }: Pattern): void {
    this.inner ??= new MaxMin(this.capacities);
    const innerId = this.inner.add(links, coefficients, count);
    if (cap < Infinity) this.inner.setCap(innerId, cap);
    this.innerIds[id] = innerId;
    this.outerIds[innerId] = id;
    this.movedIds.push(id);
  }

  private touch(domain: Domain): void {
    if (domain.dirty) return;
    domain.dirty = true;
    this.dirty.push(domain);
  }

  /** The pattern of these arrays and cap; one with equal content is the same. */
  private pattern(links: Int32Array, coefficients: Float64Array, count: number, cap: number): Pattern {
    let known = this.patternsOf.get(links);
    if (known === undefined) this.patternsOf.set(links, (known = []));
    for (const one of known) {
      if (one.cap === cap && one.count === count && one.coefficients === coefficients) return one;
    }
    const domain = this.domainFor(links, count);
    let pattern = domain.patterns.find((one) => alike(one, links, coefficients, count, cap));
    if (pattern === undefined) {
      pattern = { links, coefficients, count, cap, domain, place: -1, variables: [] };
      if (!domain.large) domain.add(pattern);
      if (domain.patterns.length > this.mostPatterns) this.enlarge(domain);
    }
    known.push(pattern);
    return pattern;
  }

  /** A domain that all these links are in, or in which it no longer matters; small ones that meet here become one. */
  private domainFor(links: Int32Array, count: number): Domain {
    const met = new Set<Domain>();
    for (let at = 0; at < count; at++) {
      const link = links[at];
      if (!(link >= 0 && link < this.domainOf.length)) throw new RangeError(`no link ${link}`);
      const domain = this.domainOf[link];
      if (domain !== undefined) met.add(domain);
    }
    const large = [...met].find((domain) => domain.large);
    const [domain, ...others] = large === undefined ? [...met] : [large, ...met];
    const one = domain ?? new Domain(this.domains++);
    for (const other of others) {
      if (other.large) continue;
      if (large === undefined) this.merge(one, other);
      else this.enlarge(other);
    }
    for (let at = 0; at < count; at++) this.domainOf[links[at]] = one;
    return one;
  }

  private merge(domain: Domain, other: Domain): void {
    domain.forget();
    for (const pattern of other.patterns) {
      for (let at = 0; at < pattern.count; at++) this.domainOf[pattern.links[at]] = domain;
      domain.add(pattern);
    }
    other.patterns.length = 0;
    this.touch(domain);
  }

  /** Moves all variables of a domain to the incremental solver, which takes all its links as one. */
  private enlarge(domain: Domain): void {
    domain.large = true;
    domain.forget();
    for (const pattern of domain.patterns) {
      for (const id of pattern.variables) this.enterLarge(id, pattern);
    }
    domain.patterns.length = 0;
  }
}

function alike(
  one: Pattern,
  links: Int32Array,
  coefficients: Float64Array,
  count: number,
  cap: number,
): boolean {
  if (one.count !== count || one.cap !== cap) return false;
  for (let at = 0; at < count; at++) {
    if (one.links[at] !== links[at] || one.coefficients[at] !== coefficients[at]) return false;
  }
  return true;
}
