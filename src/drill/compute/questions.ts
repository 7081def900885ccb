/**
 * What is asked of the program that computes and is no drill: plans, and verdicts on evidence or on a fabric that is watched.
 *
 * What needs the server's own settings (a real fabric) is not for it, since it has none.
 */
import { open, type FileHandle } from 'node:fs/promises';
import type { Verdict } from '../../diagnosis/verdict.js';
import type { FabricDocument } from '../../documents/fabric-document.js';
import type { Window } from '../examine.js';
import type { GateInput } from '../gate/gate-input.js';
import type { Plan } from '../plan/plan.js';
import { planExperiment, type PlanRequest } from '../plan/planning.js';

interface RecordedEvidence {
  /** The evidence file, or the descriptor under which this process has it open. */
  source: Uint8Array | number;
  /** The fabric that it is of; the one that came with the file when left out. */
  fabric: FabricDocument | undefined;
  window: Window;
}

interface WatchedFabric {
  fabric: FabricDocument;
  seed: number;
  window: Required<Window>;
}

/** Each with its one argument; both it and what comes back are plain values. */
export const QUESTIONS = {
  plan: (request: PlanRequest): Promise<Plan> => planExperiment(request),

  refuseIncomparable: async (gate: GateInput): Promise<void> =>
    (await import('../gate/gate-input.js')).refuseIncomparable(gate),

  verdictOnFabric: async ({ fabric, seed, window }: WatchedFabric): Promise<Verdict> =>
    (await import('../examine.js')).examineFabric(fabric, seed, window),

  verdictOnFile: async ({ source, fabric, window }: RecordedEvidence): Promise<Verdict> => {
    const { examineFile } = await import('../examine.js');
    if (typeof source !== 'number') return examineFile(source, fabric, window);
    // of this process, and without a name of its own
    const file: FileHandle = await open(`/dev/fd/${source}`);
    try {
      return await examineFile(file, fabric, window);
    } finally {
      await file.close();
    }
  },
};

export type Questions = typeof QUESTIONS;
export type QuestionName = keyof Questions;
export type Asked<Name extends QuestionName> = Parameters<Questions[Name]>[0];
export type Answered<Name extends QuestionName> = Awaited<ReturnType<Questions[Name]>>;
