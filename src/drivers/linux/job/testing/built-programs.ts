/**
 * The programs of a lab for a suite: compiled from the source under test, not from a build that may be older.
 */
import { transformFile } from '@swc/core';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCES = fileURLToPath(new URL('../..', import.meta.url));

const WORKER = [
  'worker',
  'protocol',
  'mesh',
  'inbox',
  'edge-meter',
  'ring',
  'step-runner',
  'training-state',
].map((name) => `job/${name}`);
const WATCHER = [
  'watcher',
  'watch-cost',
  'watch-protocol',
  'node-watch',
  'line-command',
  'frr-socket',
  'turns',
  'readings',
].map((name) => `telemetry/${name}`);
const SHARED = ['job/checkpoint-file', 'job/monotonic', 'job/raise-priority', 'lab/counter-name'];
const FILES = [...WORKER, ...SHARED, ...WATCHER];

export interface LabPrograms {
  worker: string;
  watcher: string;
}

/** A file that is missing here is missed by the program when it starts, and so by the suite. */
export async function buildPrograms(folder: string): Promise<LabPrograms> {
  for (const name of FILES) {
    const { code } = await transformFile(join(SOURCES, `${name}.ts`), {
      swcrc: false,
      configFile: false,
      jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
      module: { type: 'es6' },
    });
    const file = join(folder, `${name}.js`);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, code);
  }
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }\n');
  return { worker: join(folder, 'job/worker.js'), watcher: join(folder, 'telemetry/watcher.js') };
}
