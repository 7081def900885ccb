/** One gate of the bench: a suite on a pair of fabrics, nothing kept. */
import type { Experiment } from '../../src/documents/experiment.js';
import type { FabricDocument } from '../../src/documents/fabric-document.js';
import type { Suite } from '../../src/documents/suite.js';
import type { GateVerdict } from '../../src/comparison/result.js';
import { conductGate } from '../../src/drill/gate/conduct.js';
import { checkGate } from '../../src/drill/gate/gate-input.js';
import { executeOn, type RunPool } from '../../src/drill/gate/pool.js';

export interface Pair {
  name: string;
  /** What the gate should say. */
  wanted: GateVerdict;
  suite: Suite;
  experiments: readonly Experiment[];
  baseline: FabricDocument;
  candidate: FabricDocument;
}

export interface PairOutcome {
  name: string;
  wanted: GateVerdict;
  verdict: GateVerdict;
  runs: number;
  /** Every figure of both sides is the same at every seed. */
  identical: boolean;
}

/** @param pool threads that many pairs share: to start them takes longer than a small gate */
export async function gateOfPair({ name, wanted, ...input }: Pair, pool: RunPool): Promise<PairOutcome> {
  const gate = checkGate(input);
  const execute = executeOn(pool, gate);
  const seen = new Map<string, Partial<Record<'baseline' | 'candidate', string>>>();
  const result = await conductGate({
    gate,
    version: 'bench',
    execute: async (task) => {
      const run = await execute(task);
      const key = `${task.experiment}/${task.seed}`;
      seen.set(key, { ...seen.get(key), [task.side]: JSON.stringify(run.outcome) });
      return run;
    },
  });
  const identical = [...seen.values()].every(({ baseline, candidate }) => baseline === candidate);
  return { name, wanted, verdict: result.verdict, runs: result.run.runs, identical };
}
