/**
 * One drill on a simulated fabric, computed from documents to a judgement: the fabric is opened once, the faults are
 * compiled once, and the walk is that of every drill. A run at the command line, one of a server and one of a gate are
 * all this.
 */
import { statedObjectives } from '../../documents/experiment.js';
import type { Fabric, FabricDescription } from '../../fabric-api/fabric.js';
import type { Evidence } from '../../model/telemetry/series.js';
import { EvidenceFile } from '../../evidence/evidence-file.js';
import type { Judgement } from '../judge.js';
import { unsupportedError } from '../plan/plan.js';
import { openFor, planOn } from '../plan/planning.js';
import type { DrillRecord } from '../record.js';
import { runDrill } from '../walk.js';
import type { DrillTask, Tell } from './task.js';

export interface Computed {
  judgement: Judgement;
  description: FabricDescription;
  /** Null when the drill was cut short before it had any. */
  evidence: Evidence | null;
  /** Null when it was cut short before its end. */
  record: DrillRecord | null;
}

/** @throws InputError when the drill can't be planned or the fabric can't apply it */
export async function compute(
  task: DrillTask,
  tell: Tell = () => undefined,
  signal: AbortSignal = new AbortController().signal,
): Promise<Computed> {
  const { experiment, seed, needs = { diagnosis: true, twin: true } } = task;
  const open = (): Promise<Fabric> => openFor(experiment, task.fabric, seed);
  const fabric = await open();
  const seen: Pick<Computed, 'evidence' | 'record'> = { evidence: null, record: null };
  const telling = async (report: Parameters<Tell>[0]): Promise<void> => tell(report);
  try {
    const plan = task.plan ?? (await planOn(fabric, { experiment, seed, room: task.room }));
    tell({ type: 'planned', plan });
    if (plan.unsupported.length > 0) throw unsupportedError(plan);
    const judgement = await runDrill({
      plan,
      fabric,
      objectives: task.objectives ?? statedObjectives(experiment.spec),
      diagnose: needs.diagnosis,
      ...(needs.twin ? { openTwin: open } : {}),
      signal,
      // nothing of a simulated fabric outlives its process, so that nothing has to be durable before it is applied
      journal: {
        intend: (entry) => telling({ type: 'intended', entry }),
        applied: (id) => telling({ type: 'applied', id }),
        verified: (id) => telling({ type: 'verified', id }),
        failed: (id, reason) => telling({ type: 'failed', id, reason }),
      },
      hooks: {
        state: (state, detail) => telling({ type: 'state', state, detail: detail ?? null }),
        progress: (nowNs, durationNs) => tell({ type: 'progress', nowNs, durationNs }),
        evidence: async (evidence) => void (seen.evidence = evidence),
        verdict: (verdict) => telling({ type: 'verdict', verdict }),
        truth: async (truth, record) => {
          seen.record = record;
          tell({ type: 'truth', truth: [...truth], record });
        },
      },
    });
    tell({ type: 'judged', judgement });
    return { judgement, description: fabric.describe(), ...seen };
  } finally {
    if (task.evidence !== undefined && seen.evidence !== null) {
      tell({ type: 'evidence', ...(await write(seen.evidence, task.evidence)) });
    }
    await fabric.close();
  }
}

async function write(
  evidence: Evidence,
  { descriptor, document }: NonNullable<DrillTask['evidence']>,
): Promise<{ bytes: number; rows: number; sha256: string }> {
  // the writer of Arrow files takes a while to load
  const { encodedParts } = await import('../../evidence/arrow.js');
  return EvidenceFile.fill(descriptor, encodedParts(evidence, true, document));
}
