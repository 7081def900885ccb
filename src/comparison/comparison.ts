/**
 * A gate under way: which runs are needed next, and what can be said by now.
 *
 * Each objective on each experiment is a comparison of its own. At every look those that are still open are tested; one
 * that is decided stays so, and an experiment with nothing open needs no more runs. `regression` is claimed with a
 * correction over all comparisons (family.ts), so that the chance of any false one is α at most. `none` is claimed for
 * each comparison by itself: the whole passes only if all do, and the chance that it does although one of them is a
 * regression is α at most without any correction (intersection-union, Berger 1982). Absolute objectives are counted,
 * not tested: they say what held at these seeds.
 */
import type { Look } from './looks.js';
import { meetsObjective } from '../scoring/objectives.js';
import type { SeedRuns } from './pairs.js';
import { absoluteReason, lostReason, relativeReason, tooFewReason } from './reasons.js';
import type { CellResult, GateVerdict } from './result.js';
import { fewestSeeds } from './looks.js';
import type { FamilyTest } from './family.js';
import type { SampleDesign } from './samples.js';
import type { AbsoluteObjective, RelativeObjective, SuiteObjective } from './suite-objective.js';

export interface GateDesign {
  objectives: readonly SuiteObjective[];
  /** Names, in the order of the suite. */
  experiments: readonly string[];
  /** At least one. */
  looks: readonly Look[];
  alpha: number;
  /** How the runs of both sides belong together. */
  samples: SampleDesign;
  /** Draws signs and samples where they are drawn. */
  seed: number;
}

interface Cell {
  objective: SuiteObjective;
  experiment: string;
  /** Set once it is decided. */
  result?: Judged;
}

/** The interval is left to who wants to read it: it decides nothing and takes longer than all the tests. */
type Judged = Omit<CellResult, 'worseBy'> & { worseBy: () => CellResult['worseBy'] };

export class Comparison {
  private readonly cells: Cell[];
  private readonly runs = new Map<string, SeedRuns[]>();
  private looked = 0;

  /** @param refused experiments that can't be run on both fabrics, with the reason */
  constructor(
    private readonly design: GateDesign,
    refused: ReadonlyMap<string, string> = new Map(),
  ) {
    this.cells = design.objectives.flatMap((objective) =>
      design.experiments
        .filter((experiment) => objective.on?.includes(experiment) ?? true)
        .map((experiment): Cell => ({ objective, experiment })),
    );
    for (const cell of this.cells) {
      const reason = refused.get(cell.experiment);
      if (reason !== undefined) cell.result = unjudged(cell.experiment, reason);
    }
  }

  /** Seeds that each experiment needs in all before the next look; empty when everything is decided. */
  due(): { experiment: string; seeds: number }[] {
    const look = this.design.looks[this.looked];
    if (look === undefined) return [];
    const open = new Set(
      this.cells.filter(({ result }) => result === undefined).map((cell) => cell.experiment),
    );
    return this.design.experiments
      .filter((experiment) => open.has(experiment))
      .map((experiment) => ({ experiment, seeds: look.seeds }));
  }

  /** Adds runs of the seeds that come next, in their order. */
  record(experiment: string, runs: readonly SeedRuns[]): void {
    this.runs.set(experiment, [...this.runsOf(experiment), ...runs]);
  }

  /** Judges what is open with the runs that are there. */
  look(): void {
    const look = this.design.looks[this.looked++];
    const last = this.looked === this.design.looks.length;
    const tests = this.tests();
    for (const cell of this.cells) {
      if (cell.result !== undefined) continue;
      const test = tests.get(cell);
      const result =
        cell.objective.type === 'absolute'
          ? this.judgeAbsolute(cell.experiment, cell.objective, last)
          : this.judgeRelative(cell.experiment, cell.objective, test!, last ? 'last' : 'early', look);
      if (result !== undefined) cell.result = result;
    }
  }

  /** What is decided by now, cell by cell; null where it is open. */
  verdicts(): (GateVerdict | null)[] {
    return this.cells.map(({ result }) => result?.verdict ?? null);
  }

  /** One list an objective, in the order of the suite; whole only when nothing is due any more. */
  results(): { objective: SuiteObjective; cells: CellResult[] }[] {
    return this.design.objectives.map((objective) => ({
      objective,
      cells: this.cells
        .filter((cell) => cell.objective === objective)
        .map(({ experiment, result }) => this.told(result ?? unjudged(experiment, 'not judged yet'))),
    }));
  }

  private told({ worseBy, ...judged }: Judged): CellResult {
    return { ...judged, worseBy: worseBy() };
  }

  private runsOf(experiment: string): readonly SeedRuns[] {
    return this.runs.get(experiment) ?? [];
  }

  /** Tests of all relative comparisons at once: what is decided by now still belongs to the family. */
  private tests(): Map<Cell, FamilyTest> {
    const { samples, seed } = this.design;
    const family = this.cells.flatMap((cell) => {
      const runs = this.runsOf(cell.experiment);
      if (cell.objective.type !== 'relative' || runs.length === 0) return [];
      return [{ cell, objective: cell.objective, runs: samples.gather(cell.objective, runs) }];
    });
    const results = samples.test(family, seed);
    return new Map(family.map(({ cell }, at) => [cell, results[at]]));
  }

  private judgeRelative(
    experiment: string,
    objective: RelativeObjective,
    { worse: pRegression, better: pNone }: FamilyTest,
    when: 'early' | 'last',
    { level }: Look,
  ): Judged | undefined {
    const runs = this.runsOf(experiment);
    const { samples, alpha, seed } = this.design;
    const pairs = samples.gather(objective, runs);
    const problem = firstProblem(runs);
    let verdict: GateVerdict = 'inconclusive';
    if (pairs.known > 0 && pRegression <= level) verdict = 'regression';
    else if (pairs.known > 0 && pNone <= level && pairs.lost.length === 0) verdict = 'none';
    if (verdict === 'inconclusive' && when === 'early') return undefined;
    const reason =
      verdict === 'inconclusive' && pairs.lost.length > 0
        ? lostReason(pairs.lost, runs.length, problem)
        : samples.suffices(pairs, alpha)
          ? relativeReason(objective, verdict, pairs, samples.words(pairs.known))
          : tooFewReason(samples.words(pairs.known), fewestSeeds(alpha, samples), pairs, problem);
    const { known, meanBaseline, meanCandidate, worstSeed } = pairs;
    const worseBy = (): CellResult['worseBy'] => samples.interval(objective, pairs, seed);
    return {
      experiment,
      verdict,
      reason,
      seeds: runs.length,
      ...{ known, meanBaseline, meanCandidate, worseBy, pRegression, pNone },
      worstSeed: worstSeed ?? runs[0]?.seed ?? null,
    };
  }

  private judgeAbsolute(experiment: string, objective: AbsoluteObjective, last: boolean): Judged | undefined {
    const runs = this.runsOf(experiment);
    const planned = this.design.looks[this.design.looks.length - 1].seeds;
    const counts = { met: 0, missed: 0, unknown: 0 };
    let sum = 0;
    let worstSeed: number | null = null;
    for (const { seed, candidate } of runs) {
      const value = candidate.figures?.[objective.figure.path] ?? null;
      const met = value === null ? null : meetsObjective(objective.objective, value);
      counts[met === null ? 'unknown' : met ? 'met' : 'missed']++;
      sum += value ?? 0;
      if (met === false) worstSeed ??= seed;
    }
    const needed = Math.ceil(planned * objective.share - 1e-9);
    const lost = counts.missed > planned - needed;
    if (!lost && !last) return undefined;
    const known = counts.met + counts.missed;
    return {
      experiment,
      verdict: lost ? 'regression' : counts.met >= needed ? 'none' : 'inconclusive',
      reason: absoluteReason(objective, counts, planned),
      seeds: runs.length,
      known,
      meanBaseline: null,
      meanCandidate: known === 0 ? null : sum / known,
      worseBy: () => null,
      pRegression: null,
      pNone: null,
      worstSeed: worstSeed ?? runs[0]?.seed ?? null,
    };
  }
}

const firstProblem = (runs: readonly SeedRuns[]): string | undefined =>
  runs
    .map(({ candidate, baseline }) => candidate.problem ?? baseline.problem)
    .find((problem) => problem !== undefined);

const unjudged = (experiment: string, reason: string): Judged => ({
  experiment,
  verdict: 'inconclusive',
  reason,
  seeds: 0,
  known: 0,
  meanBaseline: null,
  meanCandidate: null,
  worseBy: () => null,
  pRegression: null,
  pNone: null,
  worstSeed: null,
});
