/**
 * Faults that are over before a training step is: what a reader of the plan should know before they are injected.
 *
 * Pace is told step by step, so a fault that is shorter than a step of the jobs it is to hit shows in one step at most, and
 * the figures of recovery say little. Steps are taken at their ideal; real ones are longer.
 */
import { formatDurationNs } from '../../core/units.js';
import type { FabricDescription } from '../../fabric-api/fabric.js';
import { idealStepNs } from '../../model/workload/closed-form.js';
import type { PlannedFault } from './planned.js';

/** Fewer whole steps than these within a fault are no pace. */
const FEWEST_STEPS = 2;

/** One sentence for each fault that is too short. @param exposed names of the jobs it is to hit; null: all of them */
export function stepNotes(
  faults: readonly PlannedFault[],
  { jobs, topology, transport }: FabricDescription,
  exposed: readonly string[] | null,
): string[] {
  const wire = { mtu: transport.mtuBytes, headerBytes: transport.headerBytes, ackBytes: transport.ackBytes };
  const steps = jobs
    .filter(({ name }) => exposed === null || exposed.includes(name))
    .map((job) => ({ name: job.name, stepNs: idealStepNs(job, topology, wire) }));
  return faults.flatMap(({ name, durationNs }) => {
    const long = steps.filter(({ stepNs }) => FEWEST_STEPS * stepNs > durationNs);
    const [first] = long.sort((one, other) => other.stepNs - one.stepNs);
    if (first === undefined) return [];
    const [fault, step] = [durationNs, first.stepNs].map(formatDurationNs);
    return [
      `${name} lasts ${fault} and a step of ${first.name} ${step} at best: fewer than ${FEWEST_STEPS} steps lie within it, so its effect on the pace is hardly seen`,
    ];
  });
}
