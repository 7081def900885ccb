/**
 * The version of this program, as its package.json says: it goes into runs, reports and the database.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Semantic version, such as `0.1.0`. */
export const VERSION = readVersion(dirname(fileURLToPath(import.meta.url)));

/** Looks upwards, since compiled files lie one folder deeper than their sources. */
function readVersion(folder: string): string {
  const file = join(folder, 'package.json');
  if (existsSync(file)) {
    const found = JSON.parse(readFileSync(file, 'utf8')) as { name?: string; version?: string };
    if (found.name === 'fabricdrill' && found.version !== undefined) return found.version;
  }
  if (folder === dirname(folder)) throw new Error('the package.json of fabricdrill is missing');
  return readVersion(dirname(folder));
}
