/**
 * A gate as rounds of runs: which runs are due now, and, once none is, what they come to.
 *
 * The one walk over experiments, sides and seeds: threads of this process, workers of a queue and a bench all follow it.
 * It holds nothing but outcomes, so that whoever has them can walk it again from the start and stand where he stood.
 */
import { Comparison } from '../../comparison/comparison.js';
import { fabricSpecSchema } from '../../fabric-api/definition.js';
import { countDifferences, specDifferences } from '../../comparison/differences.js';
import type { SeedRuns } from '../../comparison/pairs.js';
import {
  worstVerdict,
  type CellResult,
  type GateResult,
  type ObjectiveVerdict,
} from '../../comparison/result.js';
import type { SuiteObjective } from '../../comparison/suite-objective.js';
import { buildTopology } from '../../model/topology/topology-spec.js';
import { effectNotes } from './effects.js';
import { refusal, SIDES, type CheckedGate, type Side } from './gate-input.js';
import type { SideOutcome } from './side-run.js';

/** One run to be made. */
export interface SideTask {
  /** Index among the experiments of the gate. */
  experiment: number;
  side: Side;
  seed: number;
}

/** What a result says beside its verdict. */
export interface ResultDetails {
  version: string;
  run: GateResult['run'];
  /** Where the suite states its objectives, for reports that point there. */
  placeOf?: (objective: SuiteObjective) => { file?: string; line?: number };
}

export class GateRounds {
  private readonly names: string[];
  private comparison?: Comparison;
  private refused: ReadonlyMap<string, string> = new Map();
  /** Seeds that each experiment has been run with. */
  private readonly seedsDone: number[];
  private round: SideTask[];

  constructor(private readonly gate: CheckedGate) {
    this.names = gate.experiments.map(({ metadata }) => metadata.name);
    this.seedsDone = this.names.map(() => 0);
    // One seed of each first: what can't be planned with it is not tried with the others.
    this.round = this.names.flatMap((_, experiment) => this.tasks(experiment, 1));
  }

  /** The runs of this round; empty when all is decided. */
  due(): readonly SideTask[] {
    return this.round;
  }

  /** @param outcomes of the runs that are due, in their order */
  record(outcomes: readonly SideOutcome[]): void {
    const runs = this.pairsOf(outcomes);
    if (this.comparison === undefined) this.comparison = this.begin(runs);
    for (const [experiment, pairs] of runs) {
      this.comparison.record(this.names[experiment], pairs);
      this.seedsDone[experiment] += pairs.length;
    }
    this.round = this.next(this.comparison);
  }

  /** Whole only when nothing is due any more. */
  result({ version, run, placeOf }: ResultDetails): GateResult {
    const { gate } = this;
    const objectives = (this.comparison?.results() ?? []).map((each) => objectiveVerdict(each, placeOf));
    const { spec, metadata } = gate.suite;
    const { seeds, looks } = gate;
    return {
      gate: {
        suite: metadata.name,
        baseline: gate.baseline.metadata.name,
        candidate: gate.candidate.metadata.name,
        version,
        ...{ seeds, firstSeed: spec.firstSeed, alpha: spec.alpha, looks, samples: gate.samples.name },
      },
      verdict: worstVerdict(objectives.map(({ verdict }) => verdict)),
      objectives,
      differences: differencesOf(gate),
      notes: notesOf(gate, this.refused),
      run,
    };
  }

  private begin(first: ReadonlyMap<number, SeedRuns[]>): Comparison {
    this.refused = new Map([...first].flatMap(([at, [runs]]) => refusedBy(this.names[at], runs)));
    const { objectives, looks, samples, suite } = this.gate;
    const { alpha, firstSeed: seed } = suite.spec;
    const design = { objectives, experiments: this.names, looks, samples, alpha, seed };
    return new Comparison(design, this.refused);
  }

  /** Looks at what there is until more is needed. */
  private next(comparison: Comparison): SideTask[] {
    for (let due = comparison.due(); due.length > 0; due = comparison.due()) {
      const missing = due.flatMap(({ experiment, seeds }) =>
        this.tasks(this.names.indexOf(experiment), seeds),
      );
      if (missing.length > 0) return missing;
      comparison.look();
    }
    return [];
  }

  /** Both sides of each seed that comes next, until there are so many seeds. What drifts in time hits either first. */
  private tasks(experiment: number, seeds: number): SideTask[] {
    const { firstSeed } = this.gate.suite.spec;
    const [from, to] = [this.seedsDone[experiment], seeds];
    return Array.from({ length: Math.max(0, to - from) }, (_, at) => firstSeed + from + at).flatMap((seed) =>
      turns(seed).map((side) => ({ experiment, side, seed })),
    );
  }

  private pairsOf(outcomes: readonly SideOutcome[]): Map<number, SeedRuns[]> {
    const pairs = new Map<number, SeedRuns[]>();
    for (let at = 0; at < this.round.length; at += SIDES.length) {
      const { experiment, seed } = this.round[at];
      const own = pairs.get(experiment) ?? [];
      const [first, second] = [outcomes[at], outcomes[at + 1]];
      const [baseline, candidate] = this.round[at].side === 'baseline' ? [first, second] : [second, first];
      own.push({ seed, baseline, candidate });
      pairs.set(experiment, own);
    }
    return pairs;
  }
}

const turns = (seed: number): readonly Side[] => (seed % 2 === 0 ? [...SIDES].reverse() : SIDES);

function refusedBy(name: string, runs: SeedRuns): [string, string][] {
  for (const side of SIDES) {
    const { refused, problem } = runs[side] as SideOutcome;
    if (refused === true) return [[name, refusal(side, problem ?? 'the reason is not known')]];
  }
  return [];
}

function objectiveVerdict(
  { objective, cells }: { objective: SuiteObjective; cells: CellResult[] },
  placeOf: ResultDetails['placeOf'],
): ObjectiveVerdict {
  const { name, type, figure } = objective;
  const verdict = worstVerdict(cells.map((cell) => cell.verdict));
  return {
    ...{ name, type, metric: figure.path, unit: figure.unit, verdict },
    reason: objectiveReason(cells.filter((cell) => cell.verdict === verdict)),
    ...placeOf?.(objective),
    experiments: cells,
  };
}

const objectiveReason = (decisive: readonly CellResult[]): string =>
  decisive.length === 0
    ? 'it is judged on no experiment'
    : `${decisive[0].experiment}: ${decisive[0].reason}` +
      (decisive.length === 1 ? '' : `; and so on ${decisive.length - 1} more`);

/** What the two fabrics differ in; names apart, of which nothing depends. */
export function differencesOf({ baseline, candidate }: Pick<CheckedGate, Side>): string[] {
  const counts = countDifferences(
    buildTopology(baseline.spec.topology),
    buildTopology(candidate.spec.topology),
  );
  return [...counts, ...specDifferences(baseline.spec, candidate.spec, fabricSpecSchema)];
}

function notesOf(gate: CheckedGate, refused: ReadonlyMap<string, string>): string[] {
  const notes = [
    ...effectNotes(gate),
    ...[...refused].map(([name, reason]) => `${name} could not be compared: ${reason}`),
  ];
  if (refused.size > 0) {
    const left = gate.experiments.length - refused.size;
    notes.push(`${left} of ${gate.experiments.length} experiments could be compared`);
  }
  return notes;
}
