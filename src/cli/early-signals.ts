/**
 * Ctrl-C in the first moments, while the program is still being loaded: an orderly exit code instead of death by signal.
 *
 * Nothing has been started then, so there is nothing to revert. Whoever sets up its own handling lifts this guard.
 * What comes before, while Node itself starts, ends the process as the system does it.
 */
import { EXIT } from '../scoring/exit-codes.js';

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
