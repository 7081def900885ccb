/**
 * Who uses the embedded server: one empty file per user, its owner's identity in the name.
 *
 * Read and written under the start/stop lock only. A process that was killed leaves its file behind; whoever looks
 * next removes it, because the identity no longer runs.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRunning, ownIdentity } from '../../../system/process-identity.js';

/** Adds a lease of this process and returns its file. */
export function takeLease(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, `${ownIdentity()}.${randomBytes(6).toString('hex')}`);
  writeFileSync(file, '', { flag: 'wx', mode: 0o600 });
  return file;
}

/** Gives a lease back; harmless when it is already gone. */
export function dropLease(file: string): void {
  rmSync(file, { force: true });
}

/** Leases of processes that still run, after the others were removed. */
export function liveLeases(folder: string): string[] {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const live: string[] = [];
  for (const file of readdirSync(folder)) {
    if (isRunning(file.split('.')[0])) live.push(file);
    else rmSync(join(folder, file), { force: true });
  }
  return live;
}
