/** `runs list|show|watch|abort|report|evidence|clear`. */
import type { Command } from 'commander';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { InputError } from '../../core/problem.js';
import { EXIT, type ExitCode } from '../../scoring/exit-codes.js';
import { RUN_STATES } from '../../scoring/scorecard.js';
import type { ApiClient, RunView } from '../client/api-client.js';
import { listedRuns, runScorecard, shownRun, withObserved } from '../client/stored-runs.js';
import type { CommandContext } from '../context.js';
import { parseChoice, parseWhole } from '../terminal/flags.js';
import { examples } from '../terminal/help.js';
import { parseReportOutputs, reportOption, terminalLook, writeOutputs } from '../terminal/outputs.js';
import { ProgressPrinter } from '../terminal/progress.js';
import { table } from '../terminal/table.js';

type Act = (work: (context: CommandContext) => Promise<ExitCode>) => Promise<void>;

/** What the API gives in one page at most. */
const MOST_ROWS = 200;

interface ListOptions {
  state?: string;
  fabric?: string;
  experiment?: string;
  limit: string;
  output: string;
}

export function addRunsCommand(runs: Command, act: Act): void {
  runs
    .command('list')
    .description('runs, newest first')
    .option('--state <state>', `only runs in this state: ${RUN_STATES.join(', ')}`)
    .option('--fabric <name>', 'only runs on this fabric')
    .option('--experiment <name>', 'only runs of this experiment')
    .option('--limit <n>', `this many, at most ${MOST_ROWS}`, '20')
    .option('--output <format>', 'text or json', 'text')
    .addHelpText('after', examples(['runs list', 'runs list --state failed --output json']))
    .action((options: ListOptions) => act((context) => list(options, context)));
  runs
    .command('show')
    .argument('<id>', 'id of a run, as runs list shows it')
    .description('one run with its plan, as JSON')
    .action((id: string) => act((context) => show(id, context)));
  runs
    .command('watch')
    .argument('<id>', 'id of a run')
    .description('follow a run to its end; exits as the run does')
    .action((id: string) => act((context) => watch(id, context)));
  runs
    .command('abort')
    .argument('<id>', 'id of a run')
    .description('revert everything and end the run as aborted')
    .option('--reason <text>', 'why', 'asked for at the command line')
    .action((id: string, options: { reason: string }) => act((context) => abort(id, options, context)));
  runs
    .command('report')
    .argument('<id>', 'id of a run')
    .description('the scorecard of a run')
    .addOption(reportOption())
    .addHelpText('after', examples(['runs report ID', 'runs report ID --output markdown=result.md']))
    .action((id: string, options: { output?: string[] }) => act((context) => report(id, options, context)));
  runs
    .command('evidence')
    .argument('<id>', 'id of a run')
    .description('write what was observed to an Arrow file; of a paced run under way, what was so far')
    .option('--to <file>', 'where to; ID.arrow in the working folder when left out')
    .addHelpText('after', examples(['runs evidence ID', 'diagnose --evidence ID.arrow']))
    .action((id: string, options: { to?: string }) => act((context) => evidence(id, options, context)));
  runs
    .command('clear')
    .argument('<id>', 'id of a run that ended as rollback-failed')
    .description('lift the block that a failed undo leaves on its fabric')
    .requiredOption('--reason <text>', 'what was checked and done by hand')
    .action((id: string, options: { reason: string }) => act((context) => clear(id, options, context)));
}

const address = (id: string, rest = ''): string => `/v1/runs/${encodeURIComponent(id)}${rest}`;

async function list(options: ListOptions, context: CommandContext): Promise<ExitCode> {
  const format = parseChoice('--output', options.output, ['text', 'json']);
  const limit = parseWhole('--limit', options.limit, 1, MOST_ROWS);
  const choice = {
    ...(options.state === undefined ? {} : { state: parseChoice('--state', options.state, RUN_STATES) }),
    ...(options.fabric === undefined ? {} : { fabric: options.fabric }),
    ...(options.experiment === undefined ? {} : { experiment: options.experiment }),
  };
  const runs = await listedRuns(choice, limit, context);
  if (format === 'json') context.out(`${JSON.stringify(runs, null, 2)}\n`);
  else if (runs.length > 0) context.out(runTable(runs));
  if (runs.length > 0) context.note(`next: ${context.command(`runs show ${runs[0].id}`)}`);
  else if (Object.keys(choice).length > 0) context.note('no run is like that');
  else context.note(`no runs yet; try: ${context.command('run experiments/link-down.yaml')}`);
  return EXIT.passed;
}

async function show(id: string, context: CommandContext): Promise<ExitCode> {
  const run = await shownRun(id, context);
  context.out(`${JSON.stringify(run, null, 2)}\n`);
  const next = run.final ? (run.sealed ? 'evidence' : 'report') : 'watch';
  context.note(`next: ${context.command(`runs ${next} ${run.id}`)}`);
  return EXIT.passed;
}

const watch = (id: string, context: CommandContext): Promise<ExitCode> =>
  context.withServer(async (client) => {
    const progress = new ProgressPrinter(process.stderr, process.stderr.isTTY && context.config.colour);
    const exitCode = await untilEnd(client, id, progress);
    context.note(`next: ${context.command(`runs report ${id}`)}`);
    return exitCode;
  });

async function untilEnd(client: ApiClient, id: string, progress: ProgressPrinter): Promise<ExitCode> {
  try {
    for await (const event of client.events(id)) {
      progress.show(event);
      // how a sealed run ended is nobody's to know yet
      if (event.type === 'end') return (event.data.exitCode ?? EXIT.inconclusive) as ExitCode;
    }
    return EXIT.inconclusive;
  } finally {
    progress.finish();
  }
}

const abort = (id: string, options: { reason: string }, context: CommandContext): Promise<ExitCode> =>
  context.withServer(async (client) => {
    const run = await client.json<RunView>('POST', address(id, '/abort'), options);
    context.out(`run ${id}: ${run.final ? run.state : 'abort requested'}\n`);
    if (!run.final) context.note(`next: ${context.command(`runs watch ${id}`)}`);
    return EXIT.passed;
  });

async function report(
  id: string,
  options: { output?: string[] },
  context: CommandContext,
): Promise<ExitCode> {
  const outputs = parseReportOutputs(options.output, context.path);
  writeOutputs(outputs, await runScorecard(id, context), terminalLook(context), context);
  return EXIT.passed;
}

/** What the team of a blind day works from, and anybody else who wants to look for themselves. */
function evidence(id: string, options: { to?: string }, context: CommandContext): Promise<ExitCode> {
  const named = options.to ?? `${id}.arrow`;
  const path = context.path(named);
  return withObserved(id, context, async ({ chunks, untilS }) => {
    try {
      await pipeline(chunks, createWriteStream(path));
    } catch (error) {
      throw InputError.at('--to', `${named} can't be written: ${(error as Error).message}`);
    }
    context.note(untilS === null ? `evidence: ${named}` : `evidence of the first ${untilS} s: ${named}`);
    context.note(`next: ${context.command(`diagnose --evidence ${named}`)}`);
    return EXIT.passed;
  });
}

const clear = (id: string, options: { reason: string }, context: CommandContext): Promise<ExitCode> =>
  context.withServer(async (client) => {
    await client.json('POST', address(id, '/clear'), options);
    context.out(`run ${id}: cleared\n`);
    return EXIT.passed;
  });

function runTable(runs: readonly RunView[]): string {
  return table(
    ['id', 'experiment', 'fabric', 'seed', 'state', 'created'],
    runs.map((run) => [run.id, run.experiment, run.fabric, String(run.seed ?? ''), run.state, run.createdAt]),
  );
}
