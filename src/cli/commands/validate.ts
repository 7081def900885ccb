/**
 * `validate FILE…`: everything that is wrong with files, in one go. Nothing is written, asked for or injected.
 *
 * An experiment is planned on its fabric when that is at hand as a file; a stored fabric would need a server, which is
 * what `plan` is for.
 */
import type { Command } from 'commander';
import { EnvironmentError, InputError, type InputIssue } from '../../core/problem.js';
import { quoteArgument } from '../../reports/common/report.js';
import { EXIT, type ExitCode } from '../../scoring/exit-codes.js';
import { checkFabric, planHere } from '../client/check.js';
import { withAnswers, type Ask } from '../computing.js';
import type { CommandContext } from '../context.js';
import { readDefinitions, resolveFabric, type ExperimentFile } from '../files/definitions.js';
import { readGameDay } from '../files/game-day-file.js';
import { examples } from '../terminal/help.js';
import { SIDES } from '../../drill/gate/gate-input.js';
import { readScheduleFile } from '../files/schedule-file.js';
import { readSuite, sideFabric, type SuiteFile } from '../files/suite-file.js';
import { gateOf } from './gate/gate-source.js';
import type { FabricDocument } from '../../documents/fabric-document.js';
import type { Loaded } from '../../documents/load.js';

type Act = (work: (context: CommandContext) => Promise<ExitCode>) => Promise<void>;

export function addValidateCommand(command: Command, act: Act): void {
  command
    .argument('<file...>', 'experiment, fabric, suite, schedule and game day files')
    .addHelpText('after', examples(['validate experiments/link-down.yaml', 'validate experiments/*.yaml']))
    .action((files: string[]) =>
      act((context) => withAnswers(context, (ask) => validate(files, { ...context, ask }))),
    );
}

type Checking = CommandContext & { ask: Ask };

async function validate(files: readonly string[], context: Checking): Promise<ExitCode> {
  const issues: InputIssue[] = [];
  for (const file of files) {
    try {
      context.out(`ok  ${file}: ${(await checkFile(file, context)).join(', ')}\n`);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      issues.push(...error.issues);
    }
  }
  if (issues.length > 0) throw new InputError(issues);
  if (files.length === 1) context.note(`next: ${context.command(`plan ${quoteArgument(files[0])}`)}`);
  return EXIT.passed;
}

/** @returns what the file holds */
async function checkFile(file: string, context: Checking): Promise<string[]> {
  const { experiments, fabrics, suites, schedules, gameDays } = readDefinitions(context.path(file), file);
  const issues: InputIssue[] = [];
  const collecting = async (step: () => unknown): Promise<void> => {
    try {
      await step();
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      issues.push(...error.issues);
    }
  };
  for (const fabric of fabrics) await collecting(() => checkFabric(fabric));
  for (const experiment of experiments) {
    const source: ExperimentFile = { reference: file, file, experiment, fabrics };
    await collecting(async () => {
      const fabric = resolveFabric(source, undefined, context.path);
      if ('document' in fabric) await planIfThere(source, fabric.document, undefined, context);
      else context.note(`${file}: the fabric "${fabric.stored}" is a stored one; plan checks it too`);
    });
  }
  for (const { value } of suites) {
    await collecting(async () => {
      checkSuite(readSuite(`${file}#${value.metadata.name}`, context.path), context);
    });
  }
  for (const { value } of schedules) {
    await collecting(() => checkSchedule(`${file}#${value.metadata.name}`, context));
  }
  for (const { value } of gameDays) {
    await collecting(() => readGameDay(`${file}#${value.metadata.name}`, context.path));
  }
  if (issues.length > 0) throw new InputError(unique(issues));
  return [
    ...experiments.map(({ value }) => `Experiment ${value.metadata.name}`),
    ...fabrics.map(({ value }) => `Fabric ${value.metadata.name}`),
    ...suites.map(({ value }) => `Suite ${value.metadata.name}`),
    ...gameDays.map(({ value }) => `GameDay ${value.metadata.name}`),
    ...schedules.map(({ value }) => `Schedule ${value.metadata.name}`),
  ];
}

/** What it would run is planned, as far as that is at hand. */
async function checkSchedule(reference: string, context: Checking): Promise<void> {
  const { work, schedule } = readScheduleFile(reference, context.path);
  if ('gameDay' in work) return;
  const { experiment, fabric } = work;
  if ('stored' in experiment) {
    context.note(
      `${reference}: the experiment "${experiment.stored}" is a stored one; creating it checks it too`,
    );
  } else if (fabric !== undefined && 'document' in fabric) {
    await planIfThere(experiment, fabric.document, schedule.value.spec.seed, context);
  }
}

/** The fabrics that it names itself, and, where it names both, whether it could decide anything about them. */
function checkSuite(suite: SuiteFile, context: CommandContext): void {
  const sides = SIDES.flatMap((side) => {
    if (suite.suite.value.spec[side] === undefined) return [];
    const fabric = sideFabric(suite, side, undefined, context.path);
    if ('stored' in fabric) return [];
    checkFabric(fabric.document);
    return [fabric.document];
  });
  const [baseline, candidate] = sides;
  if (sides.length === SIDES.length) gateOf(suite, { baseline, candidate }, {});
}

/** A real fabric that can't be asked now is no mistake of the file. */
async function planIfThere(
  source: ExperimentFile,
  fabric: Loaded<FabricDocument>,
  seed: number | undefined,
  context: Checking,
): Promise<void> {
  try {
    await planHere(source, fabric, seed, context);
  } catch (error) {
    if (!(error instanceof EnvironmentError) || fabric.value.spec.driver === 'simulated') throw error;
    context.note(`${source.reference}: ${error.message}, so that targets could not be looked for`);
  }
}

/** A fabric beside its experiments is checked with each of them. */
const unique = (issues: readonly InputIssue[]): InputIssue[] => [
  ...new Map(issues.map((issue) => [JSON.stringify(issue), issue])).values(),
];
