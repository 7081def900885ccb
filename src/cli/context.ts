/**
 * What every command needs: configuration, streams, and a server to talk to.
 *
 * A command talks REST and nothing else. Without FABRICDRILL_URL it brings its own server on a free loopback port,
 * guarded by a token that nobody else knows, and takes it down when it is done.
 */
import { randomBytes } from 'node:crypto';
import { isAbsolute, resolve } from 'node:path';
import { startApp } from '../app.module.js';
import { loadConfig, type Config } from '../platform/config/config.js';
import { ApiClient } from './api-client.js';

export interface CommandContext {
  config: Config;
  /** Results. */
  out(text: string): void;
  /** Progress and remarks. */
  note(text: string): void;
  /** Absolute form of a path as the user wrote it. */
  path(path: string): string;
  /** Runs work against a server; its own one is closed afterwards. */
  withServer<T>(work: (client: ApiClient) => Promise<T>, parts?: { worker: boolean }): Promise<T>;
}

export function createContext(config: Config = loadConfig()): CommandContext {
  return {
    config,
    out: (text) => void process.stdout.write(text),
    note: (text) => void process.stderr.write(`${text}\n`),
    path: (path) => (isAbsolute(path) ? path : resolve(config.workingFolder, path)),
    withServer: (work, parts = { worker: false }) => withServer(config, work, parts),
  };
}

async function withServer<T>(
  config: Config,
  work: (client: ApiClient) => Promise<T>,
  parts: { worker: boolean },
): Promise<T> {
  if (config.serverUrl !== undefined) return work(new ApiClient(config.serverUrl, config.token));
  const token = randomBytes(32).toString('hex');
  const logLevel = config.logLevel === 'info' ? 'warn' : config.logLevel;
  const app = await startApp(
    { ...config, host: '127.0.0.1', port: 0, token, logLevel },
    { api: true, ...parts },
  );
  try {
    return await work(new ApiClient(app.url!, token));
  } finally {
    await app.close();
  }
}
