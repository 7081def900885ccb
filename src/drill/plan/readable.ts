/**
 * Whether the fabric knows what the faults would turn, asked before anything is started.
 *
 * Reading a setting back is what a drill does first with an impairment; an element that is not there, a class without
 * queues or a speed that is none is found by it, and belongs into the plan, not into a run. Nothing is changed. Asked once for
 * each impairment, however often a fault that comes and goes turns the same setting.
 */
import type { Fabric } from '../../fabric-api/fabric.js';
import { InputError } from '../../core/problem.js';
import type { PlannedFault } from './planned.js';

/** @throws InputError at the fault whose impairment the fabric can't read back */
export async function checkReadable(faults: readonly PlannedFault[], fabric: Fabric): Promise<void> {
  const { capabilities } = fabric.describe();
  const asked = new Set<string>();
  for (const [index, fault] of faults.entries()) {
    for (const { impairment } of fault.impairments) {
      const key = JSON.stringify(impairment);
      if (asked.has(key) || !capabilities.has(impairment.type)) continue;
      asked.add(key);
      try {
        await fabric.readBack(impairment);
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        const pointer = `/spec/faults/${index}`;
        throw new InputError(
          error.issues.map((issue) => ({
            ...issue,
            pointer,
            message: `${impairment.type}: ${issue.message}`,
          })),
        );
      }
    }
  }
}
