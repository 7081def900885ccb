/**
 * A drill on a lab in this process: the same plan and walk that a worker does, with a journal in memory.
 */
import { planDrill, type Plan } from '../../src/drill/plan/plan.js';
import { runDrill, type DrillRecord } from '../../src/drill/walk.js';
import type { Judgement } from '../../src/drill/judge.js';
import type { UndoEntry } from '../../src/drill/undo.js';
import { experimentSchema } from '../../src/documents/experiment.js';
import { openFabric } from '../../src/drivers/catalog.js';
import type { FabricDefinition } from '../../src/fabric-api/definition.js';
import type { Evidence } from '../../src/model/telemetry/series.js';

export interface LabDrill {
  plan: Plan;
  judgement: Judgement;
  evidence: Evidence;
  record: DrillRecord;
  /** What the journal was told would undo each impairment. */
  undo: UndoEntry[];
}

/** Runs an experiment, given by its `spec` without the fabric, on a lab that is up. */
export async function drillLab(
  definition: FabricDefinition,
  spec: Record<string, unknown>,
  seed = 1,
): Promise<LabDrill> {
  const experiment = experimentSchema.parse({
    apiVersion: 'fabricdrill/v1',
    kind: 'Experiment',
    metadata: { name: 'drill' },
    spec: { fabric: definition.name, seed, ...spec },
  });
  const fabric = await openFabric({ metadata: { name: definition.name }, spec: definition.spec }, seed);
  try {
    const plan = await planDrill({ name: 'drill', spec: experiment.spec, fabric, seed });
    const undo: UndoEntry[] = [];
    let evidence: Evidence | undefined;
    let record: DrillRecord | undefined;
    const nothing = (): Promise<void> => Promise.resolve();
    const judgement = await runDrill({
      plan,
      fabric,
      objectives: experiment.spec.objectives,
      journal: {
        intend: async (entry) => void undo.push(entry),
        applied: nothing,
        verified: nothing,
        failed: nothing,
      },
      hooks: {
        state: nothing,
        progress: () => undefined,
        evidence: async (observed) => void (evidence = observed),
        verdict: nothing,
        truth: async (_, course) => void (record = course),
      },
      signal: new AbortController().signal,
    });
    if (evidence === undefined || record === undefined) {
      throw new Error(`the drill ended as ${judgement.state}: ${judgement.reasons.join('; ')}`);
    }
    return { plan, judgement, evidence, record, undo };
  } finally {
    await fabric.close();
  }
}
