/**
 * What an injection on this fabric is not, or is not proven to be: a reader of the plan should know it before the run.
 *
 * Each fabric says of each impairment what it costs in realism: a cut that is two ports shut down, a dialect that nobody has
 * tried on a switch. Said once for each kind of impairment that the plan would apply.
 */
import type { FabricDescription } from '../../fabric-api/fabric.js';
import type { PlannedFault } from './planned.js';

export function realismNotes(
  faults: readonly PlannedFault[],
  { name, capabilities }: Pick<FabricDescription, 'name' | 'capabilities'>,
): string[] {
  const types = new Set(
    faults.flatMap(({ impairments }) => impairments.map(({ impairment }) => impairment.type)),
  );
  return [...types].flatMap((type) => {
    const cost = capabilities.get(type) ?? '';
    return cost === '' ? [] : [`${type} on ${name}: ${cost}`];
  });
}
