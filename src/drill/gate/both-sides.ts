/** One seed of each experiment of a gate on both fabrics. */
import type { Execute } from './conduct.js';
import type { CheckedGate } from './gate-input.js';
import type { SideOutcome } from './side-run.js';

export interface BothSides {
  experiment: string;
  baseline: SideOutcome;
  candidate: SideOutcome;
}

export async function conductedSides(
  gate: CheckedGate,
  seed: number,
  execute: Execute,
): Promise<BothSides[]> {
  return Promise.all(
    gate.experiments.map(async ({ metadata }, experiment) => {
      const [baseline, candidate] = await Promise.all(
        (['baseline', 'candidate'] as const).map((side) => execute({ experiment, side, seed })),
      );
      return { experiment: metadata.name, baseline: baseline.outcome, candidate: candidate.outcome };
    }),
  );
}
