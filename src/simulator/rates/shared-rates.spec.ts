import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Prng } from '../../core/prng.js';
import { MaxMin } from './maxmin.js';
import { SharedRates } from './shared-rates.js';

const LINKS = 14;

interface Kind {
  links: Int32Array;
  coefficients: Float64Array;
}

interface Known {
  kind: Kind;
  cap: number;
}

/** Kinds of flows that come again and again, over links that make several domains. */
function drawKinds(random: Prng, count: number): Kind[] {
  return Array.from({ length: count }, () => {
    const half = random.below(3) === 0 ? 0 : (LINKS / 2) * random.below(2);
    const within = half === 0 && random.below(4) === 0 ? LINKS : LINKS / 2;
    const links = random.shuffle([...Array(within).keys()]).slice(0, 1 + random.below(4));
    return {
      links: Int32Array.from(links, (link) => (link + half) % LINKS),
      coefficients: Float64Array.from(links, () => [0.0573, 1, 1, 2][random.below(4)]),
    };
  });
}

/** What was told to the solvers, and what they answer. */
class Scene {
  readonly capacities: Float64Array;
  readonly known = new Map<number, Known>();
  readonly told: SharedRates[];
  private readonly kinds: Kind[];

  constructor(
    private readonly random: Prng,
    mostPatterns: number,
  ) {
    this.capacities = Float64Array.from({ length: LINKS }, () => 5 + 40 * random.uniform());
    this.kinds = drawKinds(random, 12);
    this.told = [true, false].map((reuse) => new SharedRates(this.capacities, { reuse, mostPatterns }));
  }

  step(): void {
    const { random, known, told } = this;
    const kind = this.kinds[random.below(this.kinds.length)];
    const ids = [...known.keys()];
    const id = ids[random.below(Math.max(1, ids.length))];
    switch (ids.length === 0 ? 0 : random.below(7)) {
      case 3:
      case 4:
        for (const one of told) one.remove(id);
        known.delete(id);
        return;
      case 5: {
        for (const one of told) one.replace(id, kind.links, kind.coefficients);
        known.set(id, { kind, cap: known.get(id)!.cap });
        return;
      }
      case 6: {
        if (random.below(3) === 0) return this.turn();
        const cap = random.below(2) === 0 ? Infinity : 3 * random.uniform();
        for (const one of told) one.setCap(id, cap);
        known.set(id, { kind: known.get(id)!.kind, cap });
        return;
      }
      default: {
        const [added] = told.map((one) => one.add(kind.links, kind.coefficients));
        known.set(added, { kind, cap: Infinity });
      }
    }
  }

  private turn(): void {
    const link = this.random.below(LINKS);
    this.capacities[link] = this.random.below(4) === 0 ? 0 : 5 + 40 * this.random.uniform();
    for (const one of this.told) one.setCapacity(link, this.capacities[link]);
  }

  /** Rates by a solver that knows nothing but what is there now. */
  anew(): Map<number, number> {
    const solver = new MaxMin(this.capacities);
    const ids = [...this.known].map(([id, { kind, cap }]) => {
      const fresh = solver.add(kind.links, kind.coefficients);
      solver.setCap(fresh, cap);
      return [id, fresh] as const;
    });
    solver.solve();
    return new Map(ids.map(([id, fresh]) => [id, solver.rate(fresh)]));
  }
}

describe.each([
  ['a domain that remembers', 1000],
  ['domains that outgrow their memory on the way', 5],
])('rates of %s', (_, mostPatterns) => {
  it('are the max-min rates, whatever happened before', () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const scene = new Scene(new Prng(seed), mostPatterns);
        const last = new Map<number, number>();
        for (let round = 0; round < 60; round++) {
          scene.step();
          const [solver] = scene.told;
          solver.solve();
          for (let at = 0; at < solver.changedCount; at++) {
            last.set(solver.changed(at), solver.rate(solver.changed(at)));
          }
          const loads = new Float64Array(LINKS);
          const wrong: unknown[] = [];
          for (const [id, rate] of scene.anew()) {
            const told = solver.rate(id);
            if (Math.abs(told - rate) > 1e-9 * Math.max(1e-3, rate)) wrong.push({ id, told, rate });
            if (rate > 0 && Math.abs(last.get(id)! / told - 1) > 1e-11)
              wrong.push({ id, told, changed: last.get(id) });
            const { links, coefficients } = scene.known.get(id)!.kind;
            links.forEach((link, at) => (loads[link] += coefficients[at] * rate));
          }
          loads.forEach((load, link) => {
            if (Math.abs(solver.load(link) - load) > 1e-6)
              wrong.push({ link, load, told: solver.load(link) });
          });
          expect(wrong).toEqual([]);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('are the same bits, changed in the same order, when nothing is looked up', () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const scene = new Scene(new Prng(seed), mostPatterns);
        for (let round = 0; round < 80; round++) {
          scene.step();
          const [reusing, anew] = scene.told.map((solver) => {
            solver.solve();
            const changed = Array.from({ length: solver.changedCount }, (__, at) => solver.changed(at));
            return changed.map((id) => [id, solver.rate(id)]);
          });
          expect(reusing).toEqual(anew);
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe('shared rates', () => {
  it('refuse links, capacities and caps that are none', () => {
    const rates = new SharedRates(Float64Array.of(1));
    expect(() => rates.add(Int32Array.of(1), Float64Array.of(1))).toThrow('no link 1');
    expect(() => rates.setCapacity(0, Infinity)).toThrow('capacity of link 0');
    const id = rates.add(Int32Array.of(0), Float64Array.of(1));
    expect(() => rates.setCap(id, NaN)).toThrow('a cap must be >= 0');
  });

  it('tell which flows compete, directly or through others', () => {
    const rates = new SharedRates(Float64Array.of(1, 1, 1), { mostPatterns: 3 });
    const add = (...links: number[]): number =>
      rates.add(Int32Array.from(links), new Float64Array(links.length).fill(1));
    const [one, other, third] = [add(0), add(1), add(2)];
    expect(new Set([one, other, third].map((id) => rates.domain(id))).size).toBe(3);
    add(0, 1);
    expect(rates.domain(one)).toBe(rates.domain(other));
    expect(rates.domain(third)).not.toBe(rates.domain(one));
    add(0, 2);
    expect([one, other, third].map((id) => rates.domain(id))).toEqual([0, 0, 0]);
  });

  it('give a flow without links its cap', () => {
    const rates = new SharedRates(Float64Array.of(1));
    const id = rates.add(new Int32Array(0), new Float64Array(0));
    rates.solve();
    expect(rates.rate(id)).toBe(Infinity);
    rates.setCap(id, 3);
    rates.solve();
    expect(rates.rate(id)).toBe(3);
  });
});
