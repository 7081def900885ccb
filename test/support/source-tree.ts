/**
 * The checkout as the architecture tests see it: files on disk, whether committed or not.
 *
 * Walks folders instead of asking git, so that the tests also hold in an unpacked archive and for a checkout that
 * belongs to another account.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Root of the checkout. */
export const CHECKOUT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

/** Folders that hold TypeScript of ours. */
export const SOURCE_FOLDERS = ['src', 'migrations', 'bench', 'test'] as const;

const NOT_OURS = new Set(['node_modules', 'dist', 'coverage', '.git']);

/** Files below a folder of the checkout, as sorted paths relative to the checkout; none when it does not exist. */
export function filesBelow(folder: string): string[] {
  const found: string[] = [];
  const walk = (place: string): void => {
    for (const entry of readdirSync(place, { withFileTypes: true })) {
      if (entry.isDirectory() && !NOT_OURS.has(entry.name)) walk(join(place, entry.name));
      else if (entry.isFile()) found.push(relative(CHECKOUT, join(place, entry.name)).split(sep).join('/'));
    }
  };
  try {
    walk(join(CHECKOUT, folder));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return found.sort();
}

/** Every TypeScript file of the source folders, specs included. */
export const typescriptFiles = (): string[] =>
  SOURCE_FOLDERS.flatMap((folder) => filesBelow(folder)).filter((file) => /\.tsx?$/.test(file));

export const isSpec = (file: string): boolean => /\.(spec|e2e-spec)\.ts$/.test(file);

/** A file that ships: below src, no spec, and not in a room's `testing` folder, which only specs use. */
export const ships = (file: string): boolean =>
  file.startsWith('src/') && !isSpec(file) && !file.includes('/testing/');

export const readSource = (file: string): string => readFileSync(join(CHECKOUT, file), 'utf8');
