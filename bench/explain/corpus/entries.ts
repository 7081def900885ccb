/**
 * The fault entries of the corpus, one list, and which class each kind of the catalogue belongs to.
 *
 * A kind of the catalogue without an entry here would never be asked about; a test holds the two lists together.
 */
import type { Prng } from '../../../src/kernel/prng.js';
import { CONGESTION_FAULTS } from './congestion-faults.js';
import { weighted } from './draw.js';
import type { FaultClass, FaultEntry } from './fault-entry.js';
import { JOB_FAULTS } from './job-faults.js';
import { LINK_FAULTS } from './link-faults.js';

export const FAULT_ENTRIES: readonly FaultEntry[] = [...LINK_FAULTS, ...CONGESTION_FAULTS, ...JOB_FAULTS];

/** Congestion and half of the gray faults move no status, error or optic counter: so most weight is on these. */
const CLASS_WEIGHTS: readonly (readonly [FaultClass, number])[] = [
  ['hard', 0.3],
  ['gray', 0.35],
  ['congestion', 0.3],
  ['job', 0.05],
];

export function drawEntry(random: Prng, entries: readonly FaultEntry[] = FAULT_ENTRIES): FaultEntry {
  const classes = CLASS_WEIGHTS.filter(([name]) => entries.some((entry) => entry.class === name));
  const chosen = weighted(random, classes);
  return weighted(
    random,
    entries.filter((entry) => entry.class === chosen).map((entry) => [entry, entry.weight] as const),
  );
}
