/**
 * What a worker computes: gradients whose sum is known in closed form, and the weights they add up to.
 *
 * Whole numbers of 32 bits that wrap, so that any order of additions gives the same sum and every element can be checked
 * after every collective: one byte lost, doubled or out of place on the way is found in the step in which it happens.
 * Not modelled: floating point, and any learning.
 */

/** Elements repeat their offset after so many. */
const PATTERN = 1024;
/** Steps repeat their factor after so many. */
const CYCLE = 1000;

const factorOf = (step: number, salt: number): number => ((step + 7 * salt) % CYCLE) + 1;

/** Fills a rank's gradient of a step. @param salt tells collectives of a step apart */
export function fillGradient(into: Int32Array, rank: number, step: number, salt: number): void {
  const base = Math.imul(rank + 1, factorOf(step, salt));
  for (let index = 0; index < into.length; index++) into[index] = (base + (index & (PATTERN - 1))) | 0;
}

/** The element that the ring's ranks together must arrive at. */
export function expectedSum(index: number, ring: readonly number[], step: number, salt: number): number {
  let base = 0;
  for (const rank of ring) base = (base + Math.imul(rank + 1, factorOf(step, salt))) | 0;
  return (base + Math.imul(ring.length, index & (PATTERN - 1))) | 0;
}

/** First element in [from, to) that is not the sum over the ring; -1 when all are. */
export function firstWrong(
  data: Int32Array,
  span: { from: number; to: number },
  ring: readonly number[],
  step: number,
  salt: number,
): number {
  const base = expectedSum(0, ring, step, salt);
  const ranks = ring.length;
  for (let index = span.from; index < span.to; index++) {
    if (data[index] !== ((base + Math.imul(ranks, index & (PATTERN - 1))) | 0)) return index;
  }
  return -1;
}

/** Adds a summed gradient to the weights. */
export function addTo(weights: Int32Array, gradient: Int32Array): void {
  for (let index = 0; index < weights.length; index++)
    weights[index] = (weights[index] + gradient[index]) | 0;
}

/** First weight that is not what so many steps from zero give; -1 when all are right. */
export function firstWrongWeight(
  weights: Int32Array,
  ring: readonly number[],
  steps: number,
  salt: number,
): number {
  let base = 0;
  for (let step = 1; step <= steps; step++) base = (base + expectedSum(0, ring, step, salt)) | 0;
  const slope = Math.imul(ring.length, steps);
  for (let index = 0; index < weights.length; index++) {
    if (weights[index] !== ((base + Math.imul(slope, index & (PATTERN - 1))) | 0)) return index;
  }
  return -1;
}
