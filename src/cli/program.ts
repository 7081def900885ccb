/**
 * The command line as a whole: commands, help, exit codes.
 *
 * Results go to stdout, progress and errors to stderr. Exit codes are the published ones; commander's own usage
 * errors count as bad input (2).
 */
import { Command, CommanderError } from 'commander';
import { EXIT, type ExitCode } from '../scoring/exit-codes.js';
import { VERSION } from '../system/version.js';
import { addBenchCommand } from './commands/bench.js';
import { createContext, type CommandContext } from './context.js';
import { addDiagnoseCommand } from './commands/diagnose.js';
import { printFailure } from './terminal/failure.js';
import { addFabricsCommand } from './commands/fabrics.js';
import { addFaultsCommand } from './commands/faults.js';
import { addGameDaysCommand } from './commands/game-days.js';
import { addGateCommand } from './commands/gate/gate.js';
import { examples } from './terminal/help.js';
import { settleOutput, surviveLostOutput } from './terminal/lost-output.js';
import { addParityCommand } from './commands/parity/parity.js';
import { addPlanCommand } from './commands/plan/plan.js';
import { addRunCommand } from './commands/run.js';
import { addRunsCommand } from './commands/runs.js';
import { addSchedulesCommand } from './commands/schedules.js';
import { addServeCommand } from './commands/serve.js';
import { addValidateCommand } from './commands/validate.js';

const EXAMPLES = [
  'run experiments/link-down.yaml',
  'plan experiments/link-down.yaml',
  'faults show link-down',
  'runs list',
];

const EXIT_CODES = `
Exit codes: 0 passed · 1 failed · 2 bad input · 3 inconclusive or could not run · 4 aborted and reverted ·
5 rollback failed, a fault may still be in place · 70 a bug of ours`;

/** Runs a command line. @returns the exit code; never throws */
export async function main(argv: readonly string[]): Promise<ExitCode> {
  surviveLostOutput();
  return settleOutput(await runCommand(argv));
}

async function runCommand(argv: readonly string[]): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.passed;
  let context: CommandContext | undefined;
  const act = async (work: (context: CommandContext) => Promise<ExitCode>): Promise<void> => {
    context = createContext();
    exitCode = await work(context);
  };
  try {
    await buildProgram(act).parseAsync(argv);
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.passed : EXIT.badInput;
    return printFailure(error, context?.command);
  }
}

function buildProgram(act: (work: (context: CommandContext) => Promise<ExitCode>) => Promise<void>): Command {
  const program = new Command('fabricdrill')
    .description('Fault drills for RoCE AI-training fabrics: inject, watch, undo, diagnose blind, score.')
    .version(VERSION)
    .exitOverride()
    .showSuggestionAfterError()
    .showHelpAfterError('(add --help to see what is possible)')
    .addHelpText('after', examples(EXAMPLES))
    .addHelpText('after', EXIT_CODES);
  addRunCommand(program, act);
  addValidateCommand(program, act);
  addPlanCommand(program, act);
  addDiagnoseCommand(program, act);
  addParityCommand(program, act);
  addGateCommand(program, act);
  addServeCommand(program, act);
  addRunsCommand(program, act);
  addFabricsCommand(program, act);
  addSchedulesCommand(program, act);
  addGameDaysCommand(program, act);
  addFaultsCommand(program, act);
  addBenchCommand(program, act);
  return program;
}
