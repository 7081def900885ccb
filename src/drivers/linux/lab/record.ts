/**
 * The record of a lab: what has been made for it, written down before it is made, so that exactly that can be removed.
 *
 * A namespace counts as ours when the kernel object is the one that we made (its inode), or, where we were killed between
 * writing and making it, when it came into being within a minute after the entry. Whatever else bears such a name is
 * somebody else's and stays. The record lies in a run folder: after a reboot it is gone, and so are the namespaces.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { EnvironmentError, messageOf } from '../../../core/problem.js';
import { isRunning, ownIdentity } from '../../../system/process-identity.js';

/** Run files of labs; gone after a reboot, as namespaces are, and open to the account that FRR runs as. */
export const LABS_FOLDER = '/run/fabricdrill/labs';

export interface NamespaceEntry {
  name: string;
  /** When it was about to be made, ms since 1970. */
  intendedMs: number;
  /** Of the kernel object; left out until it has been seen. */
  inode?: number;
}

export interface LabRecord {
  version: 1;
  name: string;
  /** Of topology, settings and lab: a fabric file that differs in these describes another lab. */
  digest: string;
  state: 'building' | 'up' | 'removing';
  /** The process that builds or removes it. */
  owner: string;
  createdAt: string;
  namespaces: NamespaceEntry[];
}

const NAMESPACES_FOLDER = '/run/netns';
/** A namespace that is younger than its entry by more is none that the entry speaks of. */
const MADE_WITHIN_MS = 60_000;

const fileOf = (name: string): string => join(LABS_FOLDER, name, 'record.json');

export function readRecord(name: string): LabRecord | undefined {
  try {
    return JSON.parse(readFileSync(fileOf(name), 'utf8')) as LabRecord;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    const why = messageOf(error);
    throw new EnvironmentError(
      `the record of the lab "${name}" can't be read: ${why}`,
      `look at ${fileOf(name)} and at ip netns list; what is left must be removed by hand`,
      { cause: error },
    );
  }
}

/** Names of labs of which something may be there. */
export function recordedLabs(): string[] {
  if (!existsSync(LABS_FOLDER)) return [];
  return readdirSync(LABS_FOLDER)
    .filter((name) => existsSync(fileOf(name)))
    .sort();
}

/**
 * Replaces the record as a whole: a reader sees the old one or the new one.
 * @throws EnvironmentError where there is no room for it, or no right to write
 */
export function writeRecord(record: LabRecord): void {
  const file = fileOf(record.name);
  try {
    mkdirSync(join(LABS_FOLDER, record.name), { recursive: true, mode: 0o755 });
    writeFileSync(`${file}.tmp`, `${JSON.stringify(record, null, 2)}\n`);
    renameSync(`${file}.tmp`, file);
  } catch (error) {
    const why = messageOf(error);
    throw new EnvironmentError(
      `the record of the lab "${record.name}" can't be written: ${why}`,
      `make ${LABS_FOLDER} writable`,
      { cause: error },
    );
  }
}

export function newRecord(name: string, digest: string, namespaces: readonly string[]): LabRecord {
  const nowMs = Date.now();
  return {
    version: 1,
    name,
    digest,
    state: 'building',
    owner: ownIdentity(),
    createdAt: new Date(nowMs).toISOString(),
    namespaces: namespaces.map((namespace) => ({ name: namespace, intendedMs: nowMs })),
  };
}

export const removeRecord = (name: string): void =>
  rmSync(join(LABS_FOLDER, name), { recursive: true, force: true });

/** Whether somebody else, who still runs, builds or removes it. */
export const isBusy = (record: LabRecord): boolean =>
  record.state !== 'up' && record.owner !== ownIdentity() && isRunning(record.owner);

export const namespaceExists = (name: string): boolean => existsSync(join(NAMESPACES_FOLDER, name));

/** Notes which kernel objects the namespaces are; to be called right after they were made. */
export function noteInodes(record: LabRecord): void {
  for (const entry of record.namespaces) entry.inode = namespaceInode(entry.name);
}

/** The number of the kernel object. @throws Error where there is no such namespace */
export const namespaceInode = (name: string): number => statSync(join(NAMESPACES_FOLDER, name)).ino;

/** Recorded namespaces that are gone, or are now somebody else's. */
export const lostNamespaces = (record: LabRecord): string[] =>
  record.namespaces.filter((entry) => !isOurs(entry)).map(({ name }) => name);

/** Of the recorded namespaces those that are there and are ours. */
export function ownNamespaces(record: LabRecord): string[] {
  return record.namespaces.filter(isOurs).map(({ name }) => name);
}

function isOurs({ name, intendedMs, inode }: NamespaceEntry): boolean {
  try {
    const { ino, ctimeMs } = statSync(join(NAMESPACES_FOLDER, name));
    if (inode !== undefined) return ino === inode;
    return ctimeMs >= intendedMs - 1 && ctimeMs <= intendedMs + MADE_WITHIN_MS;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
