/**
 * `diagnose`: the question without a drill. Why is this fabric not at full speed, from recorded or live telemetry?
 * Nothing is injected and nothing stored.
 *
 * A file, a stored run, and a fabric that is simulated or only read are looked at here; with FABRICDRILL_URL what that server
 * has, and a real fabric in a server's reach, are looked at there, by the same code.
 */
import { Option, type Command } from 'commander';
import type { Verdict } from '../../diagnosis/verdict.js';
import { examineFabric, examinePast, type Window } from '../../drill/examine.js';
import type { FabricDocument } from '../../documents/fabric-document.js';
import type { Loaded } from '../../documents/load.js';
import { fabricDriver } from '../../drivers/catalog.js';
import { InputError } from '../../core/problem.js';
import { parseDurationNs } from '../../core/units.js';
import { verdictJson, verdictText } from '../../reports/common/verdict.js';
import { EXIT, type ExitCode } from '../../scoring/exit-codes.js';
import type { ApiClient } from '../client/api-client.js';
import { flaggedFabric } from '../client/check.js';
import { confirmMember } from '../client/confirmation.js';
import { recordedRun } from '../client/stored-runs.js';
import { withAnswers } from '../computing.js';
import type { CommandContext } from '../context.js';
import { readFabricReference, type FabricReference } from '../files/definitions.js';
import { InterruptedError, ProblemError } from '../terminal/failure.js';
import { collect, parseChoice, parseInstant, parseSeed } from '../terminal/flags.js';
import { examples } from '../terminal/help.js';
import { Interrupts } from '../terminal/interrupts.js';
import { sameKeyMs } from '../terminal/invocation.js';
import { deliverAll, parseOutputs, terminalLook } from '../terminal/outputs.js';
import { openBinaryFile } from '../files/text-file.js';

interface DiagnoseOptions {
  evidence?: string;
  run?: string;
  fabric?: string;
  from?: string;
  to?: string;
  seed?: string;
  confirm?: string;
  output?: string[];
}

/** Where the server's pointers come from here. */
const FLAGS: Record<string, string> = {
  '/from': '--from',
  '/to': '--to',
  '/fabric': '--fabric',
  '/run': '--run',
  '/seed': '--seed',
};
/** As the server's bound: what is observed grows with the window. */
const LONGEST_WINDOW_NS = 2 * 3600e9;

const EXAMPLES = [
  'diagnose --evidence run.arrow',
  'diagnose --evidence export.arrow --fabric fabrics/lab.yaml --from 20s --to 40s',
  'diagnose --fabric experiments/fabrics/rail-64.yaml --to 30s',
  'diagnose --fabric site.yaml --from 2026-11-30T01:00:00Z --to 2026-11-30T01:10:00Z',
  'diagnose --run ID --output json',
];

export function addDiagnoseCommand(
  command: Command,
  act: (work: (context: CommandContext) => Promise<ExitCode>) => Promise<void>,
): void {
  command
    .option('--evidence <file>', 'an evidence file, as downloaded from a run or written by another program')
    .addOption(new Option('--run <id>', 'the stored evidence of a run').conflicts('evidence'))
    .option(
      '--fabric <ref>',
      'the fabric to watch, or the one the evidence is of: a stored name, a YAML path, path#name',
    )
    .option(
      '--from <time>',
      'start of the window on the fabric’s clock, as in 20s (default: its start), or an instant that its monitoring remembers',
    )
    .option('--to <time>', 'end of the window; needed for a fabric that is watched')
    .option('--seed <n>', 'seed of a simulated fabric that is watched (default: 1)')
    .option(
      '--confirm <fabric>',
      'name of the fabric, needed when jobs are started on a real one to watch it',
    )
    .option(
      '--output <format[=path]>',
      'text or json, the verdict; with =path into a file; repeatable',
      collect,
    )
    .addHelpText('after', examples(EXAMPLES))
    .addHelpText(
      'after',
      '\nExits 0 with an answer, fault or none, and 3 where the evidence does not suffice for one; Ctrl-C ends it with 4.',
    )
    .action((options: DiagnoseOptions) => act((context) => diagnose(options, context)));
}

async function diagnose(options: DiagnoseOptions, context: CommandContext): Promise<ExitCode> {
  const outputs = parseOutputs(options.output, context.path, (name) =>
    parseChoice('--output', name, ['text', 'json']),
  );
  const verdict = await ask(options, context).catch((error: unknown) => {
    throw atFlag(error);
  });
  const render = (format: string, atTerminal: boolean): string =>
    format === 'json' ? verdictJson(verdict) : verdictText(verdict, atTerminal ? terminalLook(context) : {});
  deliverAll(outputs, render, context);
  return verdict.faultFound === null ? EXIT.inconclusive : EXIT.passed;
}

async function ask(options: DiagnoseOptions, context: CommandContext): Promise<Verdict> {
  const fabric = options.fabric === undefined ? undefined : readFabricReference(options.fabric, context.path);
  const past = pastOf(options);
  if (past !== undefined) return ofPast(fabric, past, context);
  const window = { fromNs: instant('--from', options.from), toNs: instant('--to', options.to) };
  if (options.evidence !== undefined) return ofFile(options.evidence, fabric, window, context);
  const seed = parseSeed(options.seed);
  const times = { from: options.from, to: options.to };
  if (options.run !== undefined) {
    return context.config.serverUrl === undefined
      ? ofRun(options.run, fabric, window, context)
      : onServer({ run: options.run, fabric: choiceOf(fabric), ...times }, context);
  }
  if (fabric === undefined) {
    throw new InputError([
      {
        pointer: '',
        message: 'nothing to look at: give --evidence FILE, --run ID or --fabric REF',
        hint: `as in ${context.command('diagnose --evidence run.arrow')}`,
      },
    ]);
  }
  const { fromNs = 0, toNs } = window;
  if (toNs === undefined)
    throw InputError.at('--to', 'how long the fabric is to be watched is missing', 'as in --to 30s');
  if ('document' in fabric || context.config.serverUrl === undefined) {
    const document = await flaggedFabric(fabric, '--fabric', context);
    if (needsNoServer(document.value)) return watch(document, seed ?? 1, { fromNs, toNs }, context);
  }
  const choice = { fabric: choiceOf(fabric), ...confirmMember(options.confirm) };
  return onServer({ ...choice, ...times, ...(seed === undefined ? {} : { seed }) }, context);
}

/** What is only read, or simulated, is so from here. */
const needsNoServer = ({ spec }: FabricDocument): boolean =>
  spec.driver === 'simulated' || fabricDriver(spec.driver).watchOnly === true;

/** A stretch of wall-clock time, as in 2026-11-30T01:00:00Z; ms since 1970. */
function pastOf({ from, to }: DiagnoseOptions): { fromMs: number; toMs: number } | undefined {
  const isInstant = (text: string | undefined): boolean =>
    text !== undefined && /^\d{4}-\d\d-\d\dT/.test(text);
  if (!isInstant(from) && !isInstant(to)) return undefined;
  return { fromMs: wallClock('--from', from), toMs: wallClock('--to', to) };
}

function wallClock(flag: string, text: string | undefined): number {
  if (text !== undefined) return parseInstant(flag, text);
  throw InputError.at(flag, 'the other end of the window is missing', `as in ${flag} 2026-11-30T01:00:00Z`);
}

async function ofPast(
  fabric: FabricReference | undefined,
  { fromMs, toMs }: { fromMs: number; toMs: number },
  context: CommandContext,
): Promise<Verdict> {
  if ((toMs - fromMs) * 1e6 > LONGEST_WINDOW_NS) throw InputError.at('--to', 'a window is 2h long at most');
  if (fabric === undefined) throw InputError.at('--fabric', 'no fabric is named', FABRIC_HINT);
  return examinePast(await documentOf(fabric, context), fromMs, toMs);
}

function instant(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ns = parseDurationNs(text);
  if (ns === undefined) {
    throw InputError.at(flag, `"${text}" is no time; write a number with a unit`, `as in ${flag} 20s`);
  }
  if (ns > LONGEST_WINDOW_NS) throw InputError.at(flag, 'a window ends at 2h at the latest');
  return ns;
}

const choiceOf = (fabric: FabricReference | undefined): unknown =>
  fabric === undefined ? undefined : 'stored' in fabric ? fabric.stored : fabric.document.source;

async function ofFile(
  file: string,
  fabric: FabricReference | undefined,
  window: Window,
  context: CommandContext,
): Promise<Verdict> {
  const opened = await openBinaryFile(context.path(file), file);
  try {
    const asked = {
      source: opened instanceof Uint8Array ? opened : opened.fd,
      fabric: fabric === undefined ? undefined : await documentOf(fabric, context),
      window,
    };
    return await withAnswers(context, (ask) => ask('verdictOnFile', asked));
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new InputError(
      error.issues.map((issue) => {
        if (issue.pointer === '') return { ...issue, file: issue.file ?? file };
        // only what is sent to a server has a parameter
        return issue.pointer === '/fabric' ? { ...issue, hint: FABRIC_HINT } : issue;
      }),
    );
  } finally {
    if (!(opened instanceof Uint8Array)) await opened.close();
  }
}

async function ofRun(
  id: string,
  named: FabricReference | undefined,
  window: Window,
  context: CommandContext,
): Promise<Verdict> {
  const given = named === undefined ? undefined : await documentOf(named, context);
  const { fabric, file } = await recordedRun(id, context);
  try {
    const asked = { source: file.handle.fd, fabric: given ?? fabric, window };
    return await withAnswers(context, (ask) => ask('verdictOnFile', asked));
  } finally {
    await file.close();
  }
}

const FABRIC_HINT = 'add --fabric with the fabric it was recorded on';

const documentOf = async (named: FabricReference, context: CommandContext): Promise<FabricDocument> =>
  (await flaggedFabric(named, '--fabric', context)).value;

async function watch(
  document: Loaded<FabricDocument>,
  seed: number,
  window: Required<Window>,
  context: CommandContext,
): Promise<Verdict> {
  const asked = { fabric: document.value, seed, window };
  try {
    return document.value.spec.driver === 'simulated'
      ? await withAnswers(context, (ask) => ask('verdictOnFabric', asked))
      : await watchReal(asked, context);
  } catch (error) {
    const own =
      error instanceof InputError && error.issues.every(({ pointer }) => pointer.startsWith('/spec'));
    throw own ? new InputError(document.locate(error.issues)) : error;
  }
}

async function watchReal(
  { fabric, seed, window }: { fabric: FabricDocument; seed: number; window: Required<Window> },
  { config }: CommandContext,
): Promise<Verdict> {
  const stop = new AbortController();
  const leave = { first: () => stop.abort(), second: () => process.exit(EXIT.aborted) };
  const interrupts = new Interrupts(leave, sameKeyMs(config));
  try {
    return await examineFabric(fabric, seed, window, stop.signal);
  } catch (error) {
    throw stop.signal.aborted ? new InterruptedError(EXIT.aborted) : error;
  } finally {
    interrupts.close();
  }
}

const onServer = (body: Record<string, unknown>, context: CommandContext): Promise<Verdict> =>
  context.withServer((client: ApiClient) => client.json<Verdict>('POST', '/v1/diagnose', body));

/** Pointers into a request, or into a window, are flags here. */
function atFlag(error: unknown): unknown {
  const issues =
    error instanceof ProblemError
      ? error.problem.errors
      : error instanceof InputError
        ? error.issues
        : undefined;
  if (issues === undefined) return error;
  return new InputError(
    issues.map((issue) => ({ ...issue, pointer: FLAGS[issue.pointer] ?? issue.pointer })),
  );
}
