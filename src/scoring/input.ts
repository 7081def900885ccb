/**
 * All that scoring looks at: what was observed, what was really done, what the diagnoser said.
 *
 * Scores never read a simulator: on a real fabric and on a simulated one they rest on the same evidence, plus the
 * instants at which the drill injected and reverted and the jobs that the fabric's routes led over the target.
 */
import type { Evidence } from '../model/telemetry/series.js';
import type { Job } from '../model/workload/job.js';
import type { Topology } from '../model/topology/model.js';
import type { TruthEntry } from '../faults/ground-truth.js';
import type { Verdict } from '../diagnosis/verdict.js';
import type { ScoringProfile } from './profile.js';

export interface ScoringInput {
  evidence: Evidence;
  topology: Topology;
  jobs: readonly Job[];
  /** Empty for a control, a drill that injects nothing. */
  truth: readonly TruthEntry[];
  /** null when there was no diagnosis. */
  verdict: Verdict | null;
  /** First injection and last revert, ns from the run's start; null when it did not happen. */
  injectedNs: number | null;
  revertedNs: number | null;
  /** End of what was observed. */
  endNs: number;
  /** Jobs whose paths crossed the target at injection; null when the fabric can't tell. */
  exposedJobs: readonly string[] | null;
  /** Whether the target carried job traffic before the fault; null when it can't be told. */
  targetBytesInBaseline: boolean | null;
  /** Weights and limits; the default ones where left out. */
  profile?: ScoringProfile;
  /**
   * What the same seed shows without any fault, where that can be run: what truly differs is then known, and need not
   * be told from noise.
   */
  twin?: Evidence | null;
  /** Seconds from injection until a live diagnosis named the culprit; left out where it was not measured. */
  timeToExplainS?: number | null;
  /** Share of the lost time due to each truth entry, by rerunning without it; left out where it was not measured. */
  lostTimeShares?: readonly number[] | null;
}
