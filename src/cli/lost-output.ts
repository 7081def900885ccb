/**
 * Output that goes nowhere must not end a process: `| head` stops reading, a disk under a log fills up. A drill under way
 * has a fault in place, which is reverted whoever still reads. A result that was lost is told at the end, with a code that
 * is no pass.
 *
 * Not modelled: a result that the kernel takes and loses later, such as on a disk that fails when it is written back.
 */
import { EXIT, worstExit, type ExitCode } from '../scoring/exit-codes.js';

/** Who stops reading has read enough. */
const isClosedPipe = (error: NodeJS.ErrnoException): boolean => error.code === 'EPIPE';

/** Keeps the process alive whatever becomes of its output. @returns asks whether a result was lost, and why */
export function surviveLostOutput(): () => Error | undefined {
  let lost: Error | undefined;
  const onResult = (error: NodeJS.ErrnoException): void => {
    if (!isClosedPipe(error)) lost ??= error;
  };
  process.stdout.on('error', onResult);
  process.stderr.on('error', () => undefined);
  return () => lost;
}

/** The code to leave with, once all that was written has gone, or has failed to. Says on stderr what was lost. */
export async function settleOutput(
  exitCode: ExitCode,
  lostResult: () => Error | undefined,
): Promise<ExitCode> {
  // streams tell of an error one turn after the write
  await new Promise((resolve) => setImmediate(resolve));
  const lost = lostResult();
  if (lost === undefined) return exitCode;
  process.stderr.write(`error: the result could not be written: ${lost.message}\n`);
  return worstExit([exitCode, EXIT.inconclusive]);
}
