/**
 * Runs our TypeScript in a process of its own, for tests that kill processes or change accounts.
 *
 * The program is one file of a test's own beside the compiled checkout, so that a test sees the sources as they are and
 * needs no build.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { chmodSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtCheckout, compile } from './built.js';
import { CHECKOUT, SOURCE_FOLDERS } from './source-tree.js';

export interface ChildProgram {
  /** Compiled entry file. */
  entry: string;
  /** Folder of the compiled program, readable by every account. */
  folder: string;
  remove(): void;
}

/**
 * Compiles `source`, a TypeScript program whose imports are written relative to the checkout (`./src/…`).
 * @param copyPackages npm packages to copy (with what they depend on) instead of linking to the checkout's, for
 *   accounts that can't walk to the checkout
 */
export function compileProgram(source: string, copyPackages?: string[]): ChildProgram {
  const built = builtCheckout();
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'fabricdrill-program-')));
  chmodSync(folder, 0o755);
  for (const name of ['package.json', ...SOURCE_FOLDERS]) {
    if (copyPackages === undefined) symlinkSync(join(built, name), join(folder, name));
    else cpSync(join(built, name), join(folder, name), { recursive: true });
  }
  if (copyPackages === undefined) symlinkSync(join(CHECKOUT, 'node_modules'), join(folder, 'node_modules'));
  else for (const name of copyPackages) copyPackage(folder, name, new Set());
  const entry = join(folder, 'program.js');
  writeFileSync(entry, compile(source, join(CHECKOUT, 'program.ts')));
  return { entry, folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

function copyPackage(folder: string, name: string, done: Set<string>): void {
  const from = join(CHECKOUT, 'node_modules', name);
  if (done.has(name) || !existsSync(from)) return;
  done.add(name);
  const to = join(folder, 'node_modules', name);
  if (!existsSync(to)) cpSync(from, to, { recursive: true });
  const { dependencies = {} } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8')) as {
    dependencies?: Record<string, string>;
  };
  for (const next of Object.keys(dependencies)) copyPackage(folder, next, done);
}

export interface RunningProgram {
  process: ChildProcess;
  /** The next line it prints; rejects with its stderr when it ends first. */
  line(): Promise<string>;
  /** Writes a line to its stdin. */
  say(text: string): void;
  /** Exit code or signal. */
  ended: Promise<number | NodeJS.Signals | null>;
}

/** Starts a compiled program with arguments. */
export function startProgram(
  program: ChildProgram,
  args: string[],
  options: { uid?: number; gid?: number; env?: NodeJS.ProcessEnv } = {},
): RunningProgram {
  const child = spawn(process.execPath, [program.entry, ...args], {
    cwd: program.folder,
    stdio: ['pipe', 'pipe', 'pipe'],
    ...options,
  });
  const lines: string[] = [];
  const waiting: { resolve(line: string): void; reject(error: Error): void }[] = [];
  let rest = '';
  let errors = '';
  let over = false;
  const settle = () => {
    while (waiting.length > 0 && lines.length > 0) waiting.shift()!.resolve(lines.shift()!);
    if (over) for (const one of waiting.splice(0)) one.reject(new Error(`the program ended: ${errors}`));
  };
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = (rest + chunk).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts);
    settle();
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (errors += chunk));
  const ended = new Promise<number | NodeJS.Signals | null>((done) => {
    child.once('close', (code, signal) => {
      over = true;
      settle();
      done(code ?? signal);
    });
  });
  child.once('error', (error) => (errors += error.message));
  return {
    process: child,
    ended,
    line: () =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject });
        settle();
      }),
    say: (text) => void child.stdin.write(`${text}\n`),
  };
}
