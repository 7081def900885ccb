/**
 * What a job tells while it runs; instants are CLOCK_MONOTONIC, ns.
 */
export interface StepSummary {
  /** Its number, from 1. */
  step: number;
  endedNs: number;
  /** From when the last rank began to when the last rank ended. */
  durationNs: number;
  /** By rank. */
  computeNs: number[];
  waitNs: number[];
  /** Per collective: buffer of a rank, ranks of a group, and the time from the last rank that joined to the end. */
  collectives: { type: string; bytes: number; ranks: number; tookNs: number }[];
}

export interface JobListener {
  started(job: number, atNs: number): void;
  stepEnded(job: number, summary: StepSummary): void;
  edgeCounted(job: number, edge: EdgeSample): void;
  checkpointWritten(job: number, atNs: number, tookNs: number): void;
  failed(job: number, atNs: number, reason: string): void;
  /** Its scheduler has taken it up and will start it again. */
  stopped(job: number, atNs: number): void;
  /** @param redone completed steps that are to be done again */
  resumed(job: number, atNs: number, step: number, redone: number): void;
  completed(job: number, atNs: number, tookNs: number): void;
  /** What the scheduler knows of hosts has changed. */
  hostsChanged(atNs: number): void;
}

/** Counters of a connection over the life of the job, restarts included. */
export interface EdgeSample {
  fromRank: number;
  toRank: number;
  atNs: number;
  deliveredBytes: number;
  stalledNs: number;
}
