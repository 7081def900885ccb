/**
 * Ctrl-C in the first and the last moments: an orderly exit code instead of death by signal.
 *
 * While the program is still being loaded nothing has been started, so there is nothing to revert; whoever sets up its own
 * handling lifts that guard. When a command is over, its process still closes what it had open: a signal then ends it with
 * the code that the command came to. What comes before, while Node itself starts, ends the process as the system does it.
 */
import { EXIT } from '../../scoring/exit-codes.js';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** A drill that never began counts as aborted; any other command could not run. */
const codeFor = (command: string | undefined): number =>
  command === 'run' ? EXIT.aborted : EXIT.inconclusive;

const leave = (): void => process.exit(codeFor(process.argv[2]));

export function guardStart(): void {
  for (const signal of SIGNALS) process.on(signal, leave);
}

export function liftStartGuard(): void {
  for (const signal of SIGNALS) process.off(signal, leave);
}

let endCode: number | undefined;

const end = (): void => {
  if (endCode !== undefined) process.exit(endCode);
};

/**
 * A command is over, or as good as: no signal changes any more how it ended. Listening goes on without a gap, since a
 * process without a listener dies of the signal.
 * @param exitCode what the command came to; until it is known signals are passed over
 */
export function guardEnd(exitCode?: number): void {
  endCode = exitCode;
  for (const signal of SIGNALS) if (!process.listeners(signal).includes(end)) process.on(signal, end);
  liftStartGuard();
}

export function liftEndGuard(): void {
  for (const signal of SIGNALS) process.off(signal, end);
}
