/** Bootstrap intervals (percentiles; Efron 1979) of what reports show. They decide nothing: the tests do. */
import { Prng } from '../core/prng.js';

export interface Interval {
  mean: number;
  low: number;
  high: number;
}

const BOOTSTRAP_DRAWS = 2000;
/** Two-sided confidence of the interval that is shown. */
export const INTERVAL_CONFIDENCE = 0.9;

const known = (values: Float64Array): Float64Array => values.filter((value) => !Number.isNaN(value));
const mean = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * Mean of the known values.
 * @param seed draws the samples
 * @returns null when no value is known
 */
export function bootstrapMean(values: Float64Array, seed: number): Interval | null {
  const sample = known(values);
  if (sample.length === 0) return null;
  return intervalOf(mean(sample), [sample], ([drawn]) => drawn, seed);
}

/**
 * Mean of the second sample less that of the first, times the sign.
 * @returns null when a sample has no known value
 */
export function bootstrapDifference(
  before: Float64Array,
  after: Float64Array,
  sign: 1 | -1,
  seed: number,
): Interval | null {
  const samples = [known(before), known(after)];
  if (samples.some(({ length }) => length === 0)) return null;
  const difference = ([first, second]: readonly number[]): number => sign * (second - first);
  return intervalOf(difference(samples.map(mean)), samples, difference, seed);
}

function intervalOf(
  observed: number,
  samples: readonly Float64Array[],
  combined: (means: readonly number[]) => number,
  seed: number,
): Interval {
  if (samples.every((sample) => sample.every((value) => value === sample[0]))) {
    const exact = combined(samples.map(([first]) => first));
    return { mean: exact, low: exact, high: exact };
  }
  const random = new Prng(seed).stream('bootstrap');
  const drawnMean = (sample: Float64Array): number => {
    let sum = 0;
    for (let at = 0; at < sample.length; at++) sum += sample[random.below(sample.length)];
    return sum / sample.length;
  };
  const drawn = Float64Array.from({ length: BOOTSTRAP_DRAWS }, () => combined(samples.map(drawnMean))).sort();
  const tail = Math.floor(((1 - INTERVAL_CONFIDENCE) / 2) * BOOTSTRAP_DRAWS);
  return { mean: observed, low: drawn[tail], high: drawn[BOOTSTRAP_DRAWS - 1 - tail] };
}
