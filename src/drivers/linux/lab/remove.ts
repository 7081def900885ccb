/**
 * Removes a lab: everything that its record lists and that is still ours, and nothing else.
 *
 * A namespace with a process in it would only be hidden by its deletion, so what runs inside is ended first; whatever runs
 * in a namespace that we made is ours. Where somebody has deleted one of them by its name, it lives on in the processes
 * that were in it; there those count as ours that name the lab's folder, since the number of a kernel object is given out
 * again. Safe to call again, and after a build that was killed at any moment.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EnvironmentError } from '../../../core/problem.js';
import { LocalPlace } from '../transport/place.js';
import { ownIdentity } from '../../../system/process-identity.js';
import {
  LABS_FOLDER,
  isBusy,
  namespaceInode,
  ownNamespaces,
  readRecord,
  removeRecord,
  writeRecord,
  type LabRecord,
} from './record.js';

export interface Removal {
  /** Names of the namespaces that were deleted. */
  namespaces: string[];
  /** Processes that were ended. */
  processes: number;
}

/** How long daemons have to end by themselves. */
const GRACE_MS = 400;
const GONE_WITHIN_MS = 5000;

/** @returns undefined when there is no such lab @throws EnvironmentError when another process is at work on it */
export async function removeLab(name: string): Promise<Removal | undefined> {
  const record = readRecord(name);
  if (record === undefined) return undefined;
  if (isBusy(record)) {
    throw new EnvironmentError(`another process is at work on the lab "${name}"`, 'wait until it is done');
  }
  Object.assign(record, { state: 'removing', owner: ownIdentity() });
  writeRecord(record);
  const namespaces = ownNamespaces(record);
  const processes = await endProcesses(record, namespaces);
  await new LocalPlace().run(['ip', '-batch', '-'], {
    input: namespaces.map((namespace) => `netns del ${namespace}\n`).join(''),
    timeoutMs: 30_000,
  });
  removeRecord(name);
  return { namespaces, processes };
}

async function endProcesses(record: LabRecord, namespaces: readonly string[]): Promise<number> {
  const first = processesOf(record, namespaces);
  for (const pid of first) signal(pid, 'SIGTERM');
  const begunMs = performance.now();
  for (;;) {
    const left = processesOf(record, namespaces);
    if (left.length === 0) return first.length;
    const passedMs = performance.now() - begunMs;
    if (passedMs > GONE_WITHIN_MS) {
      throw new EnvironmentError(
        `processes ${left.join(', ')} of the lab do not end`,
        `kill -9 ${left.join(' ')}`,
      );
    }
    if (passedMs > GRACE_MS) for (const pid of left) signal(pid, 'SIGKILL');
    await sleep(25);
  }
}

/** Pids of what runs in these namespaces, which can reach nothing else, and in those that have lost their names. */
function processesOf(record: LabRecord, namespaces: readonly string[]): number[] {
  const link = (inode: number): string => `net:[${inode}]`;
  const named = new Set(namespaces.map((name) => link(namespaceInode(name))));
  const hidden = new Set(
    record.namespaces.flatMap(({ name, inode }) =>
      namespaces.includes(name) || inode === undefined ? [] : [link(inode)],
    ),
  );
  const folder = `${join(LABS_FOLDER, record.name)}/`;
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => {
      try {
        const namespace = readlinkSync(`/proc/${pid}/ns/net`);
        if (named.has(namespace)) return true;
        return hidden.has(namespace) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder);
      } catch {
        // ended in the meantime, or a process of the kernel
        return false;
      }
    })
    .map(Number);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
