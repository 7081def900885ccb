/**
 * `bench NAME`: the published benchmarks, as a table or as JSON.
 *
 * Benches are measuring code beside the product, and no import leads from here to there (the fence
 * `src-without-tests`): the compiled bench is looked up beside the compiled program when the command runs, so that an
 * installation without it works and says what is missing.
 */
import type { Command } from 'commander';
import { existsSync, statSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { EnvironmentError, InputError } from '../../core/problem.js';
import { VERSION } from '../../system/version.js';
import { EXIT, type ExitCode } from '../../scoring/exit-codes.js';
import type { CommandContext } from '../context.js';
import { collect, parseChoice } from '../terminal/flags.js';
import { examples } from '../terminal/help.js';
import type { BenchOutcome, BenchRow, BenchSection } from './bench-row.js';
import { deliverAll, parseOutputs } from '../terminal/outputs.js';
import { table } from '../terminal/table.js';

/** What a bench is asked for. */
interface BenchRequest {
  casesDir: string;
  only: readonly string[];
  /** For a bench that draws at random. */
  seeds?: readonly number[];
  onCase(name: string): void;
}

/** A compiled file, from the root of the compiled program, and the function in it. */
interface BenchEntry {
  file: string;
  run: string;
  /** The usual range, for a bench that draws at random. */
  seeds?: string;
  /** Its cases come from seeds, not from files. */
  drawn?: true;
}

const BENCHES = {
  flow: { file: 'bench/flow.js', run: 'runFlowBench' },
  accuracy: { file: 'bench/accuracy.js', run: 'runAccuracyBench', seeds: '1..9' },
  explain: { file: 'bench/explain.js', run: 'runExplainBench', seeds: '10001..10380', drawn: true },
  gate: { file: 'bench/gate.js', run: 'runGateBench', seeds: '1..200', drawn: true },
  schedules: { file: 'bench/schedules.js', run: 'runSchedulesBench', seeds: '1..1', drawn: true },
} as const satisfies Record<string, BenchEntry>;
type BenchName = keyof typeof BENCHES;
const BENCH_NAMES = Object.keys(BENCHES) as BenchName[];

const MOST_SEEDS = 10_000;

interface BenchOptions {
  output?: string[];
  only?: string[];
  strict?: boolean;
  cases?: string;
  seeds?: string;
}

const fromHere = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export function addBenchCommand(
  command: Command,
  act: (work: (context: CommandContext) => Promise<ExitCode>) => Promise<void>,
): void {
  command
    .argument('<name>', BENCH_NAMES.join(', '))
    .option('--output <format[=path]>', 'text or json; with =path into a file; repeatable', collect)
    .option('--only <case>', 'this case only; repeatable', collect)
    .option('--cases <dir>', 'folder of case files (default: test/accuracy/cases)')
    .option('--seeds <a..b>', 'range of seeds, both included, for a bench that draws at random')
    .option('--strict', 'exit 1 when a floor is missed')
    .addHelpText(
      'after',
      examples([
        'bench flow',
        'bench flow --only maxmin_ft64_200',
        'bench accuracy',
        'bench explain',
        'bench schedules --only week',
        'bench explain --seeds 10001..10040 --output json=explain.json',
        'bench flow --output json=flow.json --strict',
      ]),
    )
    .action((name: string, options: BenchOptions) => act((context) => bench(name, options, context)));
}

async function bench(name: string, options: BenchOptions, context: CommandContext): Promise<ExitCode> {
  const which = parseChoice('bench', name, BENCH_NAMES);
  const outputs = parseOutputs(options.output, context.path, (format) =>
    parseChoice('--output', format, ['text', 'json']),
  );
  const seedRange = seedRangeOf(which, options.seeds);
  const seeds = seedRange === null ? {} : { seeds: parseSeedRange(seedRange) };
  const casesDir = casesDirOf(which, options.cases, context);
  const run = await load(which);
  const outcome = outcomeOf(
    await run({
      casesDir,
      only: options.only ?? [],
      ...seeds,
      onCase: (one) => context.note(`measuring ${one}`),
    }),
  );
  const { rows, details = [], sections = [], extra = {}, failures = [] } = outcome;
  const document = {
    ...{ bench: which, version: VERSION, machine: machine(), seedRange },
    rows: [...rows, ...details],
    ...extra,
  };
  const render = (format: string): string =>
    format === 'json' ? `${JSON.stringify(document, null, 2)}\n` : benchText(rows, sections);
  deliverAll(outputs, render, context);
  const missed = rows.filter((row) => row.meetsFloor === false);
  if (missed.length > 0) context.note(`${missed.length} of ${rows.length} rows miss their floor`);
  for (const failure of failures) context.note(failure);
  const failed = failures.length > 0 || (missed.length > 0 && options.strict === true);
  return failed ? EXIT.failed : EXIT.passed;
}

const outcomeOf = (result: BenchResult): BenchOutcome => ('rows' in result ? result : { rows: result });

function casesDirOf(name: BenchName, asked: string | undefined, context: CommandContext): string {
  const bench: BenchEntry = BENCHES[name];
  if (bench.drawn === true && asked !== undefined) {
    throw InputError.at('--cases', `the bench ${name} draws its cases from seeds`, 'use --seeds and --only');
  }
  const casesDir = asked === undefined ? fromHere('../../../../test/accuracy/cases') : context.path(asked);
  if (bench.drawn !== true && (!existsSync(casesDir) || !statSync(casesDir).isDirectory())) {
    throw InputError.at('--cases', `there is no folder ${asked ?? casesDir}`, 'name a folder of case files');
  }
  return casesDir;
}

function seedRangeOf(name: BenchName, asked: string | undefined): string | null {
  const bench: BenchEntry = BENCHES[name];
  if (bench.seeds !== undefined) return asked ?? bench.seeds;
  if (asked === undefined) return null;
  throw InputError.at('--seeds', `the bench ${name} draws nothing at random`);
}

function parseSeedRange(text: string): number[] {
  const match = /^(\d+)\.\.(\d+)$/.exec(text);
  const [from, to] = match === null ? [NaN, NaN] : [Number(match[1]), Number(match[2])];
  if (!(from <= to && to - from < MOST_SEEDS && Number.isSafeInteger(to))) {
    const message = `"${text}" is no range; it must be two whole numbers, the smaller first, of at most ${MOST_SEEDS} seeds`;
    throw InputError.at('--seeds', message, 'as in --seeds 1..9');
  }
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

type BenchResult = BenchRow[] | BenchOutcome;
type RunBench = (request: BenchRequest) => BenchResult | Promise<BenchResult>;

async function load(name: BenchName): Promise<RunBench> {
  const { file, run } = BENCHES[name];
  const path = fromHere(`../../../${file}`);
  if (!existsSync(path)) {
    throw new EnvironmentError(`the bench ${name} is not part of this installation`, `looked for ${path}`);
  }
  const loaded = (await import(pathToFileURL(path).href)) as Record<string, unknown>;
  return loaded[run] as RunBench;
}

/** What figures depend on. */
function machine(): string {
  const cores = cpus();
  const memoryGiB = (totalmem() / 1024 ** 3).toFixed(0);
  const model = cores[0]?.model.trim() ?? 'unknown processor';
  return `${model}, ${cores.length} cores, ${memoryGiB} GiB, ${process.platform} ${process.arch}, Node ${process.versions.node}`;
}

const benchText = (rows: readonly BenchRow[], sections: readonly BenchSection[]): string =>
  [
    benchTable(rows),
    ...sections
      .filter(({ lines }) => lines.length > 0)
      .map(({ heading, columns, lines }) => `${heading}\n${table(columns, lines)}`),
  ].join('\n');

/** Whether a floor is met, and whether the aim is as well: it lies on the far side of the floor. */
function judged({ value, floor, aim, meetsFloor }: BenchRow): string {
  if (meetsFloor === false || value === null || floor === null) return 'MISSED';
  if (aim === null) return 'met';
  const reached = aim >= floor ? value >= aim : value <= aim;
  return reached ? 'met, and the aim' : 'met';
}

function benchTable(rows: readonly BenchRow[]): string {
  const figure = (value: number | null): string =>
    value === null ? '-' : String(Number(value.toPrecision(4)));
  const verdict = (row: BenchRow): string =>
    [row.meetsFloor === null ? [] : judged(row), row.reason ?? []].flat().join('; ') || '-';
  return table(
    ['case', 'measure', 'value', 'unit', 'reference', 'ratio', 'floor', 'aim', 'verdict'],
    rows.map((row) => [
      row.case,
      row.measure,
      figure(row.value),
      row.unit,
      figure(row.referenceValue),
      figure(row.ratio),
      figure(row.floor),
      figure(row.aim),
      verdict(row),
    ]),
  );
}
