/**
 * Robust statistics: a fault may fill much of the window, so means and standard deviations are of little use here.
 */
import { selectSmallest } from '../../core/selection.js';
import { Room } from './room.js';

/** Linear-interpolated quantile of unsorted numbers; NaN when there are none. */
export function quantile(values: ArrayLike<number>, share: number): number {
  const count = values.length;
  if (count === 0) return NaN;
  const numbers = ROOM.take(count);
  for (let index = 0; index < count; index++) {
    const value = values[index];
    if (Number.isNaN(value)) return quantileOfSorted(Float64Array.from(values).sort(), share);
    numbers[index] = value;
  }
  const position = (count - 1) * share;
  const below = Math.floor(position);
  selectSmallest(numbers, count, below + 1);
  // what comes next is the least of those that selection left behind
  let [least, next] = [-Infinity, Infinity];
  for (let index = 0; index <= below; index++) if (numbers[index] > least) least = numbers[index];
  for (let index = below + 1; index < count; index++) if (numbers[index] < next) next = numbers[index];
  return below + 1 < count ? least + (next - least) * (position - below) : least;
}

const ROOM = new Room();

/** NaN stands behind all numbers. */
function quantileOfSorted(sorted: Float64Array, share: number): number {
  const position = (sorted.length - 1) * share;
  const below = Math.floor(position);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (position - below);
}

export const median = (values: ArrayLike<number>): number => quantile(values, 0.5);

/** Median absolute deviation, scaled to the standard deviation of normal noise. */
export function robustSpread(values: ArrayLike<number>): number {
  const centre = median(values);
  const distances = new Float64Array(values.length);
  for (let index = 0; index < distances.length; index++) distances[index] = Math.abs(values[index] - centre);
  return 1.4826 * median(distances);
}

/** About the greatest of so many standard normal numbers: what the best of that many peers reaches by chance. */
export const expectedMaximum = (count: number): number => Math.sqrt(2 * Math.log(Math.max(2, count)));

/** The least count that so many tries of a Poisson variable exceed with a chance below `chance`. */
export function poissonMaximum(mean: number, tries: number, chance: number): number {
  let term = Math.exp(-mean);
  let above = 1 - term;
  let count = 0;
  while (tries * above > chance && count < 1e4) {
    term *= mean / ++count;
    above -= term;
  }
  return count;
}

/** `log(Σ exp(x))` without overflow; -Infinity for an empty list. */
export function logSumExp(values: readonly number[]): number {
  const largest = Math.max(-Infinity, ...values);
  if (!Number.isFinite(largest)) return largest;
  return largest + Math.log(values.reduce((sum, value) => sum + Math.exp(value - largest), 0));
}

/** Sum of the smallest `least` of the first `count` numbers of an array, which are left in another order. */
export function sumOfSmallest(values: Float64Array, count: number, least: number): number {
  selectSmallest(values, count, least);
  let sum = 0;
  for (let index = 0; index < least; index++) sum += values[index];
  return sum;
}
