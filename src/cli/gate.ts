/**
 * `gate SUITE --baseline REF --candidate REF`: is the candidate fabric as good as the baseline, as far as the suite asks?
 *
 * It runs here, on all cores, or on the server in FABRICDRILL_URL, over its workers. Runs are kept by their content, so that
 * the second gate on the same baseline makes half of them.
 */
import { Option, type Command } from 'commander';
import { join } from 'node:path';
import { cached, FolderStore, programDigest } from '../gates/conduct/cache.js';
import { conductGate, type Execute } from '../gates/conduct/conduct.js';
import { refuseIncomparable, SIDES, type CheckedGate } from '../gates/conduct/gate-input.js';
import { defaultThreads, executeOn, RunPool } from '../gates/conduct/pool.js';
import { gateExitCode, type GateResult } from '../gate/result.js';
import type { SuiteObjective } from '../gate/suite-objective.js';
import { InputError } from '../kernel/problem.js';
import { VERSION } from '../platform/version.js';
import { GATE_FORMATS, gateFormat } from '../reports/catalog.js';
import type { GateFormat, GateReportOptions } from '../reports/gate/format.js';
import { quoteArgument } from '../reports/common/report.js';
import { EXIT, type ExitCode } from '../scoring/exit-codes.js';
import type { CommandContext } from './context.js';
import { collect, parseSeed, parseWhole } from './flags.js';
import { replaySeed } from './gate-replay.js';
import { gateProgress } from './gate-progress.js';
import { gateOnServer } from './gate-server.js';
import { gateOf, locatedInSuite, readSides, type GateChoice } from './gate-source.js';
import { examples } from './help.js';
import { Interrupts } from './interrupts.js';
import { sameKeyMs } from './invocation.js';
import { deliver, parseOutputs, wantsColour, type Output } from './outputs.js';
import { readSuite, type SuiteFile } from './suite-file.js';

interface GateOptions extends GateChoice {
  output?: string[];
  threads?: string;
  cache: boolean;
  seed?: string;
}

const MOST_THREADS = 64;

const EXAMPLES = [
  'gate experiments/suites/pre-upgrade.yaml --baseline fabrics/today.yaml --candidate fabrics/next.yaml',
  'gate mine.yaml --baseline a.yaml#today --candidate a.yaml#next --output junit=gate.xml --output markdown=gate.md',
  'gate mine.yaml --only link-down --seed 7',
];

export function addGateCommand(
  program: Command,
  act: (work: (context: CommandContext) => Promise<ExitCode>) => Promise<void>,
): void {
  const formats = GATE_FORMATS.map(({ name }) => name).join(', ');
  program
    .command('gate')
    .argument('<suite>', 'suite file, or file#name')
    .description('is a changed fabric as good as the one before? The same experiments and seeds on both')
    .option('--baseline <ref>', 'the fabric as it is: a stored one’s name, a YAML path, or path#name')
    .option('--candidate <ref>', 'the fabric as it would be')
    .option('--seeds <n>', 'how many seeds at most, instead of the suite’s own number')
    .addOption(
      new Option(
        '--output <format[=path]>',
        `${formats}; with =path into a file; repeatable; text unless another goes to stdout`,
      ).argParser(collect),
    )
    .option('--threads <n>', 'threads that run experiments (default: one a core)')
    .option('--no-cache', 'make every run anew, and keep none')
    .option('--only <experiment>', 'one experiment alone; with --seed it shows both runs of that seed')
    .option('--seed <n>', 'one seed, to look at; decides nothing')
    .addHelpText('after', examples(EXAMPLES))
    .addHelpText('after', '\nExits 0 when nothing became worse, 1 for a regression, 3 when neither is shown.')
    .action((suite: string, options: GateOptions) => act((context) => runGate(suite, options, context)));
}

async function runGate(reference: string, options: GateOptions, context: CommandContext): Promise<ExitCode> {
  const outputs = parseOutputs(options.output, context.path, (name) => gateFormat(name, '--output'));
  const threads =
    options.threads === undefined
      ? defaultThreads()
      : parseWhole('--threads', options.threads, 1, MOST_THREADS);
  const seed = parseSeed(options.seed);
  const source = readSuite(reference, context.path);
  const sides = await readSides(source, options, context);
  const gate = gateOf(source, sides, options);
  const report = (result: GateResult): ExitCode =>
    deliverReports(result, source, { options, outputs, context });
  if (seed === undefined) {
    await refuseIncomparable(gate).catch((error: unknown) => {
      throw error instanceof InputError ? locatedInSuite(error, source) : error;
    });
    if (isForServer(options, context)) {
      const made = await gateOnServer(source, sides, gate.seeds, context);
      return typeof made === 'number' ? made : report(withPlaces(made, source));
    }
  }
  const interrupts = new Interrupts(
    // nothing of a simulated fabric is left behind, and runs that were made are kept
    { first: () => process.exit(EXIT.aborted), second: () => process.exit(EXIT.aborted) },
    sameKeyMs(context.config),
  );
  const pool = new RunPool(threads);
  try {
    const made = executeOn(pool, gate);
    const execute = options.cache ? withCache(gate, made, context) : made;
    if (seed !== undefined) return await replaySeed(gate, seed, execute, context);
    const placeOf = ({ index }: Pick<SuiteObjective, 'index'>): Place => placeIn(source, index);
    return report(
      await conductGate({ gate, version: VERSION, execute, onRun: gateProgress(context), placeOf }),
    );
  } finally {
    await pool.close();
    interrupts.close();
  }
}

/** Threads, this machine's kept runs and a single experiment are matters of this process. */
const isForServer = ({ threads, cache, only }: GateOptions, { config }: CommandContext): boolean =>
  config.serverUrl !== undefined && threads === undefined && cache && only === undefined;

interface Place {
  file?: string;
  line?: number;
}

/** Where the suite states its objective. */
function placeIn({ suite }: SuiteFile, objective: number): Place {
  const [{ file, line }] = suite.locate([{ pointer: `/spec/objectives/${objective}`, message: '' }]);
  return { ...(file === undefined ? {} : { file }), ...(line === undefined ? {} : { line }) };
}

/** A server does not know the suite's file; its result has the objectives in the order of the suite. */
const withPlaces = (result: GateResult, source: SuiteFile): GateResult => ({
  ...result,
  objectives: result.objectives.map(({ experiments, ...objective }, at) => ({
    ...objective,
    ...placeIn(source, at),
    experiments,
  })),
});

function withCache(gate: CheckedGate, execute: Execute, { config }: CommandContext): Execute {
  const store = new FolderStore(join(config.home, 'gate-runs'));
  store.trim();
  return cached(gate, execute, store, programDigest());
}

function deliverReports(
  result: GateResult,
  source: SuiteFile,
  {
    options,
    outputs,
    context,
  }: { options: GateOptions; outputs: Output<GateFormat>[]; context: CommandContext },
): ExitCode {
  const again = (more: string[]): string => context.command(gateArguments(source, options, more));
  const report: GateReportOptions = {
    file: source.file,
    command: again(options.only === undefined ? [] : ['--only', options.only]),
    replay: (experiment, one) => again(['--only', experiment, '--seed', String(one)]),
  };
  for (const { format, path } of outputs) {
    const colour = path === undefined && wantsColour(context);
    deliver(path, format.name, format.render(result, { ...report, colour }), context);
  }
  return gateExitCode(result.verdict);
}

/** The arguments that do the same again. */
function gateArguments(source: SuiteFile, options: GateOptions, more: readonly string[]): string {
  const flags = [...SIDES, 'seeds' as const].flatMap((name) => {
    const value = options[name];
    return value === undefined ? [] : [`--${name}`, value];
  });
  return ['gate', source.reference, ...flags, ...more].map(quoteArgument).join(' ');
}
