/**
 * The running server of a data folder: found, stopped, and told apart from a stranger.
 *
 * PostgreSQL writes `postmaster.pid` into the data folder (storage file layout, chapter 66.1 of its manual): pid,
 * folder, start time, port, socket folder, address, shared memory key, status. After a crash the file stays, and
 * its pid may by now belong to any process, so a server counts as found only when that process was started with
 * this data folder as argument.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { argumentsOf, identityOf, isRunning } from '../../../system/process-identity.js';

const POLL_MS = 10;
const FAST_STOP_MS = 30_000;
const IMMEDIATE_STOP_MS = 10_000;

export interface Postmaster {
  pid: number;
  port: number;
  /** As PostgreSQL writes it: `starting`, `ready`, `stopping`, `standby`; empty very early. */
  status: string;
}

/** The live server of this data folder, or undefined. */
export function findPostmaster(data: string): Postmaster | undefined {
  const lines = readLockFile(data);
  if (lines === undefined) return undefined;
  const pid = Number(lines[0]);
  if (!servesFolder(pid, data)) return undefined;
  return { pid, port: Number(lines[3] ?? 0), status: (lines[7] ?? '').trim() };
}

/**
 * Makes a left-over lock file harmless when its pid now belongs to a stranger, which PostgreSQL would take for a
 * running server. The file gets our own pid, which PostgreSQL knows as its parent's and ignores; the rest of it
 * stays, since PostgreSQL reads the shared memory key to see whether backends of a killed server still live.
 */
export function disarmStaleLockFile(data: string): void {
  const lines = readLockFile(data);
  if (lines === undefined) return;
  const pid = Number(lines[0]);
  if (identityOf(pid) === undefined || servesFolder(pid, data)) return;
  lines[0] = String(process.pid);
  writeFileSync(join(data, 'postmaster.pid'), lines.join('\n'));
}

/** Fast shutdown (sessions are ended, data is flushed), immediate shutdown when that takes too long. */
export async function stopPostmaster(data: string): Promise<void> {
  const server = findPostmaster(data);
  if (server === undefined) return;
  const identity = identityOf(server.pid);
  if (identity === undefined) return;
  for (const [signal, patienceMs] of [
    ['SIGINT', FAST_STOP_MS],
    ['SIGQUIT', IMMEDIATE_STOP_MS],
  ] as const) {
    if (!isRunning(identity)) return;
    process.kill(server.pid, signal);
    const deadlineMs = Date.now() + patienceMs;
    while (isRunning(identity) && Date.now() < deadlineMs) await sleep(POLL_MS);
  }
  if (isRunning(identity)) throw new Error(`PostgreSQL (process ${server.pid}) does not stop`);
}

function readLockFile(data: string): string[] | undefined {
  try {
    return readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n');
  } catch (error) {
    // a server that ends removes its file at any moment, so it is not asked for before
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function servesFolder(pid: number, data: string): boolean {
  return Number.isInteger(pid) && pid > 0 && `${argumentsOf(pid)} `.includes(` -D ${data} `);
}
