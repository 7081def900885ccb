/** How a drill ended: the same whoever had it computed, and wherever it is kept. */
import { EnvironmentError, InputError, messageOf } from '../core/problem.js';
import { EXIT, exitCodeOf, type ExitCode } from '../scoring/exit-codes.js';
import type { FinalState } from '../scoring/scorecard.js';
import { ComputingLostError } from './compute/host.js';
import type { Judgement } from './judge.js';

/** With the exit code that a command waiting for it returns. */
export interface DrillEnding {
  state: FinalState;
  reason: string | null;
  exitCode: ExitCode;
}

export const endingOf = ({ state, reasons }: Judgement): DrillEnding => ({
  state,
  reason: reasons.length === 0 ? null : reasons.join('; '),
  exitCode: exitCodeOf(state),
});

/**
 * An input that turned out unusable could not run; a missing service is the environment; the rest is our bug. A process may
 * be ended by others, for want of memory above all; a thread ends before its drill only by our own doing.
 */
export function endingOfError(error: unknown): DrillEnding {
  const reason = messageOf(error);
  if (error instanceof InputError) return { state: 'inconclusive', reason, exitCode: EXIT.inconclusive };
  if (error instanceof ComputingLostError) {
    const lost = `the ${error.program} that computed it was lost (${reason}); nothing of a simulated fabric outlives it`;
    return {
      state: 'error',
      reason: lost,
      exitCode: error.program === 'thread' ? EXIT.bug : EXIT.inconclusive,
    };
  }
  const exitCode = error instanceof EnvironmentError ? EXIT.inconclusive : EXIT.bug;
  return { state: 'error', reason, exitCode };
}
