/**
 * A gate from its input to its result within one process: runs what is due, round by round, until all is decided.
 *
 * Who executes the runs is the caller's choice: this thread, several, with what is kept or without. The result does not
 * depend on that, nor on the order in which runs end.
 */
import type { GateResult } from '../../comparison/result.js';
import type { CheckedGate } from './gate-input.js';
import { GateRounds, type ResultDetails, type SideTask } from './rounds.js';
import type { SideOutcome } from './side-run.js';

export interface ExecutedRun {
  outcome: SideOutcome;
  fromCache?: boolean;
}

export type Execute = (task: SideTask) => Promise<ExecutedRun>;

export interface Conducted extends Omit<ResultDetails, 'run'> {
  gate: CheckedGate;
  execute: Execute;
  /** Told whenever a run has ended. */
  onRun?: (done: number, planned: number) => void;
}

export async function conductGate({ gate, execute, onRun, ...details }: Conducted): Promise<GateResult> {
  const rounds = new GateRounds(gate);
  const counts = { runs: 0, fromCache: 0 };
  let planned = 0;
  const run = async (task: SideTask): Promise<SideOutcome> => {
    const { outcome, fromCache } = await execute(task);
    counts.runs++;
    if (fromCache === true) counts.fromCache++;
    onRun?.(counts.runs, planned);
    return outcome;
  };
  for (let due = rounds.due(); due.length > 0; due = rounds.due()) {
    planned += due.length;
    rounds.record(await Promise.all(due.map(run)));
  }
  return rounds.result({ ...details, run: counts });
}
