/**
 * `gate SUITE --baseline REF --candidate REF`: is the candidate fabric as good as the baseline, as far as the suite asks?
 *
 * It runs here, on all cores, or on the server in FABRICDRILL_URL, over its workers. Runs are kept by their content, so that
 * the second gate on the same baseline makes half of them. Real fabrics are drilled one run after another, and nothing of
 * them is kept: they are not the same tomorrow.
 */
import { Option, type Command } from 'commander';
import { join } from 'node:path';
import { cached, FolderStore, programDigest } from '../../../drill/gate/cache.js';
import { conductGate, type Execute } from '../../../drill/gate/conduct.js';
import { isReal, SIDES, type CheckedGate } from '../../../drill/gate/gate-input.js';
import { defaultThreads, executeOn, RunPool } from '../../../drill/gate/pool.js';
import { gateExitCode, type GateResult } from '../../../comparison/result.js';
import type { SuiteObjective } from '../../../comparison/suite-objective.js';
import { InputError } from '../../../core/problem.js';
import { VERSION } from '../../../system/version.js';
import { GATE_FORMATS, gateFormat } from '../../../reports/catalog.js';
import type { GateFormat, GateReportOptions } from '../../../reports/gate/format.js';
import { quoteArgument } from '../../../reports/common/report.js';
import { EXIT, type ExitCode } from '../../../scoring/exit-codes.js';
import { withAnswers } from '../../computing.js';
import type { CommandContext } from '../../context.js';
import { collect, parseWhole } from '../../terminal/flags.js';
import { replaySeed } from './gate-replay.js';
import { gateProgress } from './gate-progress.js';
import { gateOnServer } from './gate-server.js';
import { checkReal, drillsAhead, refuseRealFlags, withDrills, type RealChoice } from './gate-real.js';
import {
  gateOf,
  locatedInSuite,
  readGate,
  type GateChoice,
  type GateDocuments,
  type GateFile,
} from './gate-source.js';
import { examples } from '../../terminal/help.js';
import { Interrupts } from '../../terminal/interrupts.js';
import { sameKeyMs } from '../../terminal/invocation.js';
import { deliverAll, parseOutputs, terminalLook, type Output } from '../../terminal/outputs.js';

interface GateOptions extends GateChoice, RealChoice {
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
  'gate experiments/suites/lab-upgrade.yaml --up --confirm lab-cured --confirm lab-as-shipped',
];

export function addGateCommand(
  command: Command,
  act: (work: (context: CommandContext) => Promise<ExitCode>) => Promise<void>,
): void {
  const formats = GATE_FORMATS.map(({ name }) => name).join(', ');
  command
    .argument('<suite>', 'suite file, file#name, or the id of a gate on the server')
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
    .addOption(
      new Option('--confirm <fabric>', 'name of a real fabric of the gate; repeatable').argParser(collect),
    )
    .option('--up', 'build a lab for each drill, and remove it behind it')
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
  const asked = {
    options,
    outputs,
    context,
    seed:
      options.seed === undefined ? undefined : parseWhole('--seed', options.seed, 1, Number.MAX_SAFE_INTEGER),
  };
  const documents = await readGate(reference, options, context);
  const gate = gateOf(documents.source, documents.sides, options);
  if (isReal(gate)) {
    checkReal(gate, options);
    if (asked.seed === undefined) context.note(drillsAhead(gate));
    return withDrills(
      { ...documents, up: options.up === true, confirm: options.confirm ?? [] },
      context,
      (execute) => conduct(gate, documents, execute, asked),
    );
  }
  refuseRealFlags(options);
  if (asked.seed === undefined) {
    const { suite, experiments, baseline, candidate } = gate;
    const asking = { suite, experiments, baseline, candidate };
    await withAnswers(context, (ask) => ask('refuseIncomparable', asking)).catch((error: unknown) => {
      throw error instanceof InputError ? locatedInSuite(error, documents.source) : error;
    });
    if (isForServer(options, context)) {
      const made = await gateOnServer(documents, gate.seeds, context);
      if (typeof made === 'number') return made;
      return deliverReports(withPlaces(made, documents.source), documents.source, asked);
    }
  }
  return inThreads(gate, threads, asked, (execute) => conduct(gate, documents, execute, asked));
}

/** What the command line asked for. */
interface Asked {
  options: GateOptions;
  outputs: Output<GateFormat>[];
  context: CommandContext;
  seed: number | undefined;
}

/** The whole gate, or one seed of it to look at. */
async function conduct(
  gate: CheckedGate,
  { source }: GateDocuments,
  execute: Execute,
  asked: Asked,
): Promise<ExitCode> {
  const { seed, context } = asked;
  if (seed !== undefined) return replaySeed(gate, seed, execute, context);
  const placeOf = ({ index }: Pick<SuiteObjective, 'index'>): Place => placeIn(source, index);
  const onRun = gateProgress(context);
  const result = await conductGate({ gate, version: VERSION, execute, onRun, placeOf });
  return deliverReports(result, source, asked);
}

async function inThreads<T>(
  gate: CheckedGate,
  threads: number,
  { options, context }: Asked,
  work: (execute: Execute) => Promise<T>,
): Promise<T> {
  const stop = (): never => {
    context.note(options.cache ? 'stopped; runs that were made are kept' : 'stopped');
    return process.exit(EXIT.aborted);
  };
  const interrupts = new Interrupts(
    // nothing of a simulated fabric is left behind
    { first: stop, second: stop },
    sameKeyMs(context.config),
  );
  const pool = new RunPool(threads);
  try {
    const made = executeOn(pool, gate);
    return await work(options.cache ? withCache(gate, made, context) : made);
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
function placeIn({ suite }: GateFile, objective: number): Place {
  const [{ file, line }] = suite.locate([{ pointer: `/spec/objectives/${objective}`, message: '' }]);
  return { ...(file === undefined ? {} : { file }), ...(line === undefined ? {} : { line }) };
}

/** A server does not know the suite's file; its result has the objectives in the order of the suite. */
const withPlaces = (result: GateResult, source: GateFile): GateResult => ({
  ...result,
  objectives: result.objectives.map(({ experiments, ...objective }, at) => ({
    ...objective,
    ...placeIn(source, at),
    experiments,
  })),
});

function withCache(gate: CheckedGate, execute: Execute, { config, note }: CommandContext): Execute {
  const folder = join(config.home, 'gate-runs');
  const store = new FolderStore(folder, (why) => note(`runs are not kept in ${folder}: ${why}`));
  store.trim();
  return cached(gate, execute, store, programDigest());
}

function deliverReports(
  result: GateResult,
  source: GateFile,
  { options, outputs, context }: Asked,
): ExitCode {
  const again = (more: string[]): string => context.command(gateArguments(source, options, more));
  const report: GateReportOptions = {
    ...(source.file === undefined ? {} : { file: source.file }),
    command: again(options.only === undefined ? [] : ['--only', options.only]),
    replay: (experiment, one) => again(['--only', experiment, '--seed', String(one)]),
  };
  const look = terminalLook(context);
  deliverAll(
    outputs,
    (format, atTerminal) => format.render(result, { ...report, ...(atTerminal ? look : {}) }),
    context,
  );
  return gateExitCode(result.verdict);
}

/** The arguments that do the same again. */
function gateArguments(source: GateFile, options: GateOptions, more: readonly string[]): string {
  const flags = [...SIDES, 'seeds' as const].flatMap((name) => {
    const value = options[name];
    return value === undefined ? [] : [`--${name}`, value];
  });
  flags.push(...(options.confirm ?? []).flatMap((name) => ['--confirm', name]));
  if (options.up === true) flags.push('--up');
  return ['gate', source.reference, ...flags, ...more].map(quoteArgument).join(' ');
}
