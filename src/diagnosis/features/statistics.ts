/**
 * Robust statistics: a fault may fill much of the window, so means and standard deviations are of little use here.
 */

/** Linear-interpolated quantile of unsorted numbers; NaN when there are none. */
export function quantile(values: ArrayLike<number>, share: number): number {
  if (values.length === 0) return NaN;
  const sorted = Float64Array.from(values).sort();
  const position = (sorted.length - 1) * share;
  const below = Math.floor(position);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (position - below);
}

export const median = (values: ArrayLike<number>): number => quantile(values, 0.5);

/** Median absolute deviation, scaled to the standard deviation of normal noise. */
export function robustSpread(values: ArrayLike<number>): number {
  const centre = median(values);
  return 1.4826 * median(Float64Array.from(values, (value) => Math.abs(value - centre)));
}

/** `log(Σ exp(x))` without overflow; -Infinity for an empty list. */
export function logSumExp(values: readonly number[]): number {
  const largest = Math.max(-Infinity, ...values);
  if (!Number.isFinite(largest)) return largest;
  return largest + Math.log(values.reduce((sum, value) => sum + Math.exp(value - largest), 0));
}

/** Sum of the smallest numbers of a scratch array, which is left in another order. */
export function sumOfSmallest(values: Float64Array, count: number): number {
  let low = 0;
  let high = values.length - 1;
  // Hoare's selection: what is left of the parting place is no larger than what is right of it
  while (low < high) {
    const pivot = values[(low + high) >> 1];
    let left = low;
    let right = high;
    while (left <= right) {
      while (values[left] < pivot) left++;
      while (values[right] > pivot) right--;
      if (left > right) break;
      const value = values[left];
      values[left++] = values[right];
      values[right--] = value;
    }
    if (count <= right) high = right;
    else if (count > left) low = left;
    else break;
  }
  let sum = 0;
  for (let index = 0; index < count; index++) sum += values[index];
  return sum;
}
