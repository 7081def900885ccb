/**
 * Seeded randomness: one seed per run draws everything.
 *
 * Generator: sfc32 (Chris Doty-Humphrey, PractRand), 32-bit integer arithmetic only, so that every platform gives
 * the same stream. Named sub-streams (`stream('telemetry')`) keep one consumer's draws from shifting another's.
 * Not for cryptography.
 */

// A module constant is read faster than a global where tests run in a sandbox.
const { imul } = Math;

/** A 32-bit hash of a text (FNV-1a with the murmur3 finaliser). */
export function hashText(text: string, seed = 0): number {
  let hash = (0x811c9dc5 ^ seed) >>> 0;
  for (let index = 0; index < text.length; index++) {
    hash = imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  }
  return mix32(hash);
}

/** The murmur3 finaliser: every input bit reaches every output bit. */
export function mix32(value: number): number {
  let hash = value >>> 0;
  hash = imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** A seeded stream of random numbers. */
export class Prng {
  private a: number;
  private b: number;
  private c: number;
  private counter = 1;

  /** @param seed any safe integer, 0 and negatives included */
  constructor(private readonly seed: number) {
    this.a = mix32(seed >>> 0);
    this.b = mix32(Math.floor(seed / 0x100000000) ^ 0x9e3779b9);
    this.c = mix32(this.a ^ this.b ^ 0x243f6a88);
    for (let round = 0; round < 12; round++) this.next32();
  }

  /** An independent stream that depends on this stream's seed and on `name`, not on what was drawn so far. */
  stream(name: string): Prng {
    const low = hashText(name, this.seed >>> 0);
    const high = hashText(name, mix32(low ^ Math.floor(this.seed / 0x100000000))) >>> 11;
    return new Prng(high * 0x100000000 + low);
  }

  /** A uniform unsigned 32-bit integer. */
  next32(): number {
    const sum = (this.a + this.b + this.counter) >>> 0;
    this.counter = (this.counter + 1) >>> 0;
    this.a = (this.b ^ (this.b >>> 9)) >>> 0;
    this.b = (this.c + (this.c << 3)) >>> 0;
    this.c = (((this.c << 21) | (this.c >>> 11)) + sum) >>> 0;
    return sum;
  }

  /** Uniform in [0, 1) with 53 bits. */
  uniform(): number {
    return ((this.next32() >>> 5) * 0x4000000 + (this.next32() >>> 6)) / 0x20000000000000;
  }

  /** Uniform integer in [0, bound). */
  below(bound: number): number {
    return Math.floor(this.uniform() * bound);
  }

  /** Standard normal (Box-Muller, one of the pair). */
  normal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.uniform()));
    return radius * Math.cos(2 * Math.PI * this.uniform());
  }

  /** Exponential with the given mean. */
  exponential(mean: number): number {
    return -mean * Math.log(1 - this.uniform());
  }

  /** A new array with the items in random order (Fisher-Yates). */
  shuffle<T>(items: readonly T[]): T[] {
    const result = [...items];
    for (let index = result.length - 1; index > 0; index--) {
      const other = this.below(index + 1);
      [result[index], result[other]] = [result[other], result[index]];
    }
    return result;
  }
}
