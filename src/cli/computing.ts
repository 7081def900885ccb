/** The thread that a command computes in; it loads beside the command when that is known early to need it. */
import { Computing } from '../drill/compute/host.js';

let loading: Computing | undefined;

export const loadComputing = (): void => void (loading ??= Computing.thread());

/** For one caller, who closes it. */
export function takeComputing(): Computing {
  const taken = loading ?? Computing.thread();
  loading = undefined;
  return taken;
}

/** Ends one that was loaded in vain. */
export async function dropComputing(): Promise<void> {
  await loading?.close();
  loading = undefined;
}
