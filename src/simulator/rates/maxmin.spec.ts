import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Prng } from '../../core/prng.js';
import { MaxMin } from './maxmin.js';

interface Variable {
  links: number[];
  coefficients: number[];
  cap: number;
}

/** A plain mirror of what the solver was told; from it another solver is built from scratch. */
class Mirror {
  readonly variables = new Map<number, Variable>();
  constructor(readonly capacities: Float64Array) {}

  fresh(order: number[] = [...this.variables.keys()]): { solver: MaxMin; ids: Map<number, number> } {
    const solver = new MaxMin(this.capacities);
    const ids = new Map<number, number>();
    for (const key of order) {
      const { links, coefficients, cap } = this.variables.get(key)!;
      const id = solver.add(Int32Array.from(links), Float64Array.from(coefficients));
      solver.setCap(id, cap);
      ids.set(key, id);
    }
    solver.solve();
    return { solver, ids };
  }
}

function drawVariable(random: Prng, linkCount: number): Variable {
  const count = random.below(8) === 0 ? linkCount : 1 + random.below(Math.min(6, linkCount));
  const links = random.shuffle([...Array(linkCount).keys()]).slice(0, count);
  const unequal = random.below(2) === 0;
  const coefficients = links.map(() => (unequal ? [0.0573, 1, 1.0573, 2, 7.5][random.below(5)] : 1));
  return { links, coefficients, cap: random.below(5) === 0 ? random.uniform() * 10 : Infinity };
}

/** Equal capacities on purpose in half of the runs: ties are the hard case of incremental filling. */
function drawCapacity(random: Prng, equal: boolean): number {
  if (random.below(25) === 0) return 0;
  return equal ? 12.5 : 1 + 50 * random.uniform();
}

function expectMaxMin(
  solver: MaxMin,
  mirror: Mirror,
  ids: Map<number, number> | undefined,
  where: string,
): void {
  const idOf = (key: number): number => ids?.get(key) ?? key;
  const loads = new Float64Array(mirror.capacities.length);
  const fastest = new Float64Array(mirror.capacities.length);
  for (const [key, { links, coefficients }] of mirror.variables) {
    links.forEach((link, index) => {
      loads[link] += coefficients[index] * solver.rate(idOf(key));
      fastest[link] = Math.max(fastest[link], solver.rate(idOf(key)));
    });
  }
  loads.forEach((load, link) => {
    const capacity = mirror.capacities[link];
    if (load > capacity * (1 + 1e-9))
      throw new Error(`${where}: link ${link} carries ${load} of ${capacity}`);
    if (Math.abs(load - solver.load(link)) > 1e-9 * Math.max(capacity, 1e-3)) {
      throw new Error(`${where}: load(${link}) is ${solver.load(link)}, the sum is ${load}`);
    }
  });
  for (const [key, { links, cap }] of mirror.variables) {
    const rate = solver.rate(idOf(key));
    const full = (link: number): boolean =>
      loads[link] >= mirror.capacities[link] * (1 - 1e-9) && fastest[link] <= rate * (1 + 1e-9);
    if (rate > cap) throw new Error(`${where}: variable ${key} runs at ${rate}, above its cap ${cap}`);
    const limit = solver.bottleneck(idOf(key));
    if (limit >= 0 ? !full(limit) : rate !== cap) throw new Error(`${where}: ${limit} does not limit ${key}`);
    if (limit >= 0 && !links.includes(limit)) throw new Error(`${where}: ${limit} is no link of ${key}`);
  }
}

/** One random change to solver and mirror alike; a new variable has no rate `before`. */
function step(
  random: Prng,
  solver: MaxMin,
  mirror: Mirror,
  equal: boolean,
  before: Map<number, number>,
): void {
  const keys = [...mirror.variables.keys()];
  const choice = random.below(12);
  const key = keys[random.below(keys.length)];
  if (choice < 5 || keys.length === 0) {
    const variable = drawVariable(random, mirror.capacities.length);
    const id = solver.add(Int32Array.from(variable.links), Float64Array.from(variable.coefficients));
    if (variable.cap !== Infinity) solver.setCap(id, variable.cap);
    mirror.variables.set(id, variable);
    before.delete(id);
  } else if (choice < 8) {
    solver.remove(key);
    mirror.variables.delete(key);
  } else if (choice < 9) {
    const variable = {
      ...drawVariable(random, mirror.capacities.length),
      cap: mirror.variables.get(key)!.cap,
    };
    solver.replace(key, Int32Array.from(variable.links), Float64Array.from(variable.coefficients));
    mirror.variables.set(key, variable);
  } else if (choice < 10) {
    const cap = random.below(2) === 0 ? Infinity : random.uniform() * 10;
    solver.setCap(key, cap);
    mirror.variables.get(key)!.cap = cap;
  } else {
    const link = random.below(mirror.capacities.length);
    mirror.capacities[link] = drawCapacity(random, equal);
    solver.setCapacity(link, mirror.capacities[link]);
  }
}

const seeds = fc.integer({ min: 0, max: 2 ** 31 - 1 });

describe('MaxMin', () => {
  it('is fair, feasible and equal to a solution from scratch after every change', () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 1, max: 40 }), fc.boolean(), (seed, linkCount, equal) => {
        const random = new Prng(seed);
        const mirror = new Mirror(
          Float64Array.from({ length: linkCount }, () => drawCapacity(random, equal)),
        );
        const solver = new MaxMin(mirror.capacities);
        const before = new Map<number, number>();
        for (let change = 0; change < 40; change++) {
          for (let many = random.below(3); many >= 0; many--) step(random, solver, mirror, equal, before);
          solver.solve();
          expectMaxMin(solver, mirror, undefined, `seed ${seed}, change ${change}`);
          const { solver: fresh, ids } = mirror.fresh();
          const listed = new Set(
            Array.from({ length: solver.changedCount }, (_, index) => solver.changed(index)),
          );
          for (const key of mirror.variables.keys()) {
            const rate = solver.rate(key);
            const scratch = fresh.rate(ids.get(key)!);
            if (Math.abs(rate - scratch) > 1e-9 * rate)
              throw new Error(`${key}: ${rate}, from scratch ${scratch}`);
            if (before.has(key) && before.get(key) !== rate && !listed.has(key)) {
              throw new Error(`${key} went from ${before.get(key)} to ${rate} and is not listed`);
            }
          }
          expect([...listed].filter((id) => !mirror.variables.has(id))).toEqual([]);
          before.clear();
          for (const key of mirror.variables.keys()) before.set(key, solver.rate(key));
        }
      }),
      { numRuns: 100 },
    );
  });

  it('does not depend on the order in which variables were added', () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 1, max: 30 }), fc.boolean(), (seed, linkCount, equal) => {
        const random = new Prng(seed);
        const mirror = new Mirror(
          Float64Array.from({ length: linkCount }, () => drawCapacity(random, equal)),
        );
        for (let key = 0; key < 40; key++) mirror.variables.set(key, drawVariable(random, linkCount));
        const forward = mirror.fresh();
        const shuffled = mirror.fresh(random.shuffle([...mirror.variables.keys()]));
        expectMaxMin(forward.solver, mirror, forward.ids, `seed ${seed}`);
        for (const key of mirror.variables.keys()) {
          const rate = forward.solver.rate(forward.ids.get(key)!);
          expect(Math.abs(shuffled.solver.rate(shuffled.ids.get(key)!) - rate)).toBeLessThanOrEqual(
            1e-9 * rate,
          );
        }
      }),
    );
  });

  it('re-solves a frozen variable whose full link now has a faster one on it', () => {
    // A: 10, shared by a and b; B: 10, shared by b and c. Widening A lets b rise, so that c must give way.
    const solver = new MaxMin(Float64Array.of(4, 10));
    const a = solver.add(Int32Array.of(0), Float64Array.of(1));
    const b = solver.add(Int32Array.of(0, 1), Float64Array.of(1, 1));
    const c = solver.add(Int32Array.of(1), Float64Array.of(1));
    solver.solve();
    expect([a, b, c].map((id) => solver.rate(id))).toEqual([2, 2, 8]);
    solver.setCapacity(0, 20);
    solver.solve();
    expect([a, b, c].map((id) => solver.rate(id))).toEqual([15, 5, 5]);
    expect(solver.bottleneck(c)).toBe(1);
  });

  it('stays exact when ever more links turn out to limit, and gives up guessing then', () => {
    // On link 0: 20 variables that link 1 will hold at 1.5, and 127 with a private link each. When link 0 is widened,
    // what the held ones leave overfills half of the private links, what those leave half of the rest, and so on.
    const [held, narrow] = [20, 127];
    const links = held + narrow;
    const capacities = [links, held * 1.5];
    let [free, left, level] = [3 * links - held * 1.5, narrow, 3];
    while (left > 0) {
      const next = free / left;
      const wave = Math.ceil(left / 2);
      const capacity = level + 0.1 * (next - level);
      for (let index = 0; index < wave; index++) capacities.push(capacity);
      [free, left, level] = [free - wave * capacity, left - wave, next];
    }
    const mirror = new Mirror(Float64Array.from(capacities));
    const solver = new MaxMin(mirror.capacities);
    for (let index = 0; index < links; index++) {
      const variable = {
        links: [0, index < held ? 1 : 2 + index - held],
        coefficients: [1, 1],
        cap: Infinity,
      };
      mirror.variables.set(solver.add(Int32Array.from(variable.links), Float64Array.of(1, 1)), variable);
    }
    solver.solve();
    mirror.capacities[0] = 3 * links;
    solver.setCapacity(0, 3 * links);
    solver.solve();
    expectMaxMin(solver, mirror, undefined, 'widened');
    const { solver: fresh, ids } = mirror.fresh();
    for (const key of mirror.variables.keys()) {
      expect(solver.rate(key) / fresh.rate(ids.get(key)!)).toBeCloseTo(1, 9);
    }
    expect(solver.attempts).toBe(7);
  });

  it('reports nothing and touches nothing when a variable leaves links that limit nobody', () => {
    const solver = new MaxMin(Float64Array.of(4, 10));
    const both = solver.add(Int32Array.of(0, 1), Float64Array.of(1, 1));
    const capped = solver.add(Int32Array.of(1), Float64Array.of(1));
    solver.setCap(capped, 1);
    solver.solve();
    expect(solver.changedCount).toBe(2);
    solver.remove(capped);
    solver.solve();
    expect(solver.changedCount).toBe(0);
    expect(solver.rate(both)).toBe(4);
    expect(solver.load(1)).toBe(4);
  });

  it('stops the variables of a dead link, and starts them again at the same rates', () => {
    const solver = new MaxMin(Float64Array.of(12.5, 12.5));
    const ring = solver.add(Int32Array.of(0, 1), Float64Array.of(1.06, 1.06));
    const other = solver.add(Int32Array.of(1), Float64Array.of(1));
    solver.solve();
    const before = [solver.rate(ring), solver.rate(other)];
    solver.setCapacity(0, 0);
    solver.solve();
    expect([solver.rate(ring), solver.rate(other)]).toEqual([0, 12.5]);
    solver.setCapacity(0, 12.5);
    solver.solve();
    expect([solver.rate(ring), solver.rate(other)]).toEqual(before);
  });

  it('lists a replaced variable that came to rest, and one without links runs at its cap', () => {
    const solver = new MaxMin(Float64Array.of(0, 10));
    const id = solver.add(Int32Array.of(1), Float64Array.of(1));
    solver.solve();
    solver.replace(id, Int32Array.of(0), Float64Array.of(1));
    solver.solve();
    expect([solver.changedCount, solver.changed(0), solver.rate(id)]).toEqual([1, id, 0]);
    const free = solver.add(new Int32Array(0), new Float64Array(0));
    solver.setCap(free, 3);
    solver.solve();
    expect([solver.rate(free), solver.bottleneck(free)]).toEqual([3, -1]);
  });

  it('uses the ids of removed variables again, also before they were ever solved', () => {
    const solver = new MaxMin(Float64Array.of(10));
    const first = solver.add(Int32Array.of(0), Float64Array.of(1));
    solver.remove(first);
    const second = solver.add(Int32Array.of(0), Float64Array.of(2));
    expect(second).toBe(first);
    solver.solve();
    expect([solver.rate(second), solver.load(0), solver.changedCount]).toEqual([5, 10, 1]);
  });

  it('refuses links, coefficients, capacities and ids that can not be', () => {
    const solver = new MaxMin(Float64Array.of(10));
    expect(() => solver.add(Int32Array.of(1), Float64Array.of(1))).toThrow('no link 1');
    expect(() => solver.add(Int32Array.of(0), Float64Array.of(0))).toThrow('coefficient');
    expect(() => solver.setCapacity(0, NaN)).toThrow('capacity of link 0');
    expect(() => solver.setCapacity(3, 1)).toThrow('no link 3');
    expect(() => solver.remove(0)).toThrow('no variable 0');
    expect(() => new MaxMin(Float64Array.of(Infinity))).toThrow('capacity');
  });
});
