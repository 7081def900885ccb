/**
 * Changes between two fabrics that can do nothing, or are none, one sentence each: a verdict of `none` on them says little.
 */
import { specDifferences } from '../../comparison/differences.js';
import { buildTopology } from '../../model/topology/topology-spec.js';
import type { CheckedGate, Side } from './gate-input.js';

/** Tier from which on a path up has been hashed twice. */
const SECOND_HASH_TIER = 3;

export function effectNotes({ baseline, candidate }: Pick<CheckedGate, Side>): string[] {
  if (specDifferences(baseline.spec, candidate.spec).length === 0) {
    return [
      'baseline and candidate differ in nothing but, perhaps, their names: nothing has changed that could be judged',
    ];
  }
  const [before, after] = [baseline.spec.settings.hashSeeds, candidate.spec.settings.hashSeeds];
  if (before === after) return [];
  const { devices } = buildTopology(candidate.spec.topology);
  if (devices.some(({ tierLevel }) => tierLevel >= SECOND_HASH_TIER)) return [];
  return [
    `hashSeeds: ${after} is without effect here: with two tiers of switches a path is chosen by one hash only, and no second one can repeat its choice; figures differ as with any other hash seed`,
  ];
}
