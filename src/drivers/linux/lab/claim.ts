/**
 * Which process drills or watches a lab: one at a time, whichever database it has its runs in.
 *
 * Two would end each other's workers and be a fault of each other, and a lab that is removed beneath a drill takes the
 * drill's undo with it. Each claims by a file that bears its identity, then looks for others: of two that come at once
 * both may be refused, never none, and what a killed one has left counts for nothing. Sites have no claims.
 */
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EnvironmentError } from '../../../core/problem.js';
import { isRunning, ownIdentity } from '../../../system/process-identity.js';

const PREFIX = 'claim-';

/** @param folder of the lab @returns what gives it up @throws EnvironmentError where another process has it */
export function claimLab(folder: string): () => void {
  const file = join(folder, `${PREFIX}${ownIdentity()}`);
  const giveUp = (): void => rmSync(file, { force: true });
  writeFileSync(file, '');
  try {
    requireUnclaimed(folder);
  } catch (error) {
    giveUp();
    throw error;
  }
  return giveUp;
}

/** @param folder of the lab @throws EnvironmentError where another process, which still runs, has it */
export function requireUnclaimed(folder: string): void {
  const claimant = readdirSync(folder)
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => name.slice(PREFIX.length))
    .find((identity) => identity !== ownIdentity() && isRunning(identity));
  if (claimant === undefined) return;
  throw new EnvironmentError(
    `process ${claimant.split('-')[0]} drills or watches this lab (${folder})`,
    'wait until it has ended, or abort its run: Ctrl-C there, or runs abort ID',
  );
}
