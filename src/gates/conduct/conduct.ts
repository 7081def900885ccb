/**
 * A gate from its input to its result: runs what the comparison asks for, look by look, until all is decided.
 *
 * Who executes the runs is the caller's choice: this thread, several, workers of a queue, with a cache or without. The
 * result does not depend on that, nor on the order in which runs end.
 */
import { Comparison } from '../../gate/comparison.js';
import { countDifferences, specDifferences } from '../../gate/differences.js';
import type { SeedRuns } from '../../gate/pairs.js';
import { worstVerdict, type CellResult, type GateResult, type ObjectiveVerdict } from '../../gate/result.js';
import type { SuiteObjective } from '../../gate/suite-objective.js';
import { buildTopology } from '../../topology/topology-spec.js';
import { effectNotes } from './effects.js';
import { refusal, SIDES, type CheckedGate, type Side } from './gate-input.js';
import { needsOf, type Needs, type SideOutcome } from './side-run.js';

/** One run to be made. */
export interface SideTask {
  /** Index among the experiments of the gate. */
  experiment: number;
  side: Side;
  seed: number;
  needs: Needs;
}

export interface ExecutedRun {
  outcome: SideOutcome;
  fromCache?: boolean;
}

export type Execute = (task: SideTask) => Promise<ExecutedRun>;

export interface Conducted {
  gate: CheckedGate;
  version: string;
  execute: Execute;
  /** Told whenever a run has ended. */
  onRun?: (done: number, planned: number) => void;
  /** Where the suite states its objectives, for reports that point there. */
  placeOf?: (objective: SuiteObjective) => { file?: string; line?: number };
}

export async function conductGate(input: Conducted): Promise<GateResult> {
  const { gate } = input;
  const names = gate.experiments.map(({ metadata }) => metadata.name);
  const { firstSeed, alpha } = gate.suite.spec;
  const counts = { runs: 0, fromCache: 0, planned: 0 };
  const needs = needsOf(gate.objectives);
  const run = async (experiment: number, side: Side, seed: number): Promise<SideOutcome> => {
    counts.planned++;
    const { outcome, fromCache } = await input.execute({ experiment, side, seed, needs });
    counts.runs++;
    if (fromCache === true) counts.fromCache++;
    input.onRun?.(counts.runs, counts.planned);
    return outcome;
  };
  const pairs = (experiment: number, from: number, to: number): Promise<SeedRuns[]> =>
    Promise.all(
      Array.from({ length: to - from }, async (_, at): Promise<SeedRuns> => {
        const seed = firstSeed + from + at;
        const [baseline, candidate] = await Promise.all(SIDES.map((side) => run(experiment, side, seed)));
        return { seed, baseline, candidate };
      }),
    );

  // One seed of each first: what can't be planned with it is not tried with the others.
  const first = await Promise.all(names.map((_, at) => pairs(at, 0, 1)));
  const refused = new Map(names.flatMap((name, at) => refusedBy(name, first[at][0])));
  const comparison = new Comparison(
    { objectives: gate.objectives, experiments: names, looks: gate.looks, alpha, seed: firstSeed },
    refused,
  );
  const done = new Map<string, number>();
  for (const [at, name] of names.entries()) {
    comparison.record(name, first[at]);
    done.set(name, 1);
  }
  for (let due = comparison.due(); due.length > 0; due = comparison.due()) {
    await Promise.all(
      due.map(async ({ experiment, seeds }) => {
        comparison.record(experiment, await pairs(names.indexOf(experiment), done.get(experiment)!, seeds));
        done.set(experiment, seeds);
      }),
    );
    comparison.look();
  }
  return resultOf(input, comparison, refused, counts);
}

function refusedBy(name: string, runs: SeedRuns): [string, string][] {
  for (const side of SIDES) {
    const { refused, problem } = runs[side] as SideOutcome;
    if (refused === true) return [[name, refusal(side, problem ?? 'the reason is not known')]];
  }
  return [];
}

function resultOf(
  { gate, version, placeOf }: Conducted,
  comparison: Comparison,
  refused: ReadonlyMap<string, string>,
  counts: { runs: number; fromCache: number },
): GateResult {
  const objectives = comparison.results().map(({ objective, cells }): ObjectiveVerdict => {
    const { name, type, figure } = objective;
    const verdict = worstVerdict(cells.map((cell) => cell.verdict));
    return {
      ...{ name, type, metric: figure.path, unit: figure.unit, verdict },
      reason: objectiveReason(cells.filter((cell) => cell.verdict === verdict)),
      ...placeOf?.(objective),
      experiments: cells,
    };
  });
  const { spec, metadata } = gate.suite;
  const { baseline, candidate } = gate;
  return {
    gate: {
      suite: metadata.name,
      baseline: baseline.metadata.name,
      candidate: candidate.metadata.name,
      version,
      seeds: gate.seeds,
      firstSeed: spec.firstSeed,
      alpha: spec.alpha,
      looks: gate.looks,
    },
    verdict: worstVerdict(objectives.map(({ verdict }) => verdict)),
    objectives,
    differences: differencesOf(gate),
    notes: notesOf(gate, refused),
    run: { runs: counts.runs, fromCache: counts.fromCache },
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
  return [...counts, ...specDifferences(baseline.spec, candidate.spec)];
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
