/**
 * Runs of gates kept on disk, by the content of what they depend on: fabric, experiment, seed, what was computed, and
 * the program itself. So only what changed is run again: the same baseline costs nothing the second time.
 *
 * Names are not part of it, nor is what an experiment only says (description, objectives). The program
 * counts by the bytes of its compiled files, since a version number stays the same while it is worked on. Each file
 * carries a digest of its run, since a figure that a broken disk has changed would decide about a change to a fabric: a
 * file that can not be read, or is not what was written, is a run that is not there. What can not be kept is said once
 * and made again the next time. Old ones are removed when there are too many.
 */
import { createHash, randomUUID } from 'node:crypto';
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
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { contentDigest } from '../../system/digest.js';
import type { Execute } from './conduct.js';
import type { CheckedGate } from './gate-input.js';
import { sideInput } from './pool.js';
import type { SideTask } from './rounds.js';
import type { SideInput, SideOutcome } from './side-run.js';

/** A run takes about a kilobyte. */
const MOST_FILES = 100_000;

export interface RunStore {
  get(key: string): SideOutcome | undefined;
  put(key: string, outcome: SideOutcome): void;
}

/** Digest of everything that a run's figures depend on. */
export function runKey({ experiment, fabric, seed, needs }: SideInput, program: string): string {
  const { description: _, objectives: __, seed: ___, fabric: ____, ...spec } = experiment.spec;
  const parts = {
    experiment: digestOf(experiment, spec),
    fabric: digestOf(fabric, fabric.spec),
  };
  return contentDigest({ ...parts, seed, needs, program });
}

/** A gate asks for the same documents at each seed, and some are large. */
const digests = new WeakMap<object, string>();
function digestOf(document: object, content: unknown): string {
  const known = digests.get(document) ?? contentDigest(content);
  digests.set(document, known);
  return known;
}

/** Looks into the store before it executes, and stores what was executed. What is under way already is waited for. */
export function cached(gate: CheckedGate, execute: Execute, store: RunStore, program: string): Execute {
  const underWay = new Map<string, Promise<SideOutcome>>();
  const make = async (task: SideTask, key: string): Promise<SideOutcome> => {
    const { outcome } = await execute(task);
    store.put(key, outcome);
    return outcome;
  };
  return async (task) => {
    const key = runKey(sideInput(gate, task), program);
    const known = store.get(key) ?? underWay.get(key);
    if (known !== undefined) return { outcome: await known, fromCache: true };
    const made = make(task, key);
    underWay.set(key, made);
    try {
      return { outcome: await made };
    } finally {
      underWay.delete(key);
    }
  };
}

/** A folder of runs, safe for several processes at a time. */
export class FolderStore implements RunStore {
  private complained = false;

  /** @param complain told once when runs can not be kept, such as on a full disk */
  constructor(
    private readonly folder: string,
    private readonly complain: (why: string) => void = () => undefined,
  ) {}

  get(key: string): SideOutcome | undefined {
    try {
      const { outcome, digest } = JSON.parse(readFileSync(this.fileOf(key), 'utf8')) as KeptRun;
      return digest === contentDigest({ key, outcome }) ? outcome : undefined;
    } catch {
      // not there, or cut short by a crash: the run is made again
      return undefined;
    }
  }

  put(key: string, outcome: SideOutcome): void {
    const file = this.fileOf(key);
    const kept: KeptRun = { outcome, digest: contentDigest({ key, outcome }) };
    const written = `${file}.${randomUUID()}`;
    this.tried(() => {
      try {
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(written, JSON.stringify(kept));
        renameSync(written, file);
      } catch (error) {
        rmSync(written, { force: true });
        throw error;
      }
    });
  }

  /** Removes the oldest runs beyond the number that is kept, and nothing else that lies in the folder. */
  trim(most = MOST_FILES): void {
    if (!existsSync(this.folder)) return;
    this.tried(() => {
      const folders = readdirSync(this.folder, { withFileTypes: true }).filter(
        (entry) => entry.isDirectory() && /^[0-9a-f]{2}$/.test(entry.name),
      );
      const files = folders.flatMap(({ name }) =>
        readdirSync(join(this.folder, name))
          .filter((file) => /^[0-9a-f]+[.]json$/.test(file))
          .map((file) => join(this.folder, name, file)),
      );
      if (files.length <= most) return;
      const byAge = files.map((file) => ({ file, ms: ageOf(file) })).sort((a, b) => a.ms - b.ms);
      for (const { file } of byAge.slice(0, files.length - most)) rmSync(file, { force: true });
    });
  }

  /** A run that is not kept costs time, not the gate. */
  private tried(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!this.complained) this.complain((error as Error).message);
      this.complained = true;
    }
  }

  private fileOf(key: string): string {
    return join(this.folder, key.slice(0, 2), `${key.slice(2)}.json`);
  }
}

/** A file of the store. */
interface KeptRun {
  outcome: SideOutcome;
  digest: string;
}

/** Another process may have removed it meanwhile. */
const ageOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

let program: string | undefined;

/** Digest of the compiled program, of all its files, and of what runs it. */
export const programDigest = (): string => (program ??= digestOfFiles());

function digestOfFiles(): string {
  const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
  const hash = createHash('sha256').update(process.version);
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /[.][jt]s$/.test(name),
  );
  for (const name of files.sort())
    hash
      .update(name)
      .update('\0')
      .update(readFileSync(join(root, name)));
  return hash.digest('hex');
}
