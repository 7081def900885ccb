/**
 * A training job: where its ranks sit, what they compute, which collectives they call.
 *
 * A job's step is a small graph of operations (`StepProgram`): computation, and collectives over groups of ranks.
 * An operation starts when all it depends on are done in every rank: job-level, not rank-level, dependencies.
 * Rank r of a job sits on GPU `placement[r]` when the run starts; a restart may move it. A job may write checkpoints and
 * may be restarted from the last one. Not modelled: kernel-level overlap inside one operation, asynchronous checkpoints.
 */

export const COLLECTIVES = [
  'all-reduce',
  'all-gather',
  'reduce-scatter',
  'all-to-all',
  'broadcast',
  'send-receive',
] as const;
export type CollectiveKind = (typeof COLLECTIVES)[number];

/** NCCL's two families; all-to-all and send-receive are direct and ignore it. */
export type CollectiveAlgorithm = 'ring' | 'tree';

export interface ComputeOperation {
  type: 'compute';
  /** Unique within the program, a word people recognise (`forward`, `layer-3/backward`). */
  name: string;
  durationNs: number;
  /** Indices of operations that must be done first, all smaller than this operation's own. */
  after: readonly number[];
}

export interface CollectiveOperation {
  type: 'collective';
  name: string;
  collective: CollectiveKind;
  algorithm: CollectiveAlgorithm;
  /**
   * Bytes per rank in the sense of nccl-tests: the buffer a rank ends up with or starts from, before the
   * collective's own factor (all-reduce: S; all-gather: the gathered size S; reduce-scatter: the size before
   * scattering S; all-to-all: S sent by each rank, S/n to each peer; broadcast, send-receive: S).
   */
  bytes: number;
  /** Groups of ranks that each run this collective at the same time, ring order as listed. */
  groups: readonly (readonly number[])[];
  /** data, tensor, pipeline or expert parallel: for telemetry and reports. */
  parallelism: 'data' | 'tensor' | 'pipeline' | 'expert';
  after: readonly number[];
}

export type StepOperation = ComputeOperation | CollectiveOperation;

export interface StepProgram {
  operations: readonly StepOperation[];
}

/** Synchronous: the job writes at the end of a step, then goes on. */
export interface CheckpointPlan {
  everySteps: number;
  /** How long the write takes where it does not cross the fabric, ns. */
  durationNs: number;
  /** What each rank sends over the fabric instead, and the GPU whose NIC receives it, by rank. */
  traffic?: { bytesPerRank: number; receivers: Int32Array };
}

/** Phases of a restart, ns. */
export interface RestartTimes {
  /** From a lost process until somebody acts on it. */
  detectNs: number;
  /** Until the pods or Slurm steps run again, on whatever host. */
  rescheduleNs: number;
  /** Initialisation and reading the checkpoint back, up to the first step. */
  loadNs: number;
}

/**
 * Times of a job that says nothing about them. They are those of a well-run cluster with warm standby hosts and
 * checkpoints in host memory, so that a drill of a minute sees the end. Published: MegaScale (arXiv 2402.15627) dumps
 * its state to host memory in seconds, takes less than 10 min to detect and diagnose and at most 15 min to catch up;
 * ByteRobust (arXiv 2509.16293) sees a network problem in 30 s, against a time-out of 10 min.
 */
export const DEFAULT_RESTART: RestartTimes = { detectNs: 2e9, rescheduleNs: 3e9, loadNs: 2e9 };
export const DEFAULT_CHECKPOINT_NS = 2e9;

export interface Job {
  name: string;
  /** GPU index (into Topology.gpus) of each rank at the start. */
  placement: Int32Array;
  program: StepProgram;
  /** Fixed start, ns from the run's start. */
  startNs: number;
  /** QPs per connection (rank pair). */
  queuePairs: number;
  /** Traffic class, 0-7. */
  priority: number;
  /** Undefined: it writes none, and a restart begins at step 0. */
  checkpoint?: CheckpointPlan;
  /** Set for a job that its scheduler restarts when it fails. */
  restart?: RestartTimes;
  /** The job is complete after so many; undefined: it trains for ever. */
  steps?: number;
}

/** bus-bandwidth factor of nccl-tests' PERFORMANCE.md: busbw = algbw × factor; algbw = bytes / time. */
export function busBandwidthFactor(collective: CollectiveKind, ranks: number): number {
  if (ranks <= 1) return 1;
  switch (collective) {
    case 'all-reduce':
      return (2 * (ranks - 1)) / ranks;
    case 'all-gather':
    case 'reduce-scatter':
    case 'all-to-all':
      return (ranks - 1) / ranks;
    case 'broadcast':
    case 'send-receive':
      return 1;
  }
}
