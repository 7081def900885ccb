/**
 * All that a gate needs to know, checked: the suite, its experiments, the two fabrics.
 */
import type { Experiment } from '../../documents/experiment.js';
import type { FabricDocument } from '../../documents/fabric-document.js';
import type { Suite } from '../../documents/suite.js';
import { planLooks, type Look } from '../../comparison/looks.js';
import { INDEPENDENT, PAIRED, type SampleDesign } from '../../comparison/samples.js';
import { parseSuiteObjectives, type SuiteObjective } from '../../comparison/suite-objective.js';
import { unsupportedError } from '../plan/plan.js';
import { InputError, type InputIssue } from '../../core/problem.js';
import { planExperiment } from '../plan/planning.js';

export const SIDES = ['baseline', 'candidate'] as const;
export type Side = (typeof SIDES)[number];

export interface GateInput {
  suite: Suite;
  /** In the order of the suite. */
  experiments: readonly Experiment[];
  baseline: FabricDocument;
  candidate: FabricDocument;
  /** Instead of the suite's own number. */
  seeds?: number;
}

export interface CheckedGate extends GateInput {
  seeds: number;
  objectives: SuiteObjective[];
  looks: Look[];
  /** Pairs of simulated runs, or independent drills on real fabrics. */
  samples: SampleDesign;
}

/** Whether its runs are drills on real fabrics, which take the time they take, one at a time. */
export const isReal = ({ samples }: Pick<CheckedGate, 'samples'>): boolean => samples === INDEPENDENT;

/**
 * @throws InputError for two experiments of one name, an objective on an experiment that is not there, too few seeds, or
 *   a real fabric beside a simulated one
 */
export function checkGate(input: GateInput): CheckedGate {
  const { suite, experiments } = input;
  const names = experiments.map(({ metadata }) => metadata.name);
  const twice = names.findIndex((name, at) => names.indexOf(name) < at);
  if (twice >= 0) {
    throw InputError.at(
      `/spec/experiments/${twice}`,
      `this suite has two experiments named "${names[twice]}"`,
    );
  }
  const objectives = parseSuiteObjectives(suite.spec.objectives, names);
  const seeds = input.seeds ?? suite.spec.seeds;
  const samples = samplesFor(input);
  const pointer = input.seeds === undefined ? '/spec/seeds' : '--seeds';
  return {
    ...input,
    seeds,
    objectives,
    samples,
    looks: planLooks(seeds, suite.spec.alpha, pointer, samples),
  };
}

/** Simulated runs of one seed share their draws; drills on real fabrics share nothing but a target. */
function samplesFor({ baseline, candidate }: GateInput): SampleDesign {
  const [before, after] = [baseline, candidate].map(({ spec }) => spec.driver === 'simulated');
  if (before === after) return before ? PAIRED : INDEPENDENT;
  const [real, other] = before ? [candidate, baseline] : [baseline, candidate];
  const message = `"${real.metadata.name}" is a real fabric and "${other.metadata.name}" a simulated one; what differs between them is not the change alone`;
  throw InputError.at('--candidate', message, 'compare two real fabrics, or two simulated ones');
}

/**
 * Refuses a gate that could compare nothing, such as one between fabrics of which no experiment finds its targets on both.
 * One experiment that can be planned on both sides is enough: the report says what could not be compared.
 * @throws InputError with the reason for each experiment, at its place in the suite
 */
export async function refuseIncomparable(gate: GateInput): Promise<void> {
  const issues: InputIssue[] = [];
  for (const [at, experiment] of gate.experiments.entries()) {
    const reason = await refusalOf(gate, experiment);
    if (reason === undefined) return;
    issues.push({
      pointer: `/spec/experiments/${at}`,
      message: `"${experiment.metadata.name}" can’t be compared: ${reason}`,
    });
  }
  const hint = 'a gate needs one experiment at least that can be run on both fabrics';
  throw new InputError(issues.map((issue, at) => (at === issues.length - 1 ? { ...issue, hint } : issue)));
}

async function refusalOf(gate: GateInput, experiment: Experiment): Promise<string | undefined> {
  for (const side of SIDES) {
    try {
      const plan = await planExperiment({
        experiment,
        fabric: gate[side],
        seed: gate.suite.spec.firstSeed,
      });
      if (plan.unsupported.length > 0) throw unsupportedError(plan);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      return refusal(side, error.issues.map(({ message }) => message).join('; '));
    }
  }
  return undefined;
}

export const refusal = (side: Side, problem: string): string =>
  `it can not be run on the ${side}: ${problem}`;
