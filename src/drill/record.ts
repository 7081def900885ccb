/** The course of a drill, for those that judge it. */
import type { TruthEntry, WorldRecord } from '../faults/ground-truth.js';
import type { SearchRecord } from '../fabric-api/fabric.js';
import type { Alignment } from './agenda.js';

/** What happened on the fabric, as far as scoring needs it. */
export interface DrillRecord {
  injectedNs: number | null;
  revertedNs: number | null;
  endNs: number;
  truth: TruthEntry[];
  /** Jobs whose routes crossed a target at injection; null where the fabric can't tell. */
  exposedJobs: string[] | null;
  /** Of faults with a trigger, in the order of their injection. */
  alignments: Alignment[];
  /** How exact the simulation was; left out for a fabric that is none, and where every search came to its end. */
  searches?: SearchRecord;
  /** Traits and events that a simulated world had of its own; left out where it is quiet. */
  world?: WorldRecord;
}
