/**
 * The command line as a user runs it, of what the sources say now, whatever `dist` holds.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { compileProgram, startProgram, type ChildProgram, type RunningProgram } from './child-program.js';
import { createTestDatabase, type TestDatabase } from './database.js';
import { yamlOf, type Json } from './definitions.js';
import { until } from './until.js';

/**
 * Takes command lines from stdin, as JSON, and runs one after the other; an answer a line. A command of its own process
 * spends most of its time loading the program.
 */
const SESSION = `
import { createInterface } from 'node:readline';
import { main } from './src/cli/program.js';
const answer = process.stdout.write.bind(process.stdout);
const said = { stdout: '', stderr: '' };
for (const name of ['stdout', 'stderr'] as const) {
  // every command listens for closed pipes
  process[name].setMaxListeners(0);
  process[name].write = (text: unknown) => ((said[name] += String(text)), true);
}
for await (const line of createInterface({ input: process.stdin })) {
  Object.assign(said, { stdout: '', stderr: '' });
  const { args, cwd } = JSON.parse(line);
  process.chdir(cwd);
  const exitCode = await main(['node', 'fabricdrill', ...args]);
  answer(JSON.stringify({ exitCode, ...said }) + '\\n');
}
`;

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
  /** Resolves with the match as soon as stderr has it. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
  ended: Promise<CliResult>;
}

export class Cli {
  private session: RunningProgram | undefined;
  /** The end of the command before: a session runs one at a time. */
  private before: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly program: ChildProgram,
    private readonly environment: NodeJS.ProcessEnv,
    private readonly children: Set<ChildProcess>,
  ) {}

  /** @param environment all that the processes get besides PATH and HOME */
  static compile(environment: NodeJS.ProcessEnv): Cli {
    return new Cli(compileProgram(SESSION), environment, new Set());
  }

  /** The same program in other surroundings. */
  with(environment: NodeJS.ProcessEnv): Cli {
    return new Cli(this.program, { ...this.environment, ...environment }, this.children);
  }

  /** @param output file descriptor that takes stdout and stderr; a pipe of ours when left out */
  start(args: readonly string[], cwd = CHECKOUT, output: number | 'pipe' = 'pipe'): RunningCli {
    const { PATH, HOME } = process.env;
    const child = spawn(process.execPath, [`${this.program.folder}/src/cli.js`, ...args], {
      cwd,
      env: { PATH, HOME, ...this.environment },
      stdio: ['ignore', output, output],
    });
    this.children.add(child);
    let stdout = '';
    let stderr = '';
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
    const ended = new Promise<CliResult>((done, failed) => {
      child.once('error', failed);
      child.once('close', (exitCode) => {
        this.children.delete(child);
        done({ exitCode, stdout, stderr });
      });
    });
    const says = async (pattern: RegExp): Promise<RegExpExecArray> => {
      await until(() => pattern.test(stderr) || child.exitCode !== null, `${pattern.source} on stderr`);
      const match = pattern.exec(stderr);
      if (match === null) throw new Error(`it ended without saying ${pattern.source}:\n${stderr}`);
      return match;
    };
    return { process: child, says, ended };
  }

  /** A command in a process of its own, for what is about processes: signals, and several at a time. */
  runApart(args: readonly string[], cwd?: string): Promise<CliResult> {
    return this.start(args, cwd).ended;
  }

  /** A command in the one process of this `Cli`, each the whole `main` of the program; one after the other. */
  run(args: readonly string[], cwd = CHECKOUT): Promise<CliResult> {
    const session = (this.session ??= this.startSession());
    const answer = this.before.then(async () => {
      session.say(JSON.stringify({ args, cwd }));
      return JSON.parse(await session.line()) as CliResult;
    });
    this.before = answer.catch(() => undefined);
    return answer;
  }

  private startSession(): RunningProgram {
    const { PATH, HOME } = process.env;
    const session = startProgram(this.program, [], { env: { PATH, HOME, ...this.environment } });
    this.children.add(session.process);
    return session;
  }

  /** What a failed test left running is ended too. */
  remove(): void {
    for (const child of this.children) child.kill('SIGKILL');
    this.program.remove();
  }
}

/** A command line on a database of its own, and the folder in which its user stands. */
export class CliPlace {
  private constructor(
    readonly cli: Cli,
    readonly database: TestDatabase,
    readonly folder: string,
  ) {}

  static async open(name: string): Promise<CliPlace> {
    const database = await createTestDatabase();
    const folder = mkdtempSync(join(tmpdir(), `fabricdrill-e2e-${name}-`));
    return new CliPlace(Cli.compile({ DATABASE_URL: database.url }), database, folder);
  }

  put(name: string, ...documents: Json[]): void {
    writeFileSync(join(this.folder, name), documents.map(yamlOf).join('---\n'));
  }

  run(...args: string[]): Promise<CliResult> {
    return this.cli.run(args, this.folder);
  }

  runApart(...args: string[]): Promise<CliResult> {
    return this.cli.runApart(args, this.folder);
  }

  async close(): Promise<void> {
    this.cli.remove();
    rmSync(this.folder, { recursive: true });
    await this.database.drop();
  }
}
