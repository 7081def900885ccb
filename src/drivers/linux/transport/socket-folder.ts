/**
 * The folder of this process for the sockets of shared SSH connections: nobody else may enter it, and its path is short.
 *
 * Made when it is first needed and taken away when the process ends in order; connections end by themselves half a minute
 * after their last session, with the folder or without.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EnvironmentError } from '../../../core/problem.js';

/** What sun_path of a unix socket holds, less the name of a socket and the 17 characters that ssh adds while it binds. */
const MOST_CHARACTERS = 55;

let folder: string | undefined;

/** @throws EnvironmentError where TMPDIR is too long for sockets */
export function socketFolder(): string {
  if (folder !== undefined) return folder;
  const made = mkdtempSync(join(tmpdir(), 'fdssh-'));
  if (made.length > MOST_CHARACTERS) {
    rmSync(made, { recursive: true });
    throw new EnvironmentError(`${tmpdir()} is too long a path for the sockets of ssh`, 'set TMPDIR=/tmp');
  }
  process.once('exit', () => rmSync(made, { recursive: true, force: true }));
  folder = made;
  return made;
}
