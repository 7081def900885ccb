/**
 * Lets a program of a lab go before other work of the machine: what else runs there must not look like a slow network.
 *
 * A session is a scheduling group of its own, whose weight counts against others (sched(7), autogroup); within it niceness
 * counts. An ordinary user may raise neither, and the program runs all the same.
 */
import { writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

export function raisePriority(): void {
  try {
    setPriority(constants.priority.PRIORITY_HIGH);
    writeFileSync('/proc/self/autogroup', String(constants.priority.PRIORITY_HIGH));
  } catch {
    // as it is, then
  }
}
