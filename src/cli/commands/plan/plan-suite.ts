/**
 * `plan SUITE`: what a gate would run on which fabrics, what decides, and what can't be compared. Nothing is run.
 */
import { effectNotes } from '../../../drill/gate/effects.js';
import { SIDES, type CheckedGate } from '../../../drill/gate/gate-input.js';
import { differencesOf } from '../../../drill/gate/rounds.js';
import { planExperiment, type PlanRequest } from '../../../drill/plan/planning.js';
import { InputError } from '../../../core/problem.js';
import { EXIT, type ExitCode } from '../../../scoring/exit-codes.js';
import { withAnswers, type Ask } from '../../computing.js';
import type { CommandContext } from '../../context.js';
import { gateOf, readSides, type GateChoice } from '../gate/gate-source.js';
import type { SuiteFile } from '../../files/suite-file.js';

interface SidePlan {
  /** Ids of what the first seed would hit; null where it can't be planned. */
  targets: string[] | null;
  problem: string | null;
}

interface ExperimentPlan {
  experiment: string;
  baseline: SidePlan;
  candidate: SidePlan;
}

export async function planSuite(
  source: SuiteFile,
  choice: GateChoice,
  format: 'text' | 'json',
  context: CommandContext,
): Promise<ExitCode> {
  const gate = gateOf(source, await readSides(source, choice, context), choice);
  const experiments = await withAnswers(context, (ask) => planSides(gate, ask));
  const comparable = experiments.filter((one) => SIDES.every((side) => one[side].problem === null)).length;
  const { firstSeed, alpha } = gate.suite.spec;
  const made = {
    suite: gate.suite.metadata.name,
    baseline: gate.baseline.metadata.name,
    candidate: gate.candidate.metadata.name,
    ...{ seeds: gate.seeds, firstSeed, alpha, looks: gate.looks },
    runs: { least: 2 * comparable * gate.looks[0].seeds, most: 2 * comparable * gate.seeds },
    objectives: gate.objectives.map(({ name }) => name),
    experiments,
    differences: differencesOf(gate),
    notes: effectNotes(gate),
  };
  context.out(format === 'json' ? `${JSON.stringify(made, null, 2)}\n` : renderSuitePlan(made));
  if (comparable === 0) {
    context.note('nothing can be compared: a gate of this plan is refused');
    return EXIT.badInput;
  }
  return EXIT.passed;
}

async function planSides(gate: CheckedGate, ask: Ask): Promise<ExperimentPlan[]> {
  const planned: ExperimentPlan[] = [];
  for (const experiment of gate.experiments) {
    const seed = gate.suite.spec.firstSeed;
    const baseline = await sidePlan({ experiment, fabric: gate.baseline, seed }, ask);
    const candidate = await sidePlan({ experiment, fabric: gate.candidate, seed }, ask);
    planned.push({ experiment: experiment.metadata.name, baseline, candidate });
  }
  return planned;
}

async function sidePlan(request: PlanRequest, ask: Ask): Promise<SidePlan> {
  const isSimulated = request.fabric.spec.driver === 'simulated';
  try {
    const { faults } = await (isSimulated ? ask('plan', request) : planExperiment(request));
    return { targets: faults.flatMap(({ targets }) => targets.map(({ id }) => id)), problem: null };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return { targets: null, problem: error.issues.map(({ message }) => message).join('; ') };
  }
}

interface SuitePlan {
  suite: string;
  baseline: string;
  candidate: string;
  seeds: number;
  firstSeed: number;
  alpha: number;
  looks: CheckedGate['looks'];
  runs: { least: number; most: number };
  objectives: string[];
  experiments: ExperimentPlan[];
  differences: string[];
  notes: string[];
}

function renderSuitePlan(plan: SuitePlan): string {
  const looks = plan.looks.map(({ seeds }) => seeds).join(', ');
  const lines = [
    `${plan.suite}: ${plan.candidate} beside ${plan.baseline}, ${plan.runs.least} to ${plan.runs.most} runs`,
    `seeds from ${plan.firstSeed} on, looked at after ${looks}; level ${plan.alpha}`,
    '',
    'objectives',
    ...plan.objectives.map((name) => `  ${name}`),
    '',
    `experiments, with the targets of seed ${plan.firstSeed}`,
  ];
  for (const { experiment, ...sides } of plan.experiments) {
    lines.push(`  ${experiment}`);
    for (const side of SIDES) {
      const { targets, problem } = sides[side];
      lines.push(
        `    ${side.padEnd(10)} ${problem === null ? (targets ?? []).join(', ') : `NOT POSSIBLE: ${problem}`}`,
      );
    }
  }
  lines.push(
    '',
    'what differs',
    ...(plan.differences.length === 0 ? ['nothing'] : plan.differences).map((line) => `  ${line}`),
  );
  for (const note of plan.notes) lines.push('', `note: ${note}`);
  return `${lines.join('\n')}\n`;
}
