import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { hashText, mix32, Prng } from './prng.js';

const seeds = fc.oneof(fc.maxSafeInteger(), fc.constantFrom(0, -1, 1, 2 ** 32, Number.MAX_SAFE_INTEGER));
const draws = (random: Prng, count = 8): number[] => Array.from({ length: count }, () => random.next32());

/** The generator once more, with big integers and the words of its author's reference. */
function reference(seed: number): () => number {
  const word = (value: bigint): bigint => BigInt.asUintN(32, value);
  const low = BigInt(seed >>> 0);
  const high = BigInt(Math.floor(seed / 2 ** 32));
  let a = BigInt(mix32(Number(low)));
  let b = BigInt(mix32(Number(BigInt.asIntN(32, high ^ 0x9e3779b9n))));
  let c = BigInt(mix32(Number(BigInt.asIntN(32, a ^ b ^ 0x243f6a88n))));
  let counter = 1n;
  const next = (): number => {
    const sum = word(a + b + counter);
    counter = word(counter + 1n);
    a = b ^ (b >> 9n);
    b = word(c + (c << 3n));
    c = word(word((c << 21n) | (c >> 11n)) + sum);
    return Number(sum);
  };
  for (let round = 0; round < 12; round++) next();
  return next;
}

describe('a seeded stream', () => {
  it('is sfc32, whatever the seed', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const next = reference(seed);
        expect(draws(new Prng(seed), 20)).toEqual(Array.from({ length: 20 }, next));
      }),
    );
  });

  it('depends on every part of the seed', () => {
    fc.assert(
      fc.property(seeds, seeds, (one, other) => {
        fc.pre(one !== other);
        expect(draws(new Prng(one))).not.toEqual(draws(new Prng(other)));
      }),
    );
  });

  it('gives sub-streams that depend on seed and name, not on what was drawn before', () => {
    fc.assert(
      fc.property(seeds, fc.string(), fc.string(), fc.nat({ max: 20 }), (seed, name, other, drawn) => {
        const random = new Prng(seed);
        const first = draws(random.stream(name));
        draws(random, drawn);
        expect(draws(random.stream(name))).toEqual(first);
        if (name !== other) expect(draws(random.stream(other))).not.toEqual(first);
        expect(draws(new Prng(seed))).not.toEqual(first);
      }),
    );
  });

  it('draws within bounds', () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 1, max: 1e6 }), (seed, bound) => {
        const random = new Prng(seed);
        for (let draw = 0; draw < 20; draw++) {
          const uniform = random.uniform();
          expect(uniform >= 0 && uniform < 1).toBe(true);
          const below = random.below(bound);
          expect(Number.isInteger(below) && below >= 0 && below < bound).toBe(true);
          expect(random.exponential(3)).toBeGreaterThanOrEqual(0);
          expect(Number.isFinite(random.normal())).toBe(true);
        }
      }),
    );
  });

  it('shuffles to a permutation and leaves the original alone', () => {
    fc.assert(
      fc.property(seeds, fc.array(fc.integer()), (seed, items) => {
        const copy = [...items];
        const shuffled = new Prng(seed).shuffle(items);
        expect(items).toEqual(copy);
        const byValue = (a: number, b: number): number => a - b;
        expect([...shuffled].sort(byValue)).toEqual([...items].sort(byValue));
      }),
    );
  });
});

describe('the distributions', () => {
  const count = 40_000;
  const sample = (draw: (random: Prng) => number): { mean: number; variance: number } => {
    const random = new Prng(20_261_129);
    const values = Array.from({ length: count }, () => draw(random));
    const mean = values.reduce((sum, value) => sum + value, 0) / count;
    return { mean, variance: values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / count };
  };

  // Bounds are five standard errors of the mean.
  it.each([
    ['uniform', (random: Prng) => random.uniform(), 1 / 2, 1 / 12],
    ['normal', (random: Prng) => random.normal(), 0, 1],
    ['exponential', (random: Prng) => random.exponential(2), 2, 4],
    ['below', (random: Prng) => random.below(6), 2.5, 35 / 12],
  ])('%s has its mean and variance', (_, draw, mean, variance) => {
    const found = sample(draw);
    expect(Math.abs(found.mean - mean)).toBeLessThan(5 * Math.sqrt(variance / count));
    expect(Math.abs(found.variance / variance - 1)).toBeLessThan(0.08);
  });
});

describe('hashes', () => {
  it('are unsigned 32-bit numbers, and mix32 loses nothing', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(), (text, seed) => {
        const hash = hashText(text, seed);
        expect(hash).toBe(hash >>> 0);
      }),
    );
    // a bijection: undone by the inverse steps of the murmur3 finaliser
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), (value) => {
        let hash = mix32(value);
        hash = Math.imul(hash ^ (hash >>> 16), 0x7ed1b41d);
        hash = Math.imul(hash ^ (hash >>> 13) ^ (hash >>> 26), 0xa5cb9243);
        expect((hash ^ (hash >>> 16)) >>> 0).toBe(value);
      }),
    );
  });
});
