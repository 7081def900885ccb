/**
 * The fault entries of the corpus, one list, and which class each kind of the catalogue belongs to.
 *
 * A kind of the catalogue without an entry here would never be asked about; a test holds the two lists together.
 */
import { CONGESTION_FAULTS } from './congestion-faults.js';
import { weightedAt, type Weights } from './draw.js';
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

/** @param at from 0 to 1, along all entries by their weights */
export const entryAt = (at: number): FaultEntry => weightedAt(at, ENTRY_WEIGHTS);

/** Weights of the class and, within it, of the entry. */
const ENTRY_WEIGHTS: Weights<FaultEntry> = CLASS_WEIGHTS.flatMap(([name, share]) => {
  const entries = FAULT_ENTRIES.filter((entry) => entry.class === name);
  const total = entries.reduce((sum, { weight }) => sum + weight, 0);
  return entries.map((entry) => [entry, (share * entry.weight) / total] as const);
});
