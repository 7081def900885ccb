/** Temporary files that can't be made or written: the environment's fault, told with the way out. */
import { EnvironmentError } from '../core/problem.js';

/** @param what is written, in the plural, as the message begins with it */
export const noRoom = (what: string, folder: string, error: unknown): EnvironmentError =>
  new EnvironmentError(
    `${what} can't be written to ${folder}: ${(error as Error).message}`,
    'make room there, or name another folder in TMPDIR',
    { cause: error },
  );
