/** The thread that a command computes in; it loads beside the command when that is known early to need it. */
import { setFlagsFromString } from 'node:v8';
import { Computing } from '../drill/compute/host.js';

/**
 * How much code a function runs before V8 optimises it: ten times the default. A drill of a few seconds is over before most
 * of what would be optimised has paid for itself; a server, which lives longer, keeps the default. V8 has counted calls
 * instead since version 13 (Node 24), and complains on stderr of a flag that it does not know.
 */
const INTERRUPT_BUDGET = 700_000;

let loading: Computing | undefined;

function begin(): Computing {
  if (Number.parseInt(process.versions.v8, 10) < 13)
    setFlagsFromString(`--interrupt-budget=${INTERRUPT_BUDGET}`);
  return Computing.thread();
}

export const loadComputing = (): void => void (loading ??= begin());

/** For one caller, who closes it. */
export function takeComputing(): Computing {
  const taken = loading ?? begin();
  loading = undefined;
  return taken;
}

/** Ends one that was loaded in vain. */
export async function dropComputing(): Promise<void> {
  await loading?.close();
  loading = undefined;
}
