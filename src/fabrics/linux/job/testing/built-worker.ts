/**
 * The worker program for a suite: compiled from the source under test, not from a build that may be older.
 */
import { transformFile } from '@swc/core';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCES = fileURLToPath(new URL('..', import.meta.url));

/** @returns path of the program */
export async function buildWorker(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }\n');
  const files = ['worker', 'protocol', 'mesh', 'inbox', 'edge-meter', 'ring', 'monotonic'];
  files.push('step-runner', 'training-state', 'checkpoint-file');
  const there = new Set(await readdir(SOURCES));
  for (const name of files) {
    if (!there.has(`${name}.ts`)) throw new Error(`${name}.ts of the worker is not where it was`);
    const { code } = await transformFile(join(SOURCES, `${name}.ts`), {
      swcrc: false,
      configFile: false,
      jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
      module: { type: 'es6' },
    });
    await writeFile(join(folder, `${name}.js`), code);
  }
  return join(folder, 'worker.js');
}
