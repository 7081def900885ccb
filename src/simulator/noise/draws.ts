/**
 * Random numbers by place instead of by order: the draw for (stream, index) is the same whatever else was drawn.
 *
 * Noise and lost samples must not shift when a fault adds an event elsewhere, or two runs that differ only in the fault
 * could not be compared sample by sample. Two rounds of the murmur3 finaliser over the three words.
 */
import { mix32 } from '../../core/prng.js';

/** Uniform in [0, 1), 32 bits. */
export function uniformAt(seed: number, stream: number, index: number): number {
  return mix32(mix32(seed ^ Math.imul(stream, 0x9e3779b9)) ^ Math.imul(index, 0x85ebca6b)) / 0x100000000;
}

/** Standard normal (Box-Muller). */
export function normalAt(seed: number, stream: number, index: number): number {
  const radius = Math.sqrt(-2 * Math.log(1 - uniformAt(seed, stream, index)));
  return radius * Math.cos(2 * Math.PI * uniformAt(seed ^ 0x5bd1e995, stream, index));
}

/** Half a step of a 32-bit uniform number: keeps 0 out of logarithms. */
const HALF_STEP = 0.5 / 0x100000000;

/**
 * The standard normal quantile of a uniform number: one draw a value, where a step needs thousands.
 * Acklam's rational approximation, relative error below 1.2e-9.
 */
export function normalOf(uniform: number): number {
  const u = uniform + HALF_STEP;
  if (u < 0.02425) return tailQuantile(Math.sqrt(-2 * Math.log(u)));
  if (u > 1 - 0.02425) return -tailQuantile(Math.sqrt(-2 * Math.log(1 - u)));
  const q = u - 0.5;
  const r = q * q;
  const above =
    ((((-39.69683028665376 * r + 220.9460984245205) * r - 275.9285104469687) * r + 138.357751867269) * r -
      30.66479806614716) *
      r +
    2.506628277459239;
  const below =
    ((((-54.47609879822406 * r + 161.5858368580409) * r - 155.6989798598866) * r + 66.80131188771972) * r -
      13.28068155288572) *
      r +
    1;
  return (above * q) / below;
}

function tailQuantile(q: number): number {
  const above =
    ((((-0.007784894002430293 * q - 0.3223964580411365) * q - 2.400758277161838) * q - 2.549732539343734) *
      q +
      4.374664141464968) *
      q +
    2.938163982698783;
  const below =
    (((0.007784695709041462 * q + 0.3224671290700398) * q + 2.445134137142996) * q + 3.754408661907416) * q +
    1;
  return above / below;
}

export const logNormalOf = (uniform: number, median: number, sigma: number): number =>
  median * Math.exp(sigma * normalOf(uniform));

export const exponentialOf = (uniform: number, mean: number): number => -mean * Math.log1p(-uniform);

/** From `least` to `most`, each decade as likely as any other. */
export const logUniformOf = (uniform: number, least: number, most: number): number =>
  least * (most / least) ** uniform;

export const between = (uniform: number, [least, most]: readonly [number, number]): number =>
  least + (most - least) * uniform;

/** Means from which a Poisson count is taken from the normal distribution. */
const MANY = 40;

/** A Poisson count. */
export function poissonOf(uniform: number, mean: number): number {
  if (mean > MANY) return Math.max(0, Math.round(mean + Math.sqrt(mean) * normalOf(uniform)));
  let probability = Math.exp(-mean);
  let below = probability;
  let count = 0;
  while (uniform >= below && count < 4 * MANY) {
    probability *= mean / ++count;
    below += probability;
  }
  return count;
}
