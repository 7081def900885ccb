/**
 * Waiting for the first of several boundaries of jobs: the begin of a step, a collective over the fabric, a checkpoint.
 */
import type { BoundaryKind, JobRunner } from './job-runner.js';

export interface WantedBoundary {
  /** Index of the job. */
  job: number;
  kind: BoundaryKind;
  /** Counted over the job's life from 1; the next one when left out. */
  number?: number;
}

/**
 * @param goOn lets time pass up to the next event; false when there is no time left
 * @returns which of them came and when it began, ns; undefined when none did
 */
export function watchBoundaries(
  runner: JobRunner,
  wanted: readonly WantedBoundary[],
  goOn: () => boolean,
): { index: number; beganNs: number } | undefined {
  let found: { index: number; beganNs: number } | undefined;
  runner.onBoundary = (job, kind, count, beganNs) => {
    if (found !== undefined) return;
    const index = wanted.findIndex(
      (one) => one.job === job && one.kind === kind && count >= (one.number ?? 0),
    );
    if (index >= 0) found = { index, beganNs };
  };
  try {
    while (found === undefined && goOn());
  } finally {
    runner.onBoundary = undefined;
  }
  return found;
}
