/**
 * A training job: where its ranks sit, what they compute, which collectives they call.
 *
 * A job's step is a small graph of operations (`StepProgram`): computation, and collectives over groups of ranks.
 * An operation starts when all it depends on are done in every rank: job-level, not rank-level, dependencies.
 * Rank r of a job sits on GPU `placement[r]`. Not modelled: kernel-level overlap inside one operation.
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

export interface Job {
  name: string;
  /** GPU index (into Topology.gpus) of each rank. */
  placement: Int32Array;
  program: StepProgram;
  /** Fixed start, ns from the run's start. */
  startNs: number;
  /** QPs per connection (rank pair). */
  queuePairs: number;
  /** Traffic class, 0-7. */
  priority: number;
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
