/** `runs list|show|watch|abort|report|clear`. */
import type { Command } from 'commander';
import { EXIT, type ExitCode } from '../scoring/exit-codes.js';
import type { Scorecard } from '../scoring/scorecard.js';
import type { ApiClient, RunView } from './api-client.js';
import type { CommandContext } from './context.js';
import { collect, parseOutputs, wantsColour, writeOutputs } from './outputs.js';
import { ProgressPrinter } from './progress.js';
import { table } from './table.js';

type Act = (work: (context: CommandContext) => Promise<ExitCode>) => Promise<void>;

export function addRunsCommand(program: Command, act: Act): void {
  const runs = program.command('runs').description('look at runs, abort them, get their reports');
  const withClient = (work: (client: ApiClient, context: CommandContext) => Promise<ExitCode | undefined>) =>
    act((context) => context.withServer(async (client) => (await work(client, context)) ?? EXIT.passed));
  const path = (id: string, rest = ''): string => `/v1/runs/${encodeURIComponent(id)}${rest}`;

  runs
    .command('list')
    .description('runs, newest first')
    .option('--state <state>', 'only runs in this state')
    .option('--fabric <name>', 'only runs on this fabric')
    .option('--experiment <name>', 'only runs of this experiment')
    .option('--limit <n>', 'this many', '20')
    .action((options: Record<string, string>) =>
      withClient(async (client, context) => {
        const { data } = await client.json<{ data: RunView[] }>(
          'GET',
          `/v1/runs?${new URLSearchParams(options).toString()}`,
        );
        context.out(runTable(data));
        return undefined;
      }),
    );
  runs
    .command('show')
    .argument('<id>')
    .description('one run with its plan, as JSON')
    .action((id: string) =>
      withClient(async (client, context) => {
        context.out(`${JSON.stringify(await client.json('GET', path(id)), null, 2)}\n`);
        return undefined;
      }),
    );
  runs
    .command('watch')
    .argument('<id>')
    .description('follow a run to its end; exits as the run does')
    .action((id: string) =>
      withClient(async (client) => {
        const progress = new ProgressPrinter(process.stderr, process.stderr.isTTY);
        for await (const event of client.events(id)) {
          progress.show(event);
          if (event.type === 'end') {
            progress.finish();
            return Number(event.data.exitCode) as ExitCode;
          }
        }
        return EXIT.inconclusive;
      }),
    );
  runs
    .command('abort')
    .argument('<id>')
    .description('revert everything and end the run as aborted')
    .option('--reason <text>', 'why', 'asked for at the command line')
    .action((id: string, options: { reason: string }) =>
      withClient(async (client, context) => {
        const run = await client.json<RunView>('POST', path(id, '/abort'), options);
        context.out(`run ${id}: ${run.final ? run.state : 'abort requested'}\n`);
        return undefined;
      }),
    );
  runs
    .command('report')
    .argument('<id>')
    .description('the scorecard of a run')
    .option('--output <format[=path]>', 'text, json, markdown or junit; repeatable', collect, [])
    .action((id: string, options: { output: string[] }) =>
      act((context) => {
        const outputs = parseOutputs(options.output, context.path);
        return context.withServer(async (client) => {
          const scorecard = await client.json<Scorecard>('GET', path(id, '/scorecard'));
          writeOutputs(outputs, scorecard, { colour: wantsColour(context) }, context);
          return EXIT.passed;
        });
      }),
    );
  runs
    .command('clear')
    .argument('<id>')
    .description('lift the block that a failed undo leaves on its fabric')
    .requiredOption('--reason <text>', 'what was checked and done by hand')
    .action((id: string, options: { reason: string }) =>
      withClient(async (client, context) => {
        await client.json('POST', path(id, '/clear'), options);
        context.out(`run ${id}: cleared\n`);
        return undefined;
      }),
    );
}

function runTable(runs: readonly RunView[]): string {
  if (runs.length === 0) return 'no runs yet; try: fabricdrill run experiments/link-down.yaml\n';
  return table(
    ['id', 'experiment', 'fabric', 'seed', 'state', 'created'],
    runs.map((run) => [run.id, run.experiment, run.fabric, String(run.seed), run.state, run.createdAt]),
  );
}
