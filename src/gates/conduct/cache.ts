/**
 * Runs of gates kept on disk, by the content of what they depend on: fabric, experiment, seed, what was computed, and
 * the program itself. So only what changed is run again: the same baseline costs nothing the second time.
 *
 * Names are not part of it, nor is what an experiment only says (description, objectives). The program
 * counts by the bytes of its compiled files, since a version number stays the same while it is worked on. A file that can
 * not be read is a run that is not there; old ones are removed when there are too many.
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
import { contentDigest } from '../../platform/digest.js';
import type { Execute } from './conduct.js';
import type { CheckedGate } from './gate-input.js';
import { sideInput, type SideInput } from './pool.js';
import type { SideTask } from './rounds.js';
import type { SideOutcome } from './side-run.js';

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

/** Looks into the store before it executes, and stores what was executed. */
export function cached(gate: CheckedGate, execute: Execute, store: RunStore, program: string): Execute {
  return async (task: SideTask) => {
    const key = runKey(sideInput(gate, task), program);
    const known = store.get(key);
    if (known !== undefined) return { outcome: known, fromCache: true };
    const run = await execute(task);
    store.put(key, run.outcome);
    return run;
  };
}

/** A folder of runs, safe for several processes at a time. */
export class FolderStore implements RunStore {
  constructor(private readonly folder: string) {}

  get(key: string): SideOutcome | undefined {
    try {
      const { figures, ...rest } = JSON.parse(readFileSync(this.fileOf(key), 'utf8')) as SideOutcome;
      return figures === undefined ? undefined : { figures, ...rest };
    } catch {
      // not there, or cut short by a crash: the run is made again
      return undefined;
    }
  }

  put(key: string, outcome: SideOutcome): void {
    const file = this.fileOf(key);
    mkdirSync(dirname(file), { recursive: true });
    const written = `${file}.${randomUUID()}`;
    writeFileSync(written, JSON.stringify(outcome));
    renameSync(written, file);
  }

  /** Removes the oldest runs beyond the number that is kept. */
  trim(most = MOST_FILES): void {
    if (!existsSync(this.folder)) return;
    const files = readdirSync(this.folder).flatMap((part) =>
      readdirSync(join(this.folder, part)).map((name) => join(this.folder, part, name)),
    );
    if (files.length <= most) return;
    const byAge = files.map((file) => ({ file, ms: statSync(file).mtimeMs })).sort((a, b) => a.ms - b.ms);
    for (const { file } of byAge.slice(0, files.length - most)) rmSync(file, { force: true });
  }

  private fileOf(key: string): string {
    return join(this.folder, key.slice(0, 2), `${key.slice(2)}.json`);
  }
}

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
