/**
 * All that a gate needs to know, checked: the suite, its experiments, the two fabrics.
 */
import type { Experiment } from '../../experiments/definition/experiment.js';
import type { FabricDocument } from '../../experiments/definition/fabric-document.js';
import type { Suite } from '../../experiments/definition/suite.js';
import { planLooks, type Look } from '../../gate/looks.js';
import { parseSuiteObjectives, type SuiteObjective } from '../../gate/suite-objective.js';
import { InputError } from '../../kernel/problem.js';
import { planExperiment } from '../../experiments/planning.js';

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
}

/**
 * @throws InputError for two experiments of one name, an objective on an experiment that is not there, too few seeds, or
 *   a fabric that is not simulated
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
  for (const side of SIDES) {
    const { metadata, spec } = input[side];
    if (spec.driver === 'simulated') continue;
    const message = `"${metadata.name}" is a real fabric; a gate runs every experiment many times over and takes simulated ones`;
    throw InputError.at(`--${side}`, message, 'describe the fabric as a simulated one, its twin');
  }
  const objectives = parseSuiteObjectives(suite.spec.objectives, names);
  const seeds = input.seeds ?? suite.spec.seeds;
  const looks = planLooks(seeds, suite.spec.alpha, input.seeds === undefined ? '/spec/seeds' : '--seeds');
  return { ...input, seeds, objectives, looks };
}

/**
 * What can't be compared at all, and why: experiments that can't be planned on one of the fabrics with the first seed.
 */
export async function refusedExperiments(gate: CheckedGate): Promise<Map<string, string>> {
  const refused = new Map<string, string>();
  for (const experiment of gate.experiments) {
    for (const side of SIDES) {
      try {
        const seed = gate.suite.spec.firstSeed;
        await planExperiment({ experiment, fabric: gate[side], seed });
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        refused.set(
          experiment.metadata.name,
          refusal(side, error.issues.map(({ message }) => message).join('; ')),
        );
        break;
      }
    }
  }
  return refused;
}

export const refusal = (side: Side, problem: string): string =>
  `it can not be run on the ${side}: ${problem}`;
