/**
 * `run FILE`: one experiment from file to scorecard.
 *
 * Everything that can be checked is checked before a server is started or told anything, so that a mistake costs a
 * moment and leaves nothing behind.
 */
import type { Command } from 'commander';
import { randomUUID } from 'node:crypto';
import type { FabricDocument } from '../../documents/fabric-document.js';
import type { Loaded } from '../../documents/load.js';
import { parsePace } from '../../fabric-api/pace.js';
import { EnvironmentError, InputError, messageOf, type InputIssue } from '../../core/problem.js';
import { repeatsJson, repeatsText } from '../../reports/common/repeats.js';
import { quoteArgument } from '../../reports/common/report.js';
import { EXIT, worstExit, type ExitCode } from '../../scoring/exit-codes.js';
import { repeatedFigures } from '../../scoring/repeats.js';
import type { Scorecard } from '../../scoring/scorecard.js';
import { confirmMember, requireConfirmed } from '../client/confirmation.js';
import type { FinishedRun } from '../../store/runs/finished-run.js';
import { runHere, type JudgedRun } from './run-here.js';
import type { ApiClient, RunView } from '../client/api-client.js';
import { fabricDocument, fetchFabric } from '../client/check.js';
import { takeComputing } from '../computing.js';
import { withStore, type CommandStore } from '../store.js';
import type { CommandContext } from '../context.js';
import {
  readExperiment,
  resolveFabric,
  type ExperimentFile,
  type FabricReference,
} from '../files/definitions.js';
import { InterruptedError, ProblemError } from '../terminal/failure.js';
import { parseChoice, parseRepeat, parseSeed, seedsFrom } from '../terminal/flags.js';
import { follow } from '../client/follow.js';
import { examples } from '../terminal/help.js';
import { Interrupts } from '../terminal/interrupts.js';
import { sameKeyMs } from '../terminal/invocation.js';
import {
  deliverAll,
  parseOutputs,
  parseReportOutputs,
  reportOption,
  terminalLook,
  writeOutputs,
} from '../terminal/outputs.js';

interface RunOptions {
  fabric?: string;
  seed?: string;
  output?: string[];
  confirm?: string;
  repeat?: string;
  pace?: string;
}

/** All that is needed to start. */
interface Drill {
  source: ExperimentFile;
  fabric: FabricReference;
  options: RunOptions;
  /** Writes what came out of one run, or of several seeds. */
  report: (scorecards: readonly Scorecard[]) => void;
  /** Seeds to run, one after another. */
  seeds: readonly number[];
}

const EXAMPLES = [
  'run experiments/link-down.yaml',
  'run experiments/link-down.yaml --seed 8 --output text --output json=result.json --output junit=result.xml',
  'run experiments/link-down.yaml --fabric spectrum',
  'run experiments/link-down.yaml --repeat 10 --output json=seeds.json',
  'run experiments/link-down.yaml --pace 1x',
  'run mine.yaml#second --fabric fabrics/lab.yaml#small',
];

export function addRunCommand(
  command: Command,
  act: (work: (context: CommandContext) => Promise<ExitCode>) => Promise<void>,
): void {
  command
    .argument('<file>', 'experiment file, or file#name')
    .option('--fabric <ref>', 'run on another fabric: a stored one’s name, a YAML path, or path#name')
    .option('--seed <n>', 'another seed')
    .addOption(reportOption())
    .option('--repeat <n>', 'run n seeds in a row, upwards from the first: medians with confidence intervals')
    .option('--pace <pace>', 'keep a simulated fabric to the wall clock: 1x, or 10x ten times as fast')
    .option('--confirm <fabric>', 'name of the fabric, needed when it is a real one')
    .addHelpText('after', examples(EXAMPLES))
    .addHelpText(
      'after',
      '\nCtrl-C reverts everything and ends with 4; a second Ctrl-C leaves at once, with 5 where a fault may be left.',
    )
    .action((file: string, options: RunOptions) => act((context) => runExperiment(file, options, context)));
}

async function runExperiment(file: string, options: RunOptions, context: CommandContext): Promise<ExitCode> {
  const seed = parseSeed(options.seed);
  if (options.pace !== undefined && parsePace(options.pace) === undefined) {
    throw InputError.at('--pace', `"${options.pace}" is no pace; write 1x to 1000x`, 'as in --pace 1x');
  }
  const repeat = options.repeat === undefined ? undefined : parseRepeat(options.repeat);
  const write = repeat === undefined ? reportOne(options, context) : reportSeveral(options, context);
  const source = readExperiment(file, context.path);
  const fabric = resolveFabric(source, options.fabric, context.path);
  const first = seed ?? source.experiment.value.spec.seed;
  const seeds = repeat === undefined ? [first] : seedsFrom(first, repeat);
  const drill: Drill = { source, fabric, options, seeds, report: (cards) => write(source, cards) };
  if ('document' in fabric) check(drill, fabric.document);
  const interrupts = new Interrupts(
    {
      first: () => context.note('stopping; nothing was injected'),
      second: () => process.exit(EXIT.aborted),
    },
    sameKeyMs(context.config),
  );
  try {
    if (context.config.serverUrl === undefined) {
      const here = await withStore(context.config, (store) => drillHere(store, drill, interrupts, context));
      if (here !== undefined) return here;
    }
    return await context.withServer((client) => drillOn(client, drill, interrupts, context), {
      worker: true,
      interrupts,
    });
  } finally {
    interrupts.close();
  }
}

/** @returns undefined where it is not for this process: a real fabric, or one that keeps to the wall clock */
async function drillHere(
  store: CommandStore,
  drill: Drill,
  interrupts: Interrupts,
  context: CommandContext,
): Promise<ExitCode | undefined> {
  const { source, options } = drill;
  const fabric = await fabricDocument(drill.fabric, source, options.fabric, context, store);
  check(drill, fabric);
  const { driver, pace } = fabric.value.spec;
  if (driver !== 'simulated' || pace !== undefined || options.pace !== undefined) return undefined;
  const thread = takeComputing();
  const runs: JudgedRun[] = [];
  // a mistake in a file leaves no database behind
  const begun = (): void => store.open();
  const kept: Promise<boolean>[] = [];
  try {
    for (const seed of drill.seeds) {
      if (interrupts.interrupted && runs.length > 0) break;
      const run = await runHere(thread, { source, fabric, seed, begun }, interrupts, context);
      runs.push(run);
      // the next one may use the thread when this one is done with it
      const finished = drill.seeds.length === 1 ? run.finished : Promise.resolve(await run.finished);
      kept.push(finished.then((one) => keep(store, one, context).finally(() => one.evidence?.close())));
    }
    drill.report(runs.map(({ scorecard }) => scorecard));
    const areKept = await Promise.all(kept);
    const last = runs[runs.length - 1].scorecard.run.id;
    if (areKept[areKept.length - 1]) context.note(`next: ${context.command(`runs show ${last}`)}`);
    const codes = runs.map(({ exitCode }) => exitCode);
    return worstExit(runs.length < drill.seeds.length ? [...codes, EXIT.aborted] : codes);
  } finally {
    await thread.close();
  }
}

/** A run that can't be stored has its verdict all the same. @returns whether it is stored */
export async function keep(
  store: CommandStore,
  finished: FinishedRun,
  { note }: CommandContext,
): Promise<boolean> {
  try {
    await store.keep(finished);
    return true;
  } catch (error) {
    note(`the run is not stored: ${messageOf(error)}`);
    if (error instanceof EnvironmentError && error.hint !== undefined) note(`  ${error.hint}`);
    return false;
  }
}

async function drillOn(
  client: ApiClient,
  drill: Drill,
  interrupts: Interrupts,
  context: CommandContext,
): Promise<ExitCode> {
  const { source, fabric, options } = drill;
  if ('stored' in fabric) {
    check(drill, await fetchFabric(client, fabric.stored, source, options.fabric));
  }
  const codes: ExitCode[] = [];
  const scorecards: Scorecard[] = [];
  for (const seed of drill.seeds) {
    if (interrupts.interrupted) {
      if (codes.length === 0) throw new InterruptedError(EXIT.aborted);
      codes.push(EXIT.aborted);
      break;
    }
    const run = await startRun(client, source, fabric, seed, options);
    codes.push(await follow(client, run, interrupts, context));
    scorecards.push(await client.json<Scorecard>('GET', `/v1/runs/${run.id}/scorecard`));
  }
  drill.report(scorecards);
  const last = scorecards[scorecards.length - 1].run.id;
  context.note(`next: ${context.command(`runs show ${last}`)}`);
  return worstExit(codes);
}

/** A simulated fabric needs no confirmation; a real one is named twice, so that no typing slip breaks a cluster. */
function check({ options }: Drill, fabric: Loaded<FabricDocument>): void {
  requireConfirmed(fabric.value, options.confirm);
  const { metadata, spec } = fabric.value;
  if (spec.driver !== 'simulated' && options.pace !== undefined) {
    throw InputError.at('--pace', `"${metadata.name}" is a real fabric: it has the pace it has`);
  }
}

/** Has the server run an experiment. @throws InputError with the lines of what it finds wrong in the experiment */
export async function startRun(
  client: ApiClient,
  source: ExperimentFile,
  fabric: FabricReference,
  seed: number | undefined,
  { pace, confirm }: { pace?: string; confirm?: string } = {},
): Promise<RunView> {
  const choice = fabricChoice(fabric);
  try {
    const experiment = await client.json<{ id: string }>('POST', '/v1/experiments', source.experiment.source);
    const body = {
      fabric: choice,
      ...(seed === undefined ? {} : { seed }),
      ...(pace === undefined ? {} : { pace }),
      ...confirmMember(confirm),
    };
    return await client.json<RunView>('POST', `/v1/experiments/${experiment.id}/runs`, body, {
      'idempotency-key': randomUUID(),
    });
  } catch (error) {
    throw located(error, source);
  }
}

/** A fabric as a request names it. */
export const fabricChoice = (fabric: FabricReference): unknown =>
  'stored' in fabric ? fabric.stored : fabric.document.source;

/** Gives the server's findings about the experiment the file and line they have here. */
export function located(error: unknown, source: ExperimentFile): unknown {
  if (!(error instanceof ProblemError)) return error;
  // the fabric is in no state for a run, such as after a failed undo
  if (error.status === 409) return new EnvironmentError(error.message, error.problem.hint);
  if (error.problem.errors === undefined) return error;
  return new InputError(
    source.experiment.locate(
      error.problem.errors.map(({ file: _, line: __, column: ___, ...issue }): InputIssue => issue),
    ),
  );
}

/** The arguments that do the same again; `on` is the fabric that it was done on, by its own name. */
export function replayArguments(
  source: ExperimentFile,
  on: { fabric: string; driver: string },
  fabric?: string,
  seed?: number,
): string {
  return [
    'run',
    quoteArgument(source.reference),
    ...(fabric === undefined ? [] : ['--fabric', quoteArgument(fabric)]),
    ...(seed === undefined ? [] : ['--seed', String(seed)]),
    ...(on.driver === 'simulated' ? [] : ['--confirm', quoteArgument(on.fabric)]),
  ].join(' ');
}

type Write = (source: ExperimentFile, scorecards: readonly Scorecard[]) => void;

/** Looks at the outputs now, before anything has been run. */
function reportOne(options: RunOptions, context: CommandContext): Write {
  const outputs = parseReportOutputs(options.output, context.path);
  return (source, [scorecard]) => {
    const again = replayArguments(source, scorecard.run, options.fabric, scorecard.run.seed);
    const reproduceCommand = context.command(again);
    writeOutputs(outputs, scorecard, { ...terminalLook(context), reproduceCommand }, context);
  };
}

function reportSeveral(options: RunOptions, context: CommandContext): Write {
  const outputs = parseOutputs(options.output, context.path, (name) =>
    parseChoice('--output', name, ['text', 'json']),
  );
  return (_, runs) => {
    const all = { runs, figures: repeatedFigures(runs.map(({ scores }) => scores)) };
    const render = (format: string, atTerminal: boolean): string =>
      format === 'json' ? repeatsJson(all) : repeatsText(all, atTerminal ? terminalLook(context) : {});
    deliverAll(outputs, render, context);
  };
}
