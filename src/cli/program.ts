/**
 * The command line as a whole: commands, help, exit codes.
 *
 * Results go to stdout, progress and errors to stderr. Exit codes are the published ones; commander's own usage
 * errors count as bad input (2).
 */
import { Command, CommanderError, Help } from 'commander';
import { EXIT, type ExitCode } from '../scoring/exit-codes.js';
import { VERSION } from '../system/version.js';
import { dropComputing, loadComputing } from './computing.js';
import type { CommandContext } from './context.js';
import { printFailure } from './terminal/failure.js';
import { examples } from './terminal/help.js';
import { settleOutput, surviveLostOutput } from './terminal/lost-output.js';

const EXAMPLES = [
  'run experiments/link-down.yaml',
  'plan experiments/link-down.yaml',
  'faults show link-down',
  'runs list',
];

const EXIT_CODES = `
Exit codes: 0 passed · 1 failed · 2 bad input · 3 inconclusive or could not run · 4 aborted and reverted ·
5 rollback failed, a fault may still be in place · 70 a bug of ours`;

type Act = (work: (context: CommandContext) => Promise<ExitCode>) => Promise<void>;

/** Only the command that is asked for is loaded; the others are their line in the help. */
const COMMANDS: readonly {
  term: string;
  summary: string;
  add: () => Promise<(command: Command, act: Act) => void>;
}[] = [
  {
    term: 'run [options] <file>',
    summary: 'one experiment from file to scorecard',
    add: async () => (await import('./commands/run.js')).addRunCommand,
  },
  {
    term: 'validate <file...>',
    summary: 'check files; reports every mistake with line and hint, writes nothing',
    add: async () => (await import('./commands/validate.js')).addValidateCommand,
  },
  {
    term: 'plan [options] <file>',
    summary: 'resolved targets, blast radius, undo steps, or the next ticks of a schedule; writes nothing',
    add: async () => (await import('./commands/plan/plan.js')).addPlanCommand,
  },
  {
    term: 'diagnose [options]',
    summary: 'why is this fabric not at full speed? From telemetry alone; injects nothing',
    add: async () => (await import('./commands/diagnose.js')).addDiagnoseCommand,
  },
  {
    term: 'parity [options] <file>',
    summary: 'the same experiment on the simulated twin and on the real fabric, side by side',
    add: async () => (await import('./commands/parity/parity.js')).addParityCommand,
  },
  {
    term: 'gate [options] <suite>',
    summary: 'is a changed fabric as good as the one before? The same experiments and seeds on both',
    add: async () => (await import('./commands/gate/gate.js')).addGateCommand,
  },
  {
    term: 'serve [options]',
    summary: 'API and one worker, on the embedded database unless DATABASE_URL is set',
    add: async () => (await import('./commands/serve.js')).addServeCommand,
  },
  {
    term: 'runs',
    summary: 'look at runs, abort them, get their reports',
    add: async () => (await import('./commands/runs.js')).addRunsCommand,
  },
  {
    term: 'fabrics',
    summary: 'stored fabrics, imports of topology files, and labs',
    add: async () => (await import('./commands/fabrics.js')).addFabricsCommand,
  },
  {
    term: 'schedules',
    summary: 'experiments that run by themselves',
    add: async () => (await import('./commands/schedules.js')).addSchedulesCommand,
  },
  {
    term: 'game-days',
    summary: 'experiments in stages, with people who watch',
    add: async () => (await import('./commands/game-days.js')).addGameDaysCommand,
  },
  {
    term: 'faults',
    summary: 'fault kinds',
    add: async () => (await import('./commands/faults.js')).addFaultsCommand,
  },
  {
    term: 'bench [options] <name>',
    summary: 'measure speed and accuracy beside named peers',
    add: async () => (await import('./commands/bench.js')).addBenchCommand,
  },
];

/** Runs a command line. @returns the exit code; never throws */
export async function main(argv: readonly string[]): Promise<ExitCode> {
  surviveLostOutput();
  return settleOutput(await runCommand(argv));
}

async function runCommand(argv: readonly string[]): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.passed;
  let context: CommandContext | undefined;
  const act = async (work: (context: CommandContext) => Promise<ExitCode>): Promise<void> => {
    const { createContext } = await import('./context.js');
    context = createContext();
    await useSettings(context.config.settingsFile);
    exitCode = await work(context);
  };
  try {
    const asked = askedFor(argv);
    if (asked !== undefined && COMPUTE.has(asked) && !argv.some((word) => HELP.has(word))) loadComputing();
    await (await buildProgram(act, asked)).parseAsync(argv);
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.passed : EXIT.badInput;
    return printFailure(error, context?.command);
  } finally {
    await dropComputing();
  }
}

/** @param file where the server's own settings stand, of which documents name entries */
async function useSettings(file: string | undefined): Promise<void> {
  if (file === undefined) return;
  const [{ readServerSettings }, { useServerSettings }] = [
    await import('../documents/server-settings.js'),
    await import('../drivers/catalog.js'),
  ];
  useServerSettings(readServerSettings(file));
}

async function buildProgram(act: Act, asked: string | undefined): Promise<Command> {
  const terms = new Map<Command, string>();
  const program = new Command('fabricdrill')
    .configureHelp({ subcommandTerm: (command) => terms.get(command) ?? new Help().subcommandTerm(command) })
    .description('Fault drills for RoCE AI-training fabrics: inject, watch, undo, diagnose blind, score.')
    .version(VERSION)
    .exitOverride()
    .showSuggestionAfterError()
    .showHelpAfterError('(add --help to see what is possible)')
    .addHelpText('after', examples(EXAMPLES))
    .addHelpText('after', EXIT_CODES);
  for (const { term, summary, add } of COMMANDS) {
    const [name] = term.split(' ');
    const command = program.command(name).description(summary);
    terms.set(command, term);
    if (name === asked) (await add())(command, act);
  }
  return program;
}

/** Commands that nearly always compute something; the thread loads beside them. */
const COMPUTE: ReadonlySet<string> = new Set(['run', 'plan', 'diagnose']);

const HELP: ReadonlySet<string> = new Set(['help', '--help', '-h']);

/** The first word that is no option; of `help WORD` the word. */
function askedFor([, , ...words]: readonly string[]): string | undefined {
  const [first, second] = words.filter((word) => !word.startsWith('-'));
  return first === 'help' ? second : first;
}
