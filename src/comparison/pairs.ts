/**
 * Pairs of one comparison: an objective on an experiment, baseline and candidate with the same seed.
 *
 * What the two fabrics share (the jobs, the draws of a seed) cancels out in the difference, which is why a few seeds tell
 * more than many unpaired ones. A seed at which the baseline's figure is not known tells nothing. A seed at which only the
 * candidate's is not known is `lost`: it is left out of what may show a regression, and forbids the claim that there is
 * none, since no data is never a pass. Of independent samples each run counts by itself.
 */
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

/** What one comparison rests on. */
export interface Gathered {
  /** Figures of each side by seed, as run; NaN where not known. */
  values: { baseline: Float64Array; candidate: Float64Array };
  /** Seeds, or runs a side, that tell something. */
  known: number;
  /** Seeds at which only the candidate is not known; of independent samples those at which it is not. */
  lost: number[];
  meanBaseline: number | null;
  meanCandidate: number | null;
  /** Seed at which the candidate was worst; lost ones first. */
  worstSeed: number | null;
}

const valueOf = (run: SideRun, path: string): number | null => run.figures?.[path] ?? null;

const valuesOf = (runs: readonly SeedRuns[], path: string): Gathered['values'] => ({
  baseline: Float64Array.from(runs, ({ baseline }) => valueOf(baseline, path) ?? NaN),
  candidate: Float64Array.from(runs, ({ candidate }) => valueOf(candidate, path) ?? NaN),
});

const signOf = ({ figure }: RelativeObjective): 1 | -1 => (figure.better === 'higher' ? -1 : 1);
const isKnown = (value: number): boolean => !Number.isNaN(value);

/** By how much the candidate was worse at each seed, in the figure's unit; NaN where a seed does not tell. */
export const worseOf = (objective: RelativeObjective, { values }: Pick<Gathered, 'values'>): Float64Array =>
  values.candidate.map((after, at) => signOf(objective) * (after - values.baseline[at]));

/** The same beyond what the margin allows. */
export const beyondOf = (objective: RelativeObjective, gathered: Gathered): Float64Array =>
  worseOf(objective, gathered).map((worse, at) => worse - allowance(objective, gathered.values.baseline[at]));

const allowance = ({ margin, ofBaseline }: RelativeObjective, before: number): number =>
  ofBaseline ? margin * Math.abs(before) : margin;

/** Both sides such that larger is worse, the baseline moved to where the candidate may just be. */
export function atMargin(objective: RelativeObjective, { values }: Gathered): Gathered['values'] {
  const sign = signOf(objective);
  return {
    baseline: values.baseline.map((value) => sign * value + allowance(objective, value)),
    candidate: values.candidate.map((value) => sign * value),
  };
}

/** Runs that are pairs by their seed. */
export function pairsOf(objective: RelativeObjective, runs: readonly SeedRuns[]): Gathered {
  const values = valuesOf(runs, objective.figure.path);
  const tells = (_: unknown, at: number): boolean =>
    isKnown(values.baseline[at]) && isKnown(values.candidate[at]);
  const lost = runs.filter((_, at) => isKnown(values.baseline[at]) && !isKnown(values.candidate[at]));
  const [before, after] = [values.baseline.filter(tells), values.candidate.filter(tells)];
  const gathered = { values, known: before.length, lost: lost.map(({ seed }) => seed) };
  return {
    ...gathered,
    meanBaseline: meanOf(before),
    meanCandidate: meanOf(after),
    worstSeed: gathered.lost[0] ?? seedOfMost(runs, worseOf(objective, gathered)),
  };
}

/** Runs that are no pairs: every known one counts, and the worst seed is that of the candidate's worst run. */
export function samplesOf(objective: RelativeObjective, runs: readonly SeedRuns[]): Gathered {
  const values = valuesOf(runs, objective.figure.path);
  const [before, after] = [values.baseline.filter(isKnown), values.candidate.filter(isKnown)];
  const lost = runs.filter((_, at) => !isKnown(values.candidate[at])).map(({ seed }) => seed);
  const bad = values.candidate.map((value) => signOf(objective) * value);
  return {
    values,
    known: Math.min(before.length, after.length),
    lost,
    meanBaseline: meanOf(before),
    meanCandidate: meanOf(after),
    worstSeed: lost[0] ?? seedOfMost(runs, bad),
  };
}

const meanOf = (values: Float64Array): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;

function seedOfMost(runs: readonly SeedRuns[], values: Float64Array): number | null {
  let [most, seed]: [number, number | null] = [-Infinity, null];
  for (const [at, value] of values.entries()) if (value > most) [most, seed] = [value, runs[at].seed];
  return seed;
}
