/**
 * What every command needs: configuration, streams, and a server to talk to.
 *
 * What is simulated, and what is only read, needs none (run-here.ts, store.ts). Other commands talk REST. Without
 * FABRICDRILL_URL they bring their own server on a free loopback port, guarded by a token that nobody else knows, and take
 * it down when they are done. Its worker may have taken the run of another process from the common queue; that one is
 * finished first, not aborted.
 */
import { randomBytes } from 'node:crypto';
import { isAbsolute, resolve } from 'node:path';
import { loadConfig, type Config } from '../system/config/config.js';
import { EXIT } from '../scoring/exit-codes.js';
import { ApiClient } from './client/api-client.js';
import { InterruptedError } from './terminal/failure.js';
import { Interrupts } from './terminal/interrupts.js';
import { commandFor, sameKeyMs } from './terminal/invocation.js';

export interface ServerParts {
  /** Bring a worker along; default false. */
  worker?: boolean;
  /** The command's own; without it the first signal ends the command, in order, with exit code 3. */
  interrupts?: Interrupts;
}

export interface CommandContext {
  config: Config;
  /** Results. */
  out: (text: string) => void;
  /** Progress and remarks. */
  note: (text: string) => void;
  /** Absolute form of a path as the user wrote it. */
  path: (path: string) => string;
  /** A command to paste, as this user calls the program. */
  command: (args: string) => string;
  /** Runs work against a server; its own one is closed afterwards. */
  withServer: <T>(work: (client: ApiClient) => Promise<T>, parts?: ServerParts) => Promise<T>;
}

export function createContext(config: Config = loadConfig()): CommandContext {
  return {
    config,
    out: (text) => void process.stdout.write(text),
    note: (text) => void process.stderr.write(`${text}\n`),
    path: (path) => (isAbsolute(path) ? path : resolve(config.workingFolder, path)),
    command: (args) => commandFor(config, args),
    withServer: (work, parts = {}) => withServer(config, work, parts),
  };
}

async function withServer<T>(
  config: Config,
  work: (client: ApiClient) => Promise<T>,
  { worker = false, interrupts }: ServerParts,
): Promise<T> {
  if (config.serverUrl !== undefined) return work(new ApiClient(config.serverUrl, config.token));
  let stop = (): void => undefined;
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(new InterruptedError(EXIT.inconclusive));
  });
  stopped.catch(() => undefined);
  const leave = { first: stop, second: () => process.exit(EXIT.inconclusive) };
  const own = interrupts === undefined ? new Interrupts(leave, sameKeyMs(config)) : undefined;
  try {
    const { client, close } = await ownServer(config, worker);
    try {
      return await Promise.race([work(client), stopped]);
    } finally {
      await close();
    }
  } finally {
    own?.close();
  }
}

async function ownServer(
  config: Config,
  worker: boolean,
): Promise<{ client: ApiClient; close: () => Promise<void> }> {
  // the service with its framework takes most of the start-up time, and half of the commands need none of it
  const { startApp } = await import('../app/app.module.js');
  const token = randomBytes(32).toString('hex');
  const logLevel = config.logLevel === 'info' ? 'warn' : config.logLevel;
  const app = await startApp(
    { ...config, host: '127.0.0.1', port: 0, token, logLevel },
    // a command is over in a moment: what is scheduled starts where a server stays
    { api: true, worker: worker && { onClose: 'finish' }, schedules: false },
  );
  return { client: new ApiClient(app.url!, token), close: () => app.close() };
}
