/** `plan FILE`: what a run would do, and how it would be undone. Nothing is written or injected. */
import type { Command } from 'commander';
import {
  planView,
  type Plan,
  type PlannedFault,
  type PlannedImpairment,
  type PlannedTrigger,
} from '../../../drill/plan/plan.js';
import { faultKind } from '../../../faults/catalog.js';
import { parametersText } from '../parameters-text.js';
import { InputError } from '../../../core/problem.js';
import { formatDurationNs, formatRateGbps, formatSizeBytes } from '../../../core/units.js';
import { impairedElement, type Impairment } from '../../../fabric-api/impairment.js';
import { EXIT, type ExitCode } from '../../../scoring/exit-codes.js';
import { fabricDocument, planHere } from '../../client/check.js';
import { withAnswers } from '../../computing.js';
import type { CommandContext } from '../../context.js';
import { readExperiment, readNamed, resolveFabric } from '../../files/definitions.js';
import { parseChoice, parseSeed } from '../../terminal/flags.js';
import { examples } from '../../terminal/help.js';
import { isGameDay, planGameDay } from './plan-game-day.js';
import { planSchedule, TICKS_SHOWN } from './plan-schedule.js';
import { planSuite } from './plan-suite.js';
import { isSchedule, readScheduleFile } from '../../files/schedule-file.js';
import { replayArguments } from '../run.js';
import { isSuite, readSuite } from '../../files/suite-file.js';

interface PlanOptions {
  fabric?: string;
  seed?: string;
  output: string;
  baseline?: string;
  candidate?: string;
}

export function addPlanCommand(
  command: Command,
  act: (work: (context: CommandContext) => Promise<ExitCode>) => Promise<void>,
): void {
  command
    .argument('<file>', 'experiment, suite, game day or schedule file, or file#name')
    .option('--fabric <ref>', 'plan for another fabric: a stored one’s name, a YAML path, or path#name')
    .option('--seed <n>', 'another seed')
    .option('--baseline <ref>', 'for a suite: the fabric as it is')
    .option('--candidate <ref>', 'for a suite: the fabric as it would be')
    .option('--output <format>', 'text or json', 'text')
    .addHelpText(
      'after',
      examples(['plan experiments/link-down.yaml', 'plan experiments/link-down.yaml --seed 8 --output json']),
    )
    .addHelpText('after', '\nExits 2, as a run would, where the fabric can not apply what the file asks for.')
    .action((file: string, options: PlanOptions) => act((context) => plan(file, options, context)));
}

async function plan(file: string, options: PlanOptions, context: CommandContext): Promise<ExitCode> {
  const format = parseChoice('--output', options.output, ['text', 'json']);
  const seed = parseSeed(options.seed);
  const read = readNamed(file, context.path);
  if (isSuite(read)) {
    refuseOthers('a suite', options, ['baseline', 'candidate']);
    return planSuite(readSuite(file, context.path, read), options, format, context);
  }
  if (isSchedule(read)) {
    refuseOthers('a schedule', options, []);
    const { schedule } = readScheduleFile(file, context.path, read);
    return planSchedule(schedule.value, TICKS_SHOWN, format, context);
  }
  if (isGameDay(read)) {
    refuseOthers('a game day', options, []);
    return planGameDay(file, read, format, context);
  }
  refuseOthers('an experiment', options, ['fabric', 'seed']);
  const source = readExperiment(file, context.path, read);
  const reference = resolveFabric(source, options.fabric, context.path);
  const fabric = await fabricDocument(reference, source, options.fabric, context);
  const made = await withAnswers(context, (ask) => planHere(source, fabric, seed, { ...context, ask }));
  context.out(format === 'json' ? `${JSON.stringify(planView(made), null, 2)}\n` : renderPlan(made));
  if (made.unsupported.length > 0) {
    context.note('a run of this plan would be refused');
    // as `run` does: the file asks for what this fabric can't do
    return EXIT.badInput;
  }
  context.note(`next: ${context.command(replayArguments(source, made, options.fabric, seed))}`);
  return EXIT.passed;
}

const CHOICES = ['fabric', 'seed', 'baseline', 'candidate'] as const;

/** @throws InputError for a flag that says nothing about this kind of file, and would be passed over */
function refuseOthers(kind: string, options: PlanOptions, known: readonly (typeof CHOICES)[number][]): void {
  for (const flag of CHOICES) {
    if (options[flag] === undefined || known.includes(flag)) continue;
    const hint =
      known.length === 0 ? 'its file says it' : `it takes ${known.map((one) => `--${one}`).join(' and ')}`;
    throw InputError.at(`--${flag}`, `does not go with ${kind}`, hint);
  }
}

export function renderPlan(plan: Plan): string {
  const jobs = (names: string[] | null): string =>
    names === null ? 'not known' : names.join(', ') || 'none';
  const lines = [
    `${plan.experiment} on ${plan.fabric} (${plan.driver}), seed ${plan.seed}, ${formatDurationNs(plan.durationNs)}`,
    '',
  ];
  for (const fault of plan.faults) {
    lines.push(`${fault.name}: ${fault.kind} ${parametersText(faultKind(fault.kind), fault.parameters)}`);
    lines.push(`  targets    ${fault.targets.map((target) => target.id).join(', ')}`);
    if (fault.trigger !== undefined) lines.push(`  trigger    ${triggerText(fault.trigger)}`);
    for (const one of fault.impairments) lines.push(`  ${impairmentText(one, fault)}`);
  }
  const { links, devices, exposedJobs, bystanderJobs } = plan.blastRadius;
  lines.push('', `blast radius: ${counted(links.length, 'link')}, ${counted(devices.length, 'device')}`);
  lines.push(`  exposed jobs    ${jobs(exposedJobs)}`, `  bystander jobs  ${jobs(bystanderJobs)}`);
  for (const { fault, impairment, supported } of plan.unsupported) {
    lines.push(
      '',
      `NOT POSSIBLE here: ${fault} needs ${impairment}; this fabric can apply ${supported.join(', ')}`,
    );
  }
  for (const note of plan.notes ?? []) lines.push('', `note: ${note}`);
  lines.push('', 'undo', ...plan.undo.map((step) => `  ${step}`));
  return `${lines.join('\n')}\n`;
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

function triggerText({ boundary, fromNs, untilNs }: PlannedTrigger): string {
  const what = boundary.number === undefined ? `a ${boundary.kind}` : `${boundary.kind} ${boundary.number}`;
  return `waits from ${formatDurationNs(fromNs)} to ${formatDurationNs(untilNs)} for ${boundary.job} to begin ${what}`;
}

function impairmentText({ impairment, atNs, untilNs }: PlannedImpairment, fault: PlannedFault): string {
  const from = fault.trigger === undefined ? 0 : fault.atNs;
  const after = fault.trigger === undefined ? '' : ' after it';
  const when = `${formatDurationNs(atNs - from)} to ${formatDurationNs(untilNs - from)}${after}`;
  return `${when}: ${impairment.type} on ${impairedElement(impairment)}${details(impairment)}`;
}

/** What the element alone does not say. */
function details(impairment: Impairment): string {
  switch (impairment.type) {
    case 'traffic':
      return ` at ${formatRateGbps(impairment.rateGbps)} each from ${impairment.fromNics.join(', ')}`;
    case 'link-rate':
    case 'nic-host-rate':
      return `: ${formatRateGbps(impairment.rateGbps)}`;
    case 'ecn-marking':
      return `: kmin ${formatSizeBytes(impairment.kminBytes)}, kmax ${formatSizeBytes(impairment.kmaxBytes)}, pmax ${impairment.pmax}`;
    case 'bit-errors': {
      const { bitErrorRatio, laterLevels = [] } = impairment;
      if (laterLevels.length === 0) return '';
      const last = laterLevels[laterLevels.length - 1].bitErrorRatio;
      return `: bit-error ratio ${bitErrorRatio} to ${last} in ${laterLevels.length + 1} levels`;
    }
    case 'job-move':
      return `: ${impairment.job} ${impairment.toHost === undefined ? 'has no host to go to' : `goes to ${impairment.toHost}`}`;
    default:
      return '';
  }
}
