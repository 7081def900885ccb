/**
 * Output that goes nowhere must not end a process: `| head` stops reading, a disk under a log fills up. A drill under way
 * has a fault in place, which is reverted whoever still reads. A result that was lost is told at the end, with a code that
 * is no pass.
 *
 * Not modelled: a result that the kernel takes and loses later, such as on a disk that fails when it is written back.
 */
import { EXIT, worstExit, type ExitCode } from '../../scoring/exit-codes.js';

let firstLost: Error | null = null;

// without a listener an error of a stream ends the process
const onResultLost = (error: Error): void => void (firstLost ??= error);
const goOn = (): void => undefined;

/** Keeps the process alive whatever becomes of its output. */
export function surviveLostOutput(): void {
  if (process.stdout.listeners('error').includes(onResultLost)) return;
  process.stdout.on('error', onResultLost);
  process.stderr.on('error', goOn);
}

// a stream forgets its error as soon as its listeners have heard of it, and they hear of it one turn after the write
const lostResult = (): NodeJS.ErrnoException | null => firstLost ?? process.stdout.errored;

/**
 * The code to leave with when all was written. Says on stderr what was lost.
 * @param error what a write to stdout failed with, null when none did
 */
export function settleOutput(
  exitCode: ExitCode,
  error: NodeJS.ErrnoException | null = lostResult(),
): ExitCode {
  // who stops reading has read enough
  if (error === null || error.code === 'EPIPE') return exitCode;
  process.stderr.write(`error: the result could not be written: ${error.message}\n`);
  return worstExit([exitCode, EXIT.inconclusive]);
}
