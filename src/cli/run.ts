/**
 * `run FILE`: one experiment from file to scorecard.
 *
 * Everything that can be checked is checked before a server is started or told anything, so that a mistake costs a
 * moment and leaves nothing behind.
 */
import type { Command } from 'commander';
import { randomUUID } from 'node:crypto';
import type { FabricDocument } from '../experiments/definition/fabric-document.js';
import type { Loaded } from '../experiments/definition/load.js';
import { EnvironmentError, InputError, type InputIssue } from '../kernel/problem.js';
import { quoteArgument } from '../reports/shared/report.js';
import { EXIT, type ExitCode } from '../scoring/exit-codes.js';
import type { Scorecard } from '../scoring/scorecard.js';
import type { ApiClient, RunView } from './api-client.js';
import { fetchFabric, planHere } from './check.js';
import type { CommandContext } from './context.js';
import { readExperiment, resolveFabric, type ExperimentFile, type FabricReference } from './definitions.js';
import { InterruptedError, ProblemError } from './failure.js';
import { parseSeed } from './flags.js';
import { follow } from './follow.js';
import { examples } from './help.js';
import { Interrupts } from './interrupts.js';
import { sameKeyMs } from './invocation.js';
import { parseReportOutputs, reportOption, wantsColour, writeOutputs, type Output } from './outputs.js';

interface RunOptions {
  fabric?: string;
  seed?: string;
  output?: string[];
  confirm?: string;
}

/** All that is needed to start. */
interface Drill {
  source: ExperimentFile;
  fabric: FabricReference;
  seed?: number;
  options: RunOptions;
  outputs: Output[];
}

const EXAMPLES = [
  'run experiments/link-down.yaml',
  'run experiments/link-down.yaml --seed 8 --output text --output json=result.json --output junit=result.xml',
  'run experiments/link-down.yaml --fabric spectrum',
  'run mine.yaml#second --fabric fabrics/lab.yaml#small',
];

export function addRunCommand(
  program: Command,
  act: (work: (context: CommandContext) => Promise<ExitCode>) => Promise<void>,
): void {
  program
    .command('run')
    .argument('<file>', 'experiment file, or file#name')
    .description('one experiment from file to scorecard')
    .option('--fabric <ref>', 'run on another fabric: a stored one’s name, a YAML path, or path#name')
    .option('--seed <n>', 'another seed')
    .addOption(reportOption())
    .option('--confirm <fabric>', 'name of the fabric, needed when it is a real one')
    .addHelpText('after', examples(EXAMPLES))
    .addHelpText(
      'after',
      '\nCtrl-C reverts everything and ends with 4; a second Ctrl-C leaves at once, with 5.',
    )
    .action((file: string, options: RunOptions) => act((context) => runExperiment(file, options, context)));
}

async function runExperiment(file: string, options: RunOptions, context: CommandContext): Promise<ExitCode> {
  const outputs = parseReportOutputs(options.output, context.path);
  const seed = parseSeed(options.seed);
  const source = readExperiment(file, context.path);
  const fabric = resolveFabric(source, options.fabric, context.path);
  const drill: Drill = { source, fabric, seed, options, outputs };
  if ('document' in fabric) await check(drill, fabric.document);
  const interrupts = new Interrupts(
    {
      first: () => context.note('stopping; nothing was injected'),
      second: () => process.exit(EXIT.aborted),
    },
    sameKeyMs(context.config),
  );
  try {
    return await context.withServer((client) => drillOn(client, drill, interrupts, context), {
      worker: true,
      interrupts,
    });
  } finally {
    interrupts.close();
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
    await check(drill, await fetchFabric(client, fabric.stored, source, options.fabric));
  }
  if (interrupts.interrupted) throw new InterruptedError(EXIT.aborted);
  const run = await start(client, drill);
  const exitCode = await follow(client, run, interrupts, context);
  await report(client, run, drill, context);
  return exitCode;
}

/** A simulated fabric needs no confirmation; a real one is named twice, so that no typing slip breaks a cluster. */
async function check({ source, seed, options }: Drill, fabric: Loaded<FabricDocument>): Promise<void> {
  const { metadata, spec } = fabric.value;
  if (spec.driver !== 'simulated' && options.confirm !== metadata.name) {
    const message = `"${metadata.name}" is a real fabric`;
    throw InputError.at('--confirm', message, `add --confirm ${metadata.name}`);
  }
  // a real fabric may be in reach of the server alone
  if (spec.driver === 'simulated') await planHere(source, fabric, seed);
}

async function start(client: ApiClient, { source, fabric, seed }: Drill): Promise<RunView> {
  const choice = 'stored' in fabric ? fabric.stored : fabric.document.source;
  try {
    const experiment = await client.json<{ id: string }>('POST', '/v1/experiments', source.experiment.source);
    const body = { fabric: choice, ...(seed === undefined ? {} : { seed }) };
    return await client.json<RunView>('POST', `/v1/experiments/${experiment.id}/runs`, body, {
      'idempotency-key': randomUUID(),
    });
  } catch (error) {
    throw located(error, source);
  }
}

/** Gives the server's findings about the experiment the file and line they have here. */
function located(error: unknown, source: ExperimentFile): unknown {
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

/** The arguments that do the same again. */
export function replayArguments(source: ExperimentFile, fabric?: string, seed?: number): string {
  return [
    'run',
    quoteArgument(source.reference),
    ...(fabric === undefined ? [] : ['--fabric', quoteArgument(fabric)]),
    ...(seed === undefined ? [] : ['--seed', String(seed)]),
  ].join(' ');
}

async function report(
  client: ApiClient,
  run: RunView,
  { source, options, outputs }: Drill,
  context: CommandContext,
): Promise<void> {
  const scorecard = await client.json<Scorecard>('GET', `/v1/runs/${run.id}/scorecard`);
  const reproduceCommand = context.command(replayArguments(source, options.fabric, run.seed));
  writeOutputs(outputs, scorecard, { colour: wantsColour(context), reproduceCommand }, context);
  context.note(`next: ${context.command(`runs show ${run.id}`)}`);
}
