/**
 * Files named by the user. What can't be read is told in words before anything tries to parse it.
 */
import { readdirSync, readFileSync, statSync, type Stats } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { listChoices, nearestHint } from '../../core/nearest.js';
import { InputError } from '../../core/problem.js';

/** No definition or topology comes near this size. */
const MOST_BYTES = 64 * 1024 * 1024;
/** What Node reads into one buffer. */
const MOST_BINARY_BYTES = 2 * 1024 ** 3 - 1;

/**
 * @param path absolute
 * @param shown as the user wrote it
 * @throws InputError when it is missing, a folder, a device, too large, unreadable, or no UTF-8 text
 */
export const readTextFile = (path: string, shown: string): string =>
  decode(readBytes(path, shown, MOST_BYTES), shown);

/**
 * @param path absolute
 * @param shown as the user wrote it
 * @throws InputError as `readTextFile`, but for any content
 */
const readBinaryFile = (path: string, shown: string): Buffer => readBytes(path, shown, MOST_BINARY_BYTES);

/**
 * A file of any size, open for reading; all of it where it can only be read once.
 * @throws InputError as `readBinaryFile`, but for its size
 */
export async function openBinaryFile(path: string, shown: string): Promise<FileHandle | Buffer> {
  if (!statusOf(path, shown).isFile()) return readBinaryFile(path, shown);
  try {
    return await open(path);
  } catch (error) {
    throw problem(shown, `can't be read: ${(error as Error).message}`);
  }
}

function readBytes(path: string, shown: string, mostBytes: number): Buffer {
  const stats = statusOf(path, shown);
  if (stats.isDirectory()) throw problem(shown, 'this is a folder; a file is needed', filesIn(path));
  if (!stats.isFile() && !stats.isFIFO()) throw problem(shown, 'this is no file but a device or a socket');
  if (stats.size > mostBytes)
    throw problem(shown, `the file is larger than ${Math.floor(mostBytes / 1024 ** 2)} MiB`);
  try {
    return readFileSync(path);
  } catch (error) {
    throw problem(shown, `can't be read: ${(error as Error).message}`);
  }
}

function statusOf(path: string, shown: string): Stats {
  try {
    return statSync(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw problem(shown, `can't be read: ${message}`);
    const near = nearestHint(basename(path), namesIn(dirname(path)));
    throw problem(shown, 'there is no such file', near ?? `looked for ${path}`);
  }
}

function decode(bytes: Buffer, shown: string): string {
  const refused = problem(shown, 'this is no text in UTF-8 but a binary file, or text in another encoding');
  if (bytes.includes(0)) throw refused;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw refused;
  }
}

function filesIn(folder: string): string | undefined {
  const files = namesIn(folder).filter((name) => /\.(ya?ml|json|txt)$/i.test(name));
  return files.length === 0 ? undefined : `it has ${listChoices(files)}`;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    // a hint is all that is lost
    return [];
  }
}

const problem = (file: string, message: string, hint?: string): InputError =>
  new InputError([{ pointer: '', file, message, ...(hint === undefined ? {} : { hint }) }]);
