/**
 * The command line as a user runs it: a child process of what the sources say now, whatever `dist` holds.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { resolve } from 'node:path';
import { compileProgram, type ChildProgram } from './child-program.js';
import { until } from './until.js';

/** Root of the checkout, where `experiments/` is. */
export const CHECKOUT = resolve(import.meta.dirname, '../..');

export interface CliResult {
  /** Null when a signal ended it. */
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

export interface RunningCli {
  process: ChildProcess;
  /** Resolves when stderr holds the text. */
  says(text: string): Promise<void>;
  ended: Promise<CliResult>;
}

export class Cli {
  private constructor(
    private readonly program: ChildProgram,
    private readonly environment: NodeJS.ProcessEnv,
  ) {}

  /** @param environment all that the processes get besides PATH and HOME */
  static compile(environment: NodeJS.ProcessEnv): Cli {
    // the bench is loaded by path at run time, so only its compiled place tells where it is
    const source = `import './src/cli.js';\nif (Number.isNaN(1)) await import('./bench/flow.js');\n`;
    return new Cli(compileProgram(source), environment);
  }

  /** The same program in other surroundings. */
  with(environment: NodeJS.ProcessEnv): Cli {
    return new Cli(this.program, { ...this.environment, ...environment });
  }

  start(args: readonly string[], cwd = CHECKOUT): RunningCli {
    const { PATH, HOME } = process.env;
    const child = spawn(process.execPath, [`${this.program.folder}/src/cli.js`, ...args], {
      cwd,
      env: { PATH, HOME, ...this.environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
    const ended = new Promise<CliResult>((done, failed) => {
      child.once('error', failed);
      child.once('close', (exitCode) => done({ exitCode, stdout, stderr }));
    });
    const says = (text: string): Promise<void> =>
      until(() => stderr.includes(text) || child.exitCode !== null, `"${text}" on stderr`).then(() => {
        if (!stderr.includes(text)) throw new Error(`it ended without saying "${text}":\n${stderr}`);
      });
    return { process: child, says, ended };
  }

  run(args: readonly string[], cwd?: string): Promise<CliResult> {
    return this.start(args, cwd).ended;
  }

  remove(): void {
    this.program.remove();
  }
}
