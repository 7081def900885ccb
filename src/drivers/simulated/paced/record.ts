/**
 * The folder of a paced simulation: a record by which a later process finds it, its socket, and its journal.
 *
 * A record names the process by pid and start time, since a pid alone may be somebody else's by then. Folders lie where
 * files of a boot lie, in one that only the account may enter: a socket in it needs no other guard. What has ended stays
 * for a week, so that its journal can be read. Not modelled: several containers that share the folder and not their pids.
 */
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EnvironmentError } from '../../../core/problem.js';
import type { FabricDefinition } from '../../../fabric-api/definition.js';
import { readSettings } from '../../../fabric-api/legacy-settings.js';
import type { ConfigurationSnapshot } from '../../../fabric-api/setting.js';
import { isRunning, type ProcessIdentity } from '../../../system/process-identity.js';

/** Of the record and the journal beside it; 1 is without a number, and its settings are sentences. */
export const RECORD_FORMAT = 2;

export interface PacedRecord {
  format?: number;
  version: string;
  instance: string;
  /** When it was started, what it is for was sealed. */
  sealed: boolean;
  fabric: string;
  seed: number;
  pace: number;
  leaseMs: number;
  state: 'starting' | 'up' | 'ended';
  /** Of the simulation; of who starts it while it starts. */
  process: ProcessIdentity;
  startedAt: string;
  endedAt: string | null;
  /** Why it ended. */
  reason: string | null;
}

/** What a starter leaves in the folder, besides the record. */
export interface SimulationInput {
  definition: FabricDefinition;
  /** After how long without a driver it ends, ms. */
  abandonedMs: number;
}

/** One line of its own log. Times of the wall clock are RFC 3339, `nowNs` is the fabric's. */
export interface JournalLine {
  at: string;
  nowNs: number;
  did: 'started' | 'attached' | 'intends' | 'applied' | 'reverted' | 'lease-over' | 'ended';
  id?: string;
  /** What an impairment is, and what undoes it. */
  impairment?: unknown;
  saved?: ConfigurationSnapshot;
  /** Who or what had it done. */
  by?: string;
}

const KEEP_ENDED_MS = 7 * 86_400_000;
/** What sun_path of a unix socket holds. */
const MOST_SOCKET_CHARACTERS = 103;

/** The folder of all of this account's. @throws EnvironmentError when somebody else has made it */
export function pacedFolder(): string {
  const uid = process.getuid?.() ?? 0;
  const folder = join(tmpdir(), `fabricdrill-paced-${uid}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = lstatSync(folder);
  if (!found.isDirectory() || found.uid !== uid) {
    throw new EnvironmentError(`${folder} is not a folder of this account`, 'name another one in TMPDIR');
  }
  if ((found.mode & 0o077) !== 0) chmodSync(folder, 0o700);
  return folder;
}

/** @param base the folder of all */
export const folderOf = (base: string, instance: string): string =>
  join(base, instance.replaceAll(/[^\w-]/g, '_'));

/** @throws EnvironmentError where TMPDIR is too long for sockets */
export function socketIn(folder: string): string {
  const path = join(folder, 'socket');
  if (path.length > MOST_SOCKET_CHARACTERS) {
    throw new EnvironmentError(`${path} is too long for a socket`, 'set TMPDIR=/tmp');
  }
  return path;
}

export function readRecord(folder: string): PacedRecord | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, 'record.json'), 'utf8')) as PacedRecord;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Replaces the record as a whole: a reader sees the old one or the new one. */
export function writeRecord(folder: string, record: PacedRecord): void {
  const file = join(folder, 'record.json');
  writeFileSync(`${file}.tmp`, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.tmp`, file);
}

/** Whether its process, and no later one with its pid, still runs. */
export const isUp = ({ state, process }: PacedRecord): boolean => state === 'up' && isRunning(process);

/** Folders in which there is a record. */
export const recorded = (base: string): string[] =>
  readdirSync(base)
    .map((name) => join(base, name))
    .filter((folder) => existsSync(join(folder, 'record.json')))
    .sort();

/** A folder for a new one; takes away what ended long ago. */
export function makeFolder(base: string, instance: string): string {
  for (const old of recorded(base)) {
    const record = readRecord(old);
    if (record === undefined || isRunning(record.process)) continue;
    const ended = Date.parse(record.endedAt ?? record.startedAt);
    if (Date.now() - ended > KEEP_ENDED_MS) rmSync(old, { recursive: true, force: true });
  }
  const folder = folderOf(base, instance);
  rmSync(socketIn(folder), { force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

const journalFile = (folder: string): string => join(folder, 'journal.jsonl');

/** Durable when it returns. */
export function writeJournal(folder: string, line: JournalLine): void {
  const file = openSync(journalFile(folder), 'a', 0o600);
  try {
    writeSync(file, `${JSON.stringify(line)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Oldest first, settings typed; empty when it wrote nothing yet. A line that was cut off by a crash is left out. */
export function readJournal(folder: string): JournalLine[] {
  const file = journalFile(folder);
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        const read = JSON.parse(line) as JournalLine;
        return [read.saved === undefined ? read : { ...read, saved: readSettings(read.saved) }];
      } catch {
        return [];
      }
    });
}
