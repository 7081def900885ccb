/**
 * `parity FILE`: one experiment on the simulated twin and on the real fabric, predicted against measured, layer by layer.
 *
 * The real fabric is planned first, which changes nothing, and both then have their faults at the same elements. The twin
 * runs first: a prediction that is made after the measurement is none.
 */
import { Option, type Command } from 'commander';
import type { FabricDocument } from '../../../documents/fabric-document.js';
import type { Loaded } from '../../../documents/load.js';
import { quoteArgument } from '../../../reports/common/report.js';
import { PARITY_FORMATS, parityFormat } from '../../../reports/catalog.js';
import { EXIT, type ExitCode } from '../../../scoring/exit-codes.js';
import { compareLayers, parityVerdict, trustIn, type ParityResult } from '../../../scoring/parity/parity.js';
import { fabricDocument, flaggedFabric } from '../../client/check.js';
import type { CommandContext } from '../../context.js';
import {
  readExperiment,
  readFabricReference,
  resolveFabric,
  type ExperimentFile,
} from '../../files/definitions.js';
import { InterruptedError } from '../../terminal/failure.js';
import { collect, parseRepeat, parseSeed, seedsFrom } from '../../terminal/flags.js';
import { examples } from '../../terminal/help.js';
import { Interrupts } from '../../terminal/interrupts.js';
import { sameKeyMs } from '../../terminal/invocation.js';
import { deliverAll, parseOutputs, terminalLook } from '../../terminal/outputs.js';
import {
  inThisProcess,
  isComputedHere,
  onServer,
  type FinishedRun,
  type ParityRunner,
} from './parity-runner.js';
import { planBoth, type PairToPlan, type PlannedPair } from './parity-plan.js';
import { readingsOf, type PairReadings } from './parity-readings.js';
import { predictingFabric, requireComparable } from './parity-twin.js';
import { requireConfirmed } from '../../client/confirmation.js';
import { withStore, type CommandStore } from '../../store.js';

interface ParityOptions {
  fabric?: string;
  twin?: string;
  seed?: string;
  repeat?: string;
  confirm?: string;
  output?: string[];
}

const EXAMPLES = [
  'parity experiments/link-down.yaml --fabric linux-lab --confirm linux-lab',
  'parity experiments/link-down.yaml --fabric linux-lab --confirm linux-lab --repeat 3 --output json=parity.json',
  'parity experiments/link-down.yaml --fabric fabrics/new.yaml --twin fabrics/model.yaml',
];

const EXPLANATION = `
A layer agrees within 25 % of what was measured, times within 100 ms in any case, polled ones as far as polls can tell.
The grade is that of the worst layer: A within its tolerance, B within twice as much, C within four times, else D.
Exits 0 where every layer is known and agrees, 1 where one differs, 3 where something is not known; a run that ended
otherwise decides, as in run.`;

export function addParityCommand(
  command: Command,
  act: (work: (context: CommandContext) => Promise<ExitCode>) => Promise<void>,
): void {
  command
    .argument('<file>', 'experiment file, or file#name')
    .option('--fabric <ref>', 'the real fabric: a stored one’s name, a YAML path, or path#name')
    .option('--twin <ref>', 'the fabric that predicts; the real one’s simulated twin when left out')
    .option('--seed <n>', 'another seed')
    .option('--repeat <n>', 'run n seeds in a row, upwards from the first, and compare medians')
    .option('--confirm <fabric>', 'name of the real fabric, needed since it is real')
    .addOption(
      new Option(
        '--output <format[=path]>',
        `${PARITY_FORMATS.map(({ name }) => name).join(', ')}; with =path into a file; repeatable`,
      ).argParser(collect),
    )
    .addHelpText('after', examples(EXAMPLES))
    .addHelpText('after', EXPLANATION)
    .action((file: string, options: ParityOptions) => act((context) => parity(file, options, context)));
}

async function parity(file: string, options: ParityOptions, context: CommandContext): Promise<ExitCode> {
  const outputs = parseOutputs(options.output, context.path, (name) => parityFormat(name, '--output'));
  const source = readExperiment(file, context.path);
  const seeds = seedsOf(options, source);
  const reference = resolveFabric(source, options.fabric, context.path);
  const twin =
    options.twin === undefined ? undefined : readFabricReference(options.twin, context.path, '--twin');
  // what can be refused at once is, before the store or a server is asked for anything
  if ('document' in reference) checkFabrics(reference.document, options);
  const interrupts = new Interrupts(
    { first: () => context.note('stopping; nothing was injected'), second: () => process.exit(EXIT.aborted) },
    sameKeyMs(context.config),
  );
  try {
    const check = async (store: CommandStore): Promise<Check> => {
      const real = await fabricDocument(reference, source, options.fabric, context, store);
      checkFabrics(real, options);
      const named = twin === undefined ? undefined : await flaggedFabric(twin, '--twin', context, store);
      const { config } = context;
      return { source, real, twin: predictingFabric(real, named), seeds, interrupts, context, config };
    };
    const result = await compareAnywhere(check, options.confirm, interrupts, context);
    const command = context.command(againArguments(file, options, seeds[0]));
    const look = terminalLook(context);
    deliverAll(
      outputs,
      (format, atTerminal) => format.render(result, { ...(atTerminal ? look : {}), command }),
      context,
    );
    return EXITS[result.verdict];
  } finally {
    interrupts.close();
  }
}

const EXITS = { agrees: EXIT.passed, differs: EXIT.failed, inconclusive: EXIT.inconclusive } as const;

function seedsOf({ seed, repeat }: ParityOptions, source: ExperimentFile): number[] {
  const first = parseSeed(seed) ?? source.experiment.value.spec.seed;
  return seedsFrom(first, repeat === undefined ? 1 : parseRepeat(repeat));
}

function checkFabrics(real: Loaded<FabricDocument>, { twin, confirm }: ParityOptions): void {
  requireComparable(real, twin === undefined);
  requireConfirmed(real.value, confirm);
}

interface Check extends PairToPlan {
  seeds: readonly number[];
  interrupts: Interrupts;
  context: CommandContext;
}

/** In this process where both fabrics can be computed in it, else by a server. */
async function compareAnywhere(
  read: (store: CommandStore) => Promise<Check>,
  confirm: string | undefined,
  interrupts: Interrupts,
  context: CommandContext,
): Promise<ParityResult> {
  const [check, here] = await withStore(context.config, async (store) => {
    const both = await read(store);
    const isHere = context.config.serverUrl === undefined && [both.real, both.twin].every(isComputedHere);
    if (!isHere) return [both] as const;
    return [
      both,
      await inThisProcess(store, interrupts, context, (runner) => compare(runner, both)),
    ] as const;
  });
  return (
    here ??
    context.withServer((client) => compare(onServer(client, confirm, interrupts, context), check), {
      worker: true,
      interrupts,
    })
  );
}

async function compare(runner: ParityRunner, check: Check): Promise<ParityResult> {
  const { source, real, twin, seeds, context } = check;
  const plans: PlannedPair[] = [];
  for (const seed of seeds) plans.push(await planBoth(runner, check, seed));
  context.note(`predicting on ${twin.value.metadata.name}`);
  const predicted = await runAll(runner, check, twin, plans);
  context.note(`measuring on ${real.value.metadata.name}`);
  const measured = await runAll(runner, check, real, plans);
  const pairs: PairReadings[] = [];
  for (const [at, plan] of plans.entries()) {
    pairs.push(await readingsOf(runner, plan, predicted[at], measured[at]));
  }
  const layers = compareLayers(
    pairs.map((pair) => pair.predicted.readings),
    pairs.map((pair) => pair.measured.readings),
  );
  const sides = {
    predicted: pairs.map((pair) => pair.predicted),
    measured: pairs.map((pair) => pair.measured),
  };
  const doubted = [...sides.predicted, ...sides.measured].some(({ doubts }) => doubts.length > 0);
  const side = ({ value }: Loaded<FabricDocument>, runs: ParityResult['predicted']['runs']) => ({
    ...{ fabric: value.metadata.name, driver: value.spec.driver, runs },
  });
  return {
    experiment: source.experiment.value.metadata.name,
    version: measured[0].scorecard.run.version,
    predicted: side(twin, sides.predicted),
    measured: side(real, sides.measured),
    targets: plans.map(({ seed, targets }) => ({ seed, elements: targets })),
    layers,
    trust: trustIn(layers),
    verdict: parityVerdict(layers, doubted),
  };
}

/** @throws InterruptedError with its exit code when a run did not run its course: nothing may follow on such a fabric */
async function runAll(
  runner: ParityRunner,
  { interrupts, context }: Check,
  fabric: Loaded<FabricDocument>,
  plans: readonly PlannedPair[],
): Promise<FinishedRun[]> {
  const runs: FinishedRun[] = [];
  for (const { pinned, seed } of plans) {
    if (interrupts.interrupted) throw new InterruptedError(EXIT.aborted);
    const run = await runner.run(pinned, fabric, seed);
    const { exitCode } = run;
    if (exitCode !== EXIT.passed && exitCode !== EXIT.failed && exitCode !== EXIT.inconclusive) {
      context.note(`nothing is compared; look at it with: ${context.command(`runs show ${run.id}`)}`);
      throw new InterruptedError(exitCode);
    }
    runs.push(run);
  }
  return runs;
}

function againArguments(file: string, options: ParityOptions, seed: number): string {
  const flag = (name: string, value: string | undefined): string[] =>
    value === undefined ? [] : [name, quoteArgument(value)];
  return [
    ...['parity', quoteArgument(file)],
    ...flag('--fabric', options.fabric),
    ...flag('--twin', options.twin),
    ...['--seed', String(seed)],
    ...flag('--repeat', options.repeat),
    ...flag('--confirm', options.confirm),
  ].join(' ');
}
