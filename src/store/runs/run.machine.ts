/**
 * The states of a run and the only ways between them. Pure.
 *
 * `pending → preflight → baseline → injecting → holding → reverting → observing → diagnosing → scoring →` one final
 * state. A run is never resumed or rerun, so a final state has no way out; `rollback-failed` can be cleared by a
 * person, which lifts the block on its fabric and is recorded, but does not change the state.
 */
import { FINAL_STATES, RUN_STATES, type FinalState, type RunState } from '../../scoring/scorecard.js';

const ORDER: readonly RunState[] = RUN_STATES.filter((state) => !FINAL_STATES.includes(state as FinalState));

/** Final states a run may fall into from any state on its way. */
const FROM_ANYWHERE: readonly FinalState[] = ['aborted', 'error', 'rollback-failed', 'inconclusive'];

export const isFinal = (state: RunState): state is FinalState => FINAL_STATES.includes(state as FinalState);

/** Whether a run may go from one state to another; staying is not a transition. */
export function mayGo(from: RunState, to: RunState): boolean {
  if (isFinal(from)) return false;
  if (isFinal(to)) return FROM_ANYWHERE.includes(to) || from === 'scoring';
  const at = ORDER.indexOf(from);
  // A control injects nothing: it goes on watching after the baseline.
  if (to === 'observing' && from === 'baseline') return true;
  if (to === 'reverting') return at >= ORDER.indexOf('baseline') && at < ORDER.indexOf('reverting');
  return ORDER.indexOf(to) === at + 1;
}

/** The worst of several final states wins. */
export function worst(states: readonly FinalState[]): FinalState {
  return FINAL_STATES.find((state) => states.includes(state)) ?? 'inconclusive';
}
