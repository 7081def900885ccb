/**
 * Flows that may compete: a domain of flow patterns connected by shared links, and its max-min rates by what is active.
 *
 * A training step starts and ends the same few collectives over and over, so a domain sees the same sets of active
 * patterns again and again. Its rates are a function of that set alone, worked out from scratch by progressive filling
 * (Bertsekas and Gallager, Data Networks, section 6.5.2) and remembered: what repeats is looked up, and gives the same
 * bits as working it out anew. Links that carry the same patterns in the same measure are one constraint, that of the
 * smallest, so a ring of a thousand links is one or two.
 * Not modelled here: domains of many patterns (all-to-all), which shared-rates.ts hands to the incremental solver.
 */

/** What a flow puts on its links. Two flows with the same arrays and cap are the same pattern. */
export interface Pattern {
  readonly links: Int32Array;
  readonly coefficients: Float64Array;
  readonly count: number;
  /** Most that its rate can be. */
  readonly cap: number;
  domain: Domain;
  /** Position in the domain. */
  place: number;
  /** Variables that run in this pattern. */
  readonly variables: number[];
}

/** Links with the same patterns in the same measure, by place in the domain. */
interface Constraint {
  places: number[];
  coefficients: number[];
  capacity: number;
}

/** A pattern on a link. */
interface User {
  place: number;
  coefficient: number;
}

/** Sets remembered before all are forgotten: bounds memory where sets do not come back. */
const MOST_REMEMBERED = 4096;
/** Rates this close to the level are at it. */
const SAME_LEVEL = 1e-12;

export class Domain {
  readonly patterns: Pattern[] = [];
  /** Something has changed since the last solve. */
  dirty = false;
  /** Its variables are in the incremental solver, and its patterns are no longer listed. */
  large = false;
  private constraints?: Constraint[];
  private readonly remembered = new Map<string, Float64Array>();
  private readonly users = new Map<number, User[]>();

  constructor(readonly id: number) {}

  /** Takes a pattern in; what is remembered of other sets stays true. */
  add(pattern: Pattern): void {
    pattern.domain = this;
    pattern.place = this.patterns.push(pattern) - 1;
    this.constraints = undefined;
    this.users.clear();
  }

  /** The patterns have other neighbours, or their links other capacities. */
  forget(): void {
    this.constraints = undefined;
    this.users.clear();
    this.remembered.clear();
  }

  /** The patterns that load a link, active or not. */
  usersOf(link: number): readonly User[] {
    let users = this.users.get(link);
    if (users === undefined) {
      users = this.patterns.flatMap(({ links, coefficients, count, place }) => {
        const at = links.indexOf(link);
        return at >= 0 && at < count ? [{ place, coefficient: coefficients[at] }] : [];
      });
      this.users.set(link, users);
    }
    return users;
  }

  /** Rates of one variable of each pattern, by place; 0 for a pattern that is not active. */
  rates(capacities: Float64Array, reuse: boolean): Float64Array {
    const key = this.activeSet();
    let rates = reuse ? this.remembered.get(key) : undefined;
    if (rates === undefined) {
      rates = this.fill(capacities);
      if (this.remembered.size >= MOST_REMEMBERED) this.remembered.clear();
      this.remembered.set(key, rates);
    }
    return rates;
  }

  /** How many variables run in each pattern, up to the last that has any. */
  private activeSet(): string {
    let key = '';
    let zeros = '';
    for (const { variables } of this.patterns) {
      if (variables.length === 0) {
        zeros += '\0';
        continue;
      }
      key += zeros + String.fromCharCode(variables.length);
      zeros = '';
    }
    return key;
  }

  private fill(capacities: Float64Array): Float64Array {
    const { patterns } = this;
    const constraints = (this.constraints ??= constraintsOf(patterns, capacities));
    const rates = new Float64Array(patterns.length);
    const filling = new Set<number>();
    for (const { place, variables } of patterns) if (variables.length > 0) filling.add(place);
    while (filling.size > 0) {
      let level = Infinity;
      for (const place of filling) level = Math.min(level, patterns[place].cap);
      const fullAt = constraints.map((constraint) => this.fullAt(constraint, rates, filling));
      for (const at of fullAt) level = Math.min(level, at);
      const stop = level * (1 + SAME_LEVEL);
      const fixed = new Set<number>();
      for (const place of filling) if (patterns[place].cap <= stop) fixed.add(place);
      constraints.forEach(({ places }, at) => {
        if (fullAt[at] > stop) return;
        for (const place of places) if (filling.has(place)) fixed.add(place);
      });
      for (const place of fixed) {
        rates[place] = Math.min(level, patterns[place].cap);
        filling.delete(place);
      }
    }
    return rates;
  }

  /** Level at which a constraint is full, Infinity when nothing on it fills. */
  private fullAt(
    { places, coefficients, capacity }: Constraint,
    rates: Float64Array,
    filling: Set<number>,
  ): number {
    let room = capacity;
    let weight = 0;
    for (let at = 0; at < places.length; at++) {
      const amount = coefficients[at] * this.patterns[places[at]].variables.length;
      if (filling.has(places[at])) weight += amount;
      else room -= amount * rates[places[at]];
    }
    if (weight === 0) return Infinity;
    return Math.max(0, room) / weight;
  }
}

/** Links of all patterns, those with equal columns merged. */
function constraintsOf(patterns: readonly Pattern[], capacities: Float64Array): Constraint[] {
  const columns = new Map<number, { places: number[]; coefficients: number[] }>();
  for (const { links, coefficients, count, place } of patterns) {
    for (let at = 0; at < count; at++) {
      let column = columns.get(links[at]);
      if (column === undefined) columns.set(links[at], (column = { places: [], coefficients: [] }));
      column.places.push(place);
      column.coefficients.push(coefficients[at]);
    }
  }
  const merged = new Map<string, Constraint>();
  for (const [link, { places, coefficients }] of columns) {
    const key = `${places.join()}:${coefficients.join()}`;
    const known = merged.get(key);
    if (known === undefined) merged.set(key, { places, coefficients, capacity: capacities[link] });
    else known.capacity = Math.min(known.capacity, capacities[link]);
  }
  return [...merged.values()];
}
