/**
 * Pairs of one comparison: an objective on an experiment, baseline and candidate with the same seed.
 *
 * What the two fabrics share (the jobs, the draws of a seed) cancels out in the difference, which is why a few seeds tell
 * more than many unpaired ones. A seed at which the baseline's figure is not known tells nothing. A seed at which only the
 * candidate's is not known is `lost`: it is left out of what may show a regression, and forbids the claim that there is
 * none, since no data is never a pass.
 */
import { Prng } from '../kernel/prng.js';
import type { FigureValues } from './figures.js';
import type { RelativeObjective } from './suite-objective.js';

/** One run of one side, or why there is none. */
export interface SideRun {
  figures: FigureValues | null;
  /** Why figures are missing, one sentence. */
  problem?: string;
}

export interface SeedRuns {
  seed: number;
  baseline: SideRun;
  candidate: SideRun;
}

export interface Pairs {
  /** By seed, as run; NaN where a seed does not tell. By how much the candidate was worse, in the figure's unit. */
  worse: Float64Array;
  /** The same beyond what the margin allows. */
  beyond: Float64Array;
  /** Seeds at which both are known. */
  known: number;
  /** Seeds at which only the candidate is not known. */
  lost: number[];
  meanBaseline: number | null;
  meanCandidate: number | null;
  /** Seed at which the candidate was worst beside the baseline; lost ones first. */
  worstSeed: number | null;
}

const valueOf = (run: SideRun, path: string): number | null => run.figures?.[path] ?? null;

export function pairsOf(objective: RelativeObjective, runs: readonly SeedRuns[]): Pairs {
  const { path, better } = objective.figure;
  const sign = better === 'higher' ? -1 : 1;
  const pairs: Pairs = {
    worse: new Float64Array(runs.length).fill(NaN),
    beyond: new Float64Array(runs.length).fill(NaN),
    known: 0,
    lost: [],
    meanBaseline: null,
    meanCandidate: null,
    worstSeed: null,
  };
  const sums = { baseline: 0, candidate: 0 };
  let worst = -Infinity;
  for (const [at, { seed, baseline, candidate }] of runs.entries()) {
    const [before, after] = [valueOf(baseline, path), valueOf(candidate, path)];
    if (before === null) continue;
    if (after === null) {
      pairs.lost.push(seed);
      continue;
    }
    const worse = sign * (after - before);
    pairs.worse[at] = worse;
    pairs.beyond[at] =
      worse - (objective.ofBaseline ? objective.margin * Math.abs(before) : objective.margin);
    pairs.known++;
    sums.baseline += before;
    sums.candidate += after;
    if (worse > worst) [worst, pairs.worstSeed] = [worse, seed];
  }
  if (pairs.known > 0) {
    pairs.meanBaseline = sums.baseline / pairs.known;
    pairs.meanCandidate = sums.candidate / pairs.known;
  }
  if (pairs.lost.length > 0) pairs.worstSeed = pairs.lost[0];
  return pairs;
}

export interface Interval {
  mean: number;
  low: number;
  high: number;
}

const BOOTSTRAP_DRAWS = 2000;
/** Two-sided confidence of the interval that is shown; what decides are the tests. */
export const INTERVAL_CONFIDENCE = 0.9;

/**
 * Mean of the known values with its bootstrap interval (percentiles; Efron 1979).
 * @param seed draws the samples
 * @returns null when no value is known
 */
export function bootstrapMean(values: Float64Array, seed: number): Interval | null {
  const known = values.filter((value) => !Number.isNaN(value));
  const n = known.length;
  if (n === 0) return null;
  const mean = known.reduce((sum, value) => sum + value, 0) / n;
  if (known.every((value) => value === known[0])) return { mean: known[0], low: known[0], high: known[0] };
  const random = new Prng(seed).stream('bootstrap');
  const means = new Float64Array(BOOTSTRAP_DRAWS);
  for (let draw = 0; draw < BOOTSTRAP_DRAWS; draw++) {
    let sum = 0;
    for (let at = 0; at < n; at++) sum += known[random.below(n)];
    means[draw] = sum / n;
  }
  means.sort();
  const tail = Math.floor(((1 - INTERVAL_CONFIDENCE) / 2) * BOOTSTRAP_DRAWS);
  return { mean, low: means[tail], high: means[BOOTSTRAP_DRAWS - 1 - tail] };
}
