/**
 * A lock between processes that survives kill -9 of any of them.
 *
 * Lamport's bakery algorithm ("A New Solution of Dijkstra's Concurrent Programming Problem", CACM 1974) with files
 * as registers: who wants in draws a number one above the highest and waits for all lower ones. Every file name
 * carries its owner's identity and is never used twice, so that the files of a dead process can be removed by
 * anybody at any time; a single lock file with a pid in it can't be broken without a race. Node has no flock.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EnvironmentError } from '../../../core/problem.js';
import { isRunning, ownIdentity } from '../../../system/process-identity.js';

const POLL_MS = 10;

interface Entry {
  file: string;
  kind: string;
  number: number;
  owner: string;
  id: string;
}

/**
 * Runs `work` while no other process (and nobody else in this one) runs work under the same folder.
 * @param folder a folder for the lock alone; made when it is not there
 * @throws EnvironmentError when the lock was not free within `timeoutMs`
 */
export async function withTicketLock<T>(
  folder: string,
  work: () => Promise<T>,
  timeoutMs = 90_000,
): Promise<T> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const owner = ownIdentity();
  const id = `${owner}.${randomBytes(6).toString('hex')}`;
  const choosing = join(folder, `choosing.0.${id}`);
  writeFileSync(choosing, '');
  const number = Math.max(0, ...entries(folder).map((entry) => entry.number)) + 1;
  const ticket = join(folder, `ticket.${number}.${id}`);
  try {
    writeFileSync(ticket, '');
    rmSync(choosing, { force: true });
    await turn(folder, number, id, Date.now() + timeoutMs);
    return await work();
  } finally {
    rmSync(choosing, { force: true });
    rmSync(ticket, { force: true });
  }
}

async function turn(folder: string, number: number, id: string, deadlineMs: number): Promise<void> {
  // Two passes, never one: a listing may miss a ticket that is written while it is read, unless its owner had
  // finished choosing before the listing began.
  for (const ahead of [isChoosing, (entry: Entry) => comesBefore(entry, number, id)]) {
    for (;;) {
      const blocker = entries(folder).find((entry) => entry.id !== id && ahead(entry));
      if (blocker === undefined) break;
      if (Date.now() > deadlineMs) throw lockTimeout(folder, blocker);
      await sleep(POLL_MS);
    }
  }
}

function isChoosing(entry: Entry): boolean {
  return entry.kind === 'choosing';
}

function comesBefore(entry: Entry, number: number, id: string): boolean {
  return entry.kind === 'ticket' && (entry.number < number || (entry.number === number && entry.id < id));
}

/** Files of processes that still run; those of dead ones are removed on the way. */
function entries(folder: string): Entry[] {
  const live: Entry[] = [];
  for (const file of readdirSync(folder)) {
    const [kind, number, owner, nonce] = file.split('.');
    if (nonce === undefined) continue;
    if (isRunning(owner)) live.push({ file, kind, number: Number(number), owner, id: `${owner}.${nonce}` });
    else rmSync(join(folder, file), { force: true });
  }
  return live;
}

function lockTimeout(folder: string, blocker: Entry): EnvironmentError {
  const pid = blocker.owner.split('-')[0];
  return new EnvironmentError(
    `process ${pid} has been starting or stopping the embedded database for too long (lock ${folder})`,
    `wait for process ${pid} or end it, or set DATABASE_URL to a PostgreSQL server of your own`,
  );
}
