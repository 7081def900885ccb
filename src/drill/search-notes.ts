/**
 * What a reader of scores should know where the simulator's search for a steady state stopped before it was exact.
 */
import type { SearchRecord } from '../fabric-api/fabric.js';

/** Relative error from which it is told: below it, it is far less than the model itself is off (docs/simulated-fabric.md). */
export const RESIDUAL_TOLERANCE = 0.01;

/** @param records of the drill and its twins */
export function searchNotes(records: readonly (SearchRecord | undefined)[]): string[] {
  const known = records.filter((record) => record !== undefined);
  const [worst] = known.sort((one, other) => other.worstResidual - one.worstResidual);
  if (worst === undefined || worst.worstNs === null || worst.worstResidual <= RESIDUAL_TOLERANCE) return [];
  const stopped = known.reduce((sum, record) => sum + record.stopped, 0);
  const searches = known.reduce((sum, record) => sum + record.searches, 0);
  const off = (100 * worst.worstResidual).toPrecision(2);
  const atS = (worst.worstNs / 1e9).toFixed(1);
  return [
    `the simulation was not exact: ${stopped} of ${searches} searches for a steady state of congestion stopped before they came to it, the worst ${off} % off, at ${atS} s; rates and queues of that time are that uncertain`,
  ];
}
