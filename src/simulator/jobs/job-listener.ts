/**
 * Who is told what jobs do: the training log and the scheduler's record, whoever starts jobs again, and whoever waits for
 * a boundary.
 */

/** What the training log says when a step ends. */
export interface StepReport {
  job: number;
  steps: number;
  durationNs: number;
  gpuUtilisation: number;
  /** Of the largest fabric collective, bytes/ns (= GB/s); NaN when the job has none. */
  algorithmBandwidth: number;
  busBandwidth: number;
}

export interface JobListener {
  jobStarted(job: number): void;
  stepEnded(report: StepReport): void;
  jobFailed(job: number): void;
  /** Its scheduler will start it again. */
  jobStopped(job: number): void;
  /** @param redone steps done before that are to be done again */
  jobResumed(job: number, steps: number, redone: number): void;
  jobCompleted(job: number, tookNs: number): void;
  checkpointWritten(job: number, tookNs: number): void;
}

/** Starts that something else may be aligned with: of a step, a collective over the fabric, a checkpoint. */
export type BoundaryKind = 'step' | 'collective' | 'checkpoint';

/** @param number counts the boundaries of that kind in the job's life, from 1; redone ones count again */
export type BoundaryListener = (job: number, kind: BoundaryKind, number: number, nowNs: number) => void;

/** Whoever may start a job again. */
export interface Supervisor {
  /** The job's processes are gone; @returns whether it will be started again */
  takesOver(nowNs: number, job: number): boolean;
  hostLost(nowNs: number, job: number): void;
  /** A job that was told to leave has written its checkpoint and is stopped. */
  hasLeft(nowNs: number, job: number): void;
  isComplete(nowNs: number, job: number): void;
}
