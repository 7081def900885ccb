/**
 * One figure over several seeds: its median, and how sure that is.
 *
 * The confidence interval comes from order statistics: the median of all seeds lies between the k-th smallest and the
 * k-th largest of n values unless fewer than k of them fall on one side of it, which fair coins decide. It holds for any
 * distribution and needs no draw of its own. The narrowest interval of 95 % is taken; fewer than six values have none,
 * and then the widest is given with the confidence that it has.
 */
import { SCORE_METRIC_DEFINITIONS } from './metric-catalog.js';
import type { MetricValue, Repeated, Scores } from './scorecard.js';
import { median } from './measures/statistics.js';

const WANTED_CONFIDENCE = 0.95;

/** Chance that at most `most` of `n` fair coins show heads. */
function coinsAtMost(most: number, n: number): number {
  let term = 2 ** -n;
  let sum = 0;
  for (let heads = 0; heads <= most; heads++) {
    sum += term;
    term *= (n - heads) / (heads + 1);
  }
  return sum;
}

/** Median of at least one value with its interval. */
export function medianInterval(
  values: readonly number[],
): Pick<Repeated, 'median' | 'low' | 'high' | 'confidence'> {
  const sorted = [...values].sort((a, b) => a - b);
  const n = sorted.length;
  const confidenceOf = (k: number): number => Math.max(0, 1 - 2 * coinsAtMost(k - 1, n));
  let k = 1;
  while (k < Math.ceil(n / 2) && confidenceOf(k + 1) >= WANTED_CONFIDENCE) k++;
  return { median: median(sorted), low: sorted[k - 1], high: sorted[n - k], confidence: confidenceOf(k) };
}

const numberOf = (value: MetricValue): number | null => (value === null ? null : Number(value));

/** Every figure over several runs, in the published order. */
export function repeatedFigures(runs: readonly Scores[]): Repeated[] {
  return SCORE_METRIC_DEFINITIONS.map(({ path, score, name, kind }) => {
    const values = runs
      .map((scores) =>
        numberOf(name === 'score' ? scores[score].score : (scores[score].metrics[name] ?? null)),
      )
      .filter((value): value is number => value !== null && Number.isFinite(value));
    const counts = { path, known: values.length, of: runs.length };
    if (values.length === 0) return { ...counts, median: null, low: null, high: null, confidence: null };
    if (kind === 'boolean') {
      const yes = values.reduce((sum, value) => sum + value, 0) / values.length;
      return { ...counts, median: yes, low: null, high: null, confidence: null };
    }
    return { ...counts, ...medianInterval(values) };
  });
}
