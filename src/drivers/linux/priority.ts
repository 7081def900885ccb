/**
 * Lets the session that drives a drill go before other work of the machine, for as long as the drill lasts.
 *
 * A drill in real time is only as exact as its commands are prompt. Linux shares a machine between sessions first
 * (sched(7), autogroup), so that the niceness of one process among others of its session says little. What stood there is
 * put back; a killed drill leaves its own session with the priority, and nothing else.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const FILE = '/proc/self/autogroup';
const PREFERRED = -10;

/** @returns what puts the former priority back; does nothing where sessions are not scheduled as groups */
export function preferThisSession(): () => void {
  const before = niceness();
  if (before === undefined || before <= PREFERRED) return () => undefined;
  writeFileSync(FILE, String(PREFERRED));
  return () => writeFileSync(FILE, String(before));
}

function niceness(): number | undefined {
  try {
    const found = / nice (-?\d+)/.exec(readFileSync(FILE, 'utf8'));
    return found === null ? undefined : Number(found[1]);
  } catch {
    // a kernel without autogroups
    return undefined;
  }
}
