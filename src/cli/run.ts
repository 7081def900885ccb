/**
 * `run FILE`: one experiment from file to scorecard.
 */
import type { Command } from 'commander';
import { randomUUID } from 'node:crypto';
import { InputError, type InputIssue } from '../kernel/problem.js';
import { reproduceCommand } from '../reports/shared/report.js';
import { EXIT, type ExitCode } from '../scoring/exit-codes.js';
import type { Scorecard } from '../scoring/scorecard.js';
import type { ApiClient, RunView } from './api-client.js';
import type { CommandContext } from './context.js';
import { readExperiment, resolveFabric, type ExperimentFile, type FabricReference } from './definitions.js';
import { ProblemError } from './failure.js';
import { collect, parseOutputs, wantsColour, writeOutputs, type Output } from './outputs.js';
import { ProgressPrinter } from './progress.js';
import { parseSeed } from './seed.js';

interface RunOptions {
  fabric?: string;
  seed?: string;
  output: string[];
  confirm?: string;
}

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
    .option('--output <format[=path]>', 'text, json, markdown or junit; repeatable', collect, [])
    .option('--confirm <fabric>', 'name of the fabric, needed when it is a real one')
    .action((file: string, options: RunOptions) => act((context) => runExperiment(file, options, context)));
}

async function runExperiment(file: string, options: RunOptions, context: CommandContext): Promise<ExitCode> {
  const outputs = parseOutputs(options.output, context.path);
  const seed = parseSeed(options.seed);
  const source = readExperiment(file, context.path);
  const fabric = resolveFabric(source, options.fabric, context.path);
  requireConfirmation(fabric, options.confirm);
  return context.withServer(
    async (client) => {
      const run = await start(client, source, fabric, seed);
      const exitCode = await follow(client, run, context);
      await report(client, run, outputs, { file, fabric: options.fabric }, context);
      return exitCode;
    },
    { worker: true },
  );
}

/** A simulated fabric needs no confirmation; a real one is named twice, so that no typing slip breaks a cluster. */
function requireConfirmation(fabric: FabricReference, confirm: string | undefined): void {
  if (!('document' in fabric)) return;
  const { metadata, spec } = fabric.document.value;
  if (spec.driver === 'simulated' || confirm === metadata.name) return;
  throw InputError.at('--confirm', `"${metadata.name}" is a real fabric`, `add --confirm ${metadata.name}`);
}

async function start(
  client: ApiClient,
  source: ExperimentFile,
  fabric: FabricReference,
  seed: number | undefined,
): Promise<RunView> {
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
  if (!(error instanceof ProblemError) || error.problem.errors === undefined) return error;
  return new InputError(
    source.experiment.locate(
      error.problem.errors.map(({ file: _, line: __, ...issue }): InputIssue => issue),
    ),
  );
}

/** Shows progress until the end. The first Ctrl-C reverts and aborts, the second leaves at once. */
async function follow(client: ApiClient, run: RunView, context: CommandContext): Promise<ExitCode> {
  const progress = new ProgressPrinter(process.stderr, process.stderr.isTTY && context.config.colour);
  context.note(`run ${run.id}: ${run.experiment} on ${run.fabric}, seed ${run.seed}`);
  let interrupts = 0;
  const onInterrupt = (): void => {
    interrupts++;
    progress.finish();
    if (interrupts === 1) {
      context.note('reverting; press Ctrl-C again to leave at once');
      client
        .json('POST', `/v1/runs/${run.id}/abort`, { reason: 'interrupted at the command line' })
        .catch((error: unknown) =>
          context.note(`the abort could not be asked for: ${(error as Error).message}`),
        );
    } else {
      context.note(`left while run ${run.id} was being reverted; a fault may still be in place`);
      context.note(`look at it with: fabricdrill runs show ${run.id}`);
      process.exit(EXIT.rollbackFailed);
    }
  };
  process.on('SIGINT', onInterrupt);
  process.on('SIGTERM', onInterrupt);
  try {
    for await (const event of client.events(run.id)) {
      progress.show(event);
      if (event.type === 'end') return Number(event.data.exitCode) as ExitCode;
    }
    return EXIT.bug;
  } finally {
    progress.finish();
    process.off('SIGINT', onInterrupt);
    process.off('SIGTERM', onInterrupt);
  }
}

async function report(
  client: ApiClient,
  run: RunView,
  outputs: readonly Output[],
  names: { file: string; fabric?: string },
  context: CommandContext,
): Promise<void> {
  const scorecard = await client.json<Scorecard>('GET', `/v1/runs/${run.id}/scorecard`);
  const command = reproduceCommand({ ...names, seed: run.seed });
  writeOutputs(outputs, scorecard, { colour: wantsColour(context), reproduceCommand: command }, context);
  context.note(`next: fabricdrill runs show ${run.id}`);
}
