/**
 * `gate SUITE --baseline REF --candidate REF`: is the candidate fabric as good as the baseline, as far as the suite asks?
 *
 * It runs here, on all cores, without a server; only a stored fabric is asked for from one. Runs are kept by their
 * content, so that the second gate on the same baseline makes half of them.
 */
import { Option, type Command } from 'commander';
import { join } from 'node:path';
import { refuseFiles, type FabricDocument } from '../experiments/definition/fabric-document.js';
import { loadFabric, type Loaded } from '../experiments/definition/load.js';
import { cached, FolderStore, programDigest } from '../gates/conduct/cache.js';
import { conductGate, type Execute } from '../gates/conduct/conduct.js';
import { checkGate, SIDES, type CheckedGate, type Side } from '../gates/conduct/gate-input.js';
import { defaultThreads, executeOn, RunPool } from '../gates/conduct/pool.js';
import { gateExitCode } from '../gate/result.js';
import { listChoices, nearestHint } from '../kernel/nearest.js';
import { InputError } from '../kernel/problem.js';
import { VERSION } from '../platform/version.js';
import { GATE_FORMATS, gateFormat } from '../reports/catalog.js';
import type { GateFormat, GateReportOptions } from '../reports/gate/format.js';
import { quoteArgument } from '../reports/common/report.js';
import { EXIT, type ExitCode } from '../scoring/exit-codes.js';
import { checkFabric } from './check.js';
import type { CommandContext } from './context.js';
import { ProblemError } from './failure.js';
import { collect, parseSeed, parseWhole } from './flags.js';
import { replaySeed } from './gate-replay.js';
import { examples } from './help.js';
import { Interrupts } from './interrupts.js';
import { sameKeyMs } from './invocation.js';
import { deliver, parseOutputs, wantsColour, type Output } from './outputs.js';
import { readSuite, sideFabric, type SuiteFile } from './suite-file.js';

export interface GateOptions {
  baseline?: string;
  candidate?: string;
  seeds?: string;
  output?: string[];
  threads?: string;
  cache: boolean;
  only?: string;
  seed?: string;
}

const MOST_SEEDS = 1000;
const MOST_THREADS = 64;

const EXAMPLES = [
  'gate experiments/suites/bfd-off.yaml',
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
  const gate = await gateOf(source, options, context);
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
    return await conduct(source, gate, execute, { options, outputs, context });
  } finally {
    await pool.close();
    interrupts.close();
  }
}

function withCache(gate: CheckedGate, execute: Execute, { config }: CommandContext): Execute {
  const store = new FolderStore(join(config.home, 'gate-runs'));
  store.trim();
  return cached(gate, execute, store, programDigest());
}

/** Reads and checks all that the gate needs, before anything is run. */
export async function gateOf(
  source: SuiteFile,
  options: Pick<GateOptions, 'baseline' | 'candidate' | 'seeds' | 'only'>,
  context: CommandContext,
): Promise<CheckedGate> {
  const seeds = options.seeds === undefined ? undefined : parseWhole('--seeds', options.seeds, 1, MOST_SEEDS);
  const fabrics = {} as Record<Side, FabricDocument>;
  for (const side of SIDES) {
    const found = sideFabric(source, side, options[side], context.path);
    const fabric = 'document' in found ? found.document : await storedFabric(found.stored, side, context);
    checkFabric(fabric);
    fabrics[side] = fabric.value;
  }
  const experiments = source.experiments.map(({ value }) => value);
  const input = {
    suite: source.suite.value,
    experiments,
    ...fabrics,
    ...(seeds === undefined ? {} : { seeds }),
  };
  try {
    return onlyOf(checkGate(input), options.only);
  } catch (error) {
    throw error instanceof InputError ? new InputError(locatedFlags(error, source)) : error;
  }
}

const locatedFlags = ({ issues }: InputError, { suite }: SuiteFile): InputError['issues'] =>
  issues.flatMap((issue) => (issue.pointer.startsWith('--') ? [issue] : suite.locate([issue])));

/** The gate with one experiment alone, and the objectives that are judged on it. */
function onlyOf(gate: CheckedGate, only: string | undefined): CheckedGate {
  if (only === undefined) return gate;
  const experiments = gate.experiments.filter(({ metadata }) => metadata.name === only);
  const names = gate.experiments.map(({ metadata }) => metadata.name);
  if (experiments.length === 0) {
    const message = `the suite has no experiment "${only}"; it has ${listChoices(names, 30)}`;
    throw InputError.at('--only', message, nearestHint(only, names));
  }
  const objectives = gate.objectives.filter(({ on }) => on?.includes(only) ?? true);
  if (objectives.length === 0) throw InputError.at('--only', `no objective is judged on "${only}"`);
  return { ...gate, experiments, objectives };
}

async function storedFabric(
  name: string,
  side: Side,
  context: CommandContext,
): Promise<Loaded<FabricDocument>> {
  return context.withServer(async (client) => {
    try {
      const path = `/v1/fabrics/${encodeURIComponent(name)}`;
      return loadFabric((await client.json<{ definition: unknown }>('GET', path)).definition, refuseFiles);
    } catch (error) {
      if (!(error instanceof ProblemError) || error.status !== 404) throw error;
      const names: string[] = [];
      for await (const fabric of client.pages<{ name: string }>('/v1/fabrics')) names.push(fabric.name);
      const there = names.length === 0 ? 'none is stored' : `stored are ${listChoices(names.sort())}`;
      const hint = nearestHint(name, names) ?? 'a path of a fabric file has a slash in it or ends in .yaml';
      throw InputError.at(`--${side}`, `there is no fabric "${name}"; ${there}`, hint);
    }
  });
}

async function conduct(
  source: SuiteFile,
  gate: CheckedGate,
  execute: Execute,
  {
    options,
    outputs,
    context,
  }: { options: GateOptions; outputs: Output<GateFormat>[]; context: CommandContext },
): Promise<ExitCode> {
  const result = await conductGate({
    gate,
    version: VERSION,
    execute,
    onRun: progress(context),
    placeOf: ({ index }) => {
      const [{ file, line }] = source.suite.locate([{ pointer: `/spec/objectives/${index}`, message: '' }]);
      return { ...(file === undefined ? {} : { file }), ...(line === undefined ? {} : { line }) };
    },
  });
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

const PROGRESS_EVERY_MS = 5000;

/** Now and then a line, so that a log shows that something is going on. */
function progress({ note }: CommandContext): (done: number, planned: number) => void {
  let lastMs = performance.now();
  return (done, planned) => {
    const nowMs = performance.now();
    if (nowMs - lastMs < PROGRESS_EVERY_MS) return;
    lastMs = nowMs;
    note(`${done} of at least ${planned} runs`);
  };
}
