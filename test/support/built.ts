/**
 * The TypeScript of the checkout as JavaScript, for tests that start programs of ours: what the sources say now, whatever
 * `dist` holds. The specs of a checkout share one folder; whoever asks compiles what has changed since it was last asked
 * for. Types are not checked here.
 */
import { transformSync, version as swcVersion } from '@swc/core';
import { createHash, randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { CHECKOUT, isSpec, readSource, SOURCE_FOLDERS, typescriptFiles } from './source-tree.js';
import { testHome } from './test-home.js';

/** The same options as under jest. */
const OPTIONS_FILE = '.swcrc';

/** JavaScript of a source, whose path is for its stack traces. */
export function compile(source: string, file: string): string {
  const configFile = join(CHECKOUT, OPTIONS_FILE);
  return transformSync(source, { configFile, filename: file, sourceMaps: 'inline' }).code;
}

/** The folder of the compiled checkout, laid out like it and readable by every account. */
export function builtCheckout(): string {
  const manner = createHash('sha256').update(readSource(OPTIONS_FILE) + swcVersion);
  const folder = join(testHome(), `built-${manner.digest('hex').slice(0, 8)}`);
  const { version } = JSON.parse(readSource('package.json')) as { version: string };
  const wanted = new Set<string>();
  fs.mkdirSync(folder, { recursive: true });
  put(folder, 'package.json', JSON.stringify({ name: 'fabricdrill', version, type: 'module' }));
  if (!fs.existsSync(join(folder, 'node_modules'))) linkPackages(folder);
  for (const file of typescriptFiles().filter((one) => !isSpec(one))) {
    const name = file.replace(/\.ts$/, '.js');
    wanted.add(name);
    const { mtimeMs } = fs.statSync(join(CHECKOUT, file));
    if (changedMs(join(folder, name)) === Math.trunc(mtimeMs)) continue;
    put(folder, name, compile(readSource(file), join(CHECKOUT, file)), Math.trunc(mtimeMs));
  }
  removeOthers(folder, wanted);
  return folder;
}

function changedMs(file: string): number | undefined {
  const found = fs.statSync(file, { throwIfNoEntry: false });
  return found && Math.round(found.mtimeMs);
}

/** Whole or not at all, since other specs read it meanwhile. */
function put(folder: string, name: string, text: string, mtimeMs?: number): void {
  const file = join(folder, name);
  const part = `${file}.${randomBytes(4).toString('hex')}`;
  fs.mkdirSync(dirname(file), { recursive: true });
  fs.writeFileSync(part, text);
  if (mtimeMs !== undefined) fs.utimesSync(part, mtimeMs / 1000, mtimeMs / 1000);
  fs.renameSync(part, file);
}

function linkPackages(folder: string): void {
  try {
    fs.symlinkSync(join(CHECKOUT, 'node_modules'), join(folder, 'node_modules'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/**
 * What a source that is gone has left: a program that still imports it must fail. Looks into our own folders only: newer
 * versions of Node 24 follow links when they list a folder with all below it, and `node_modules` is one.
 */
function removeOthers(folder: string, wanted: ReadonlySet<string>): void {
  for (const top of SOURCE_FOLDERS) {
    const files = fs.readdirSync(join(folder, top), { recursive: true, withFileTypes: true });
    for (const { parentPath, name } of files.filter(
      (entry) => entry.isFile() && entry.name.endsWith('.js'),
    )) {
      const file = relative(folder, join(parentPath, name)).split(sep).join('/');
      if (!wanted.has(file)) fs.rmSync(join(folder, file), { force: true });
    }
  }
}
