/**
 * Where commands run: on this host, in one of its network namespaces, or on a device over SSH.
 *
 * A command is an argument vector, never a line for a shell. Every command has a time limit, since daemons that inherit
 * an output keep the caller waiting for ever. Files and unix sockets are those of this host for a namespace, too.
 */
import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { EnvironmentError } from '../../../core/problem.js';

export interface RunOptions {
  /** Written to the command's standard input. */
  input?: string;
  /** Default 10 000. */
  timeoutMs?: number;
  /** Any exit code is an answer, not a failure. */
  anyExit?: boolean;
  /** For a program that puts a daemon into the background: it gets no output of ours to hold open. */
  daemon?: boolean;
}

export interface RunResult {
  stdout: string;
  stderr: string;
  code: number;
}

/** Who shares a connection: commands, what watches, and ranks of jobs a few at a time. */
export type Lane = 'commands' | 'watch' | `ranks-${number}`;

export interface Place {
  /** For messages. */
  readonly name: string;
  /** Its files, clock and processes are not those of this host. */
  readonly isRemote: boolean;
  /** A program there outlives what was started here for it; it is ended by the end of its input. */
  readonly endsByInput: boolean;
  /** The whole vector that runs a command there, started on this host. */
  argv(command: readonly string[]): string[];
  /** The same for a person, who has nothing of this process: what is printed must work when it is gone. */
  byHand(command: readonly string[]): string[];
  /** Node and a program of ours, as they are called there. @param path of the built program on this host */
  programWords(path: string): string[];
  /** The same place, by a connection of its own where connections are counted. */
  lane(name: Lane): Place;
  /** @throws CommandError on an exit code other than 0 (unless `anyExit`), a time-out, or a program that is not there */
  run(command: readonly string[], options?: RunOptions): Promise<RunResult>;
}

/** A command that did not do what it was to do: the device, or the way to it, is not as it should be. */
export class CommandError extends EnvironmentError {
  constructor(
    readonly place: string,
    readonly command: readonly string[],
    readonly why: string,
    /** Undefined when it gave none: a time-out, or a program that could not be started. */
    readonly code?: number,
  ) {
    super(`${command.join(' ')} on ${place}: ${why}`);
  }
}

const DEFAULT_TIMEOUT_MS = 10_000;
/** No command here has more to say; one that does is broken. */
const MOST_OUTPUT_BYTES = 64 * 1024 * 1024;

export abstract class SpawningPlace implements Place {
  abstract readonly name: string;
  readonly isRemote: boolean = false;
  readonly endsByInput: boolean = false;
  abstract argv(command: readonly string[]): string[];

  byHand(command: readonly string[]): string[] {
    return this.argv(command);
  }

  programWords(path: string): string[] {
    return [process.execPath, path];
  }

  lane(_name: Lane): Place {
    return this;
  }

  run(command: readonly string[], options: RunOptions = {}): Promise<RunResult> {
    const { timeoutMs = DEFAULT_TIMEOUT_MS, daemon = false, anyExit = false, input = '' } = options;
    const [program, ...args] = this.argv(command);
    const output = daemon ? 'ignore' : 'pipe';
    return new Promise((resolve, reject) => {
      const fail = (why: string, code?: number): void =>
        reject(new CommandError(this.name, command, why, code));
      const child = spawn(program, args, { stdio: ['pipe', output, output] });
      const [stdout, stderr] = [gather(child.stdout), gather(child.stderr)];
      const timer = setTimeout(() => {
        fail(`no answer within ${timeoutMs} ms`);
        child.kill('SIGKILL');
        // A grandchild may hold the pipes open.
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, timeoutMs);
      child.on('error', (error) => {
        clearTimeout(timer);
        fail(error.message);
      });
      child.on(daemon ? 'exit' : 'close', (code: number | null, signal: string | null) => {
        clearTimeout(timer);
        const result = { stdout: stdout(), stderr: stderr(), code: code ?? -1 };
        const said = result.stderr.trim() || result.stdout.trim();
        if (code === null) fail(`ended by ${signal}`);
        else if (code !== 0 && !anyExit) fail(said || `exit code ${code}`, code);
        else resolve(result);
      });
      // A command that ends without reading its input is judged by its exit code.
      child.stdin!.on('error', () => undefined);
      child.stdin!.end(input);
    });
  }
}

/** Collects what a stream says; the result asks for it as text. */
function gather(stream: Readable | null): () => string {
  const pieces: Buffer[] = [];
  let bytes = 0;
  stream?.on('data', (piece: Buffer) => {
    bytes += piece.length;
    if (bytes <= MOST_OUTPUT_BYTES) pieces.push(piece);
  });
  return () => Buffer.concat(pieces).toString('utf8');
}

/** This host, as it is. */
export class LocalPlace extends SpawningPlace {
  readonly name = 'this host';

  argv(command: readonly string[]): string[] {
    return [...command];
  }
}

/** A network namespace of this host. */
export class NamespacePlace extends SpawningPlace {
  constructor(readonly namespace: string) {
    super();
  }

  get name(): string {
    return this.namespace;
  }

  argv(command: readonly string[]): string[] {
    return ['ip', 'netns', 'exec', this.namespace, ...command];
  }
}
