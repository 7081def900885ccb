/**
 * Makes and starts one PostgreSQL server: initdb, a free port on loopback, wait until it answers.
 *
 * Called under the start/stop lock. What it finds may be the rest of any accident: a half-made data folder, a server
 * that is still starting or stopping, an orphan, a lock file of a dead server. Loopback TCP with a random password
 * (SCRAM) rather than a socket file, whose path is limited to some 100 bytes and whose folder two accounts would
 * have to share.
 *
 * `fsync` and `synchronous_commit` stay as PostgreSQL has them, on: an undo journal that a crash could take back would
 * be none.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EnvironmentError } from '../../../core/problem.js';
import type { Binaries } from './binaries.js';
import { type EmbeddedPlace, OWN_SERVER_HINT } from './place.js';
import { disarmStaleLockFile, findPostmaster, type Postmaster } from './postmaster.js';

export const SUPERUSER = 'fabricdrill';
const POLL_MS = 10;
const START_TIMEOUT_MS = 60_000;
const LOG_KEPT_BYTES = 4 * 1024 * 1024;

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',
  shared_buffers: '64MB',
  max_wal_size: '256MB',
  min_wal_size: '32MB',
  // Workers and shared memory segments that a small container's /dev/shm may refuse.
  max_parallel_workers_per_gather: '0',
  io_method: 'sync',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
} as const;

/** Reads the server's password, making it at the first call. */
export function ensurePassword(place: EmbeddedPlace): string {
  if (!fs.existsSync(place.password)) {
    const part = `${place.password}.part`;
    fs.writeFileSync(part, randomBytes(24).toString('hex'), { mode: 0o600 });
    fs.renameSync(part, place.password);
  }
  return fs.readFileSync(place.password, 'utf8').trim();
}

/**
 * Makes the data folder when there is none.
 * @throws EnvironmentError when it was made by another major version, or initdb can't run here
 */
export async function ensureData(place: EmbeddedPlace, binaries: Binaries, password: string): Promise<void> {
  clearParts(place);
  const major = binaries.version.split('.')[0];
  if (fs.existsSync(place.data)) {
    const made = fs.readFileSync(join(place.data, 'PG_VERSION'), 'utf8').trim();
    if (made === major) return;
    throw new EnvironmentError(
      `the embedded database in ${place.data} was made by PostgreSQL ${made}, this program brings ${major}`,
      `move that folder aside to start afresh, or ${OWN_SERVER_HINT}`,
    );
  }
  // Made beside the final name and renamed, so that a killed initdb is never taken for a database.
  const part = `${place.data}.part-${randomBytes(6).toString('hex')}`;
  fs.mkdirSync(part, { mode: 0o700 });
  const passwordFile = join(place.folder, 'password.part-initdb');
  fs.writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  if (place.runAs !== undefined) {
    fs.chownSync(part, place.runAs.uid, place.runAs.gid);
    fs.chownSync(passwordFile, place.runAs.uid, place.runAs.gid);
  }
  try {
    await initialise(place, binaries, part, passwordFile);
  } finally {
    fs.rmSync(passwordFile, { force: true });
  }
  fs.renameSync(part, place.data);
}

/** What killed starts left; an initdb that outlived its starter may still write there, then the next start clears. */
function clearParts(place: EmbeddedPlace): void {
  for (const left of fs.readdirSync(place.folder)) {
    if (!left.startsWith('data.part-')) continue;
    try {
      fs.rmSync(join(place.folder, left), { recursive: true, force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
    }
  }
}

/** Runs initdb; `--no-sync` since an empty database can simply be made again. */
async function initialise(
  place: EmbeddedPlace,
  binaries: Binaries,
  data: string,
  passwordFile: string,
): Promise<void> {
  const args = ['-D', data, '-U', SUPERUSER, '--pwfile', passwordFile, '--auth', 'scram-sha-256'];
  args.push('--encoding', 'UTF8', '--locale', 'C', '--no-sync', '--no-instructions');
  const child = launch(place, binaries.initdb, args, false);
  const code = await child.ended;
  if (code !== 0) throw cannotRun(place, `initdb ended with ${code}`);
}

/**
 * The running, ready server of the place: the one found, or a new one.
 * @param portPatienceMs how long the port of the last start is waited for when it is taken
 * @throws EnvironmentError when it can't be started or does not get ready
 */
export async function ensureRunning(
  place: EmbeddedPlace,
  binaries: Binaries,
  portPatienceMs = 0,
): Promise<Postmaster> {
  const deadlineMs = Date.now() + START_TIMEOUT_MS;
  let child: Child | undefined;
  let port = await lastPortIfFree(place, portPatienceMs);
  while (Date.now() < deadlineMs) {
    const found = findPostmaster(place.data);
    if (found?.status === 'ready') return found;
    if (found === undefined && child === undefined) {
      disarmStaleLockFile(place.data);
      trimLog(place.log);
      child = launch(place, binaries.postgres, postgresArguments(place.data, port), true);
    }
    if (child?.code !== undefined) {
      const said = child.output();
      // Another program took the port meanwhile, or sessions of a killed server are still ending: worth a retry.
      const passing = /Address already in use|shared memory block|lock file "postmaster.pid" already exists/;
      if (!passing.test(said)) throw cannotRun(place, `postgres ended with ${child.code}`);
      child = undefined;
      if (said.includes('Address already in use')) port = await freePort(0);
      await sleep(10 * POLL_MS);
    }
    await sleep(POLL_MS);
  }
  throw cannotRun(place, `not ready within ${START_TIMEOUT_MS / 1000} s`);
}

function postgresArguments(data: string, port: number): string[] {
  const settings = Object.entries({ ...SETTINGS, port: String(port) });
  return ['-D', data, ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}

interface Child {
  /** Exit code or signal once it has ended. */
  code?: number | string;
  ended: Promise<number | string>;
  /** What it wrote to the log. */
  output(): string;
}

/** Starts a binary in a session of its own, so that Ctrl-C in our terminal does not reach it. */
function launch(place: EmbeddedPlace, file: string, args: string[], outlivesUs: boolean): Child {
  const log = fs.openSync(place.log, 'a', 0o600);
  const start = fs.fstatSync(log).size;
  const child: Child = {
    ended: Promise.resolve(0),
    output: () => fs.readFileSync(place.log).subarray(start).toString('utf8'),
  };
  child.ended = new Promise((resolve, reject) => {
    try {
      const started = spawn(file, args, {
        cwd: '/',
        env: { PATH: '/usr/bin:/bin', HOME: homedir(), LC_ALL: 'C', TZ: 'UTC' },
        stdio: ['ignore', log, log],
        detached: true,
        ...(place.runAs ?? {}),
      });
      started.once('error', (error) => reject(error));
      started.once('exit', (code, signal) => resolve(code ?? signal ?? 'an unknown end'));
      if (outlivesUs) started.unref();
    } catch (error) {
      reject(error);
    }
  });
  fs.closeSync(log);
  child.ended = child.ended.catch((error: NodeJS.ErrnoException) => {
    fs.appendFileSync(place.log, `${file} could not be started: ${error.message}\n`);
    return error.code ?? error.message;
  });
  void child.ended.then((code) => (child.code = code));
  return child;
}

function cannotRun(place: EmbeddedPlace, what: string): EnvironmentError {
  const tail = fs.existsSync(place.log)
    ? fs.readFileSync(place.log, 'utf8').trim().split('\n').slice(-3)
    : [];
  const account = place.runAs === undefined ? '' : ` as the account with uid ${place.runAs.uid}`;
  return new EnvironmentError(
    `the embedded PostgreSQL can't run here${account}: ${what}; its log ${place.log} ends:\n  ${tail.join('\n  ')}`,
    OWN_SERVER_HINT,
  );
}

/** The port of the last start, so that clients which outlived a server find the next one. */
function lastPort(place: EmbeddedPlace): number {
  const options = join(place.data, 'postmaster.opts');
  if (!fs.existsSync(options)) return 0;
  return Number(/port=(\d+)/.exec(fs.readFileSync(options, 'utf8'))?.[1] ?? 0);
}

async function lastPortIfFree(place: EmbeddedPlace, patienceMs: number): Promise<number> {
  const wanted = lastPort(place);
  const deadlineMs = Date.now() + patienceMs;
  for (;;) {
    const port = await freePort(wanted);
    if (port === wanted || wanted === 0 || Date.now() >= deadlineMs) return port;
    await sleep(10 * POLL_MS);
  }
}

/** `wanted` if it is free on loopback, else another free port. */
async function freePort(wanted: number): Promise<number> {
  const server = createServer();
  const port = await new Promise<number>((resolve) => {
    server.once('error', () => resolve(0));
    server.listen({ port: wanted, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return port === 0 ? freePort(0) : port;
}

function trimLog(log: string): void {
  if (fs.existsSync(log) && fs.statSync(log).size > LOG_KEPT_BYTES) fs.truncateSync(log, 0);
}
