/**
 * The state of one job while it runs: where it is in its step, and what waits for what.
 *
 * Arrays are by operation of the step; the last cell of `flowsLeft` stands for the checkpoint. They are kept when the job
 * is restarted elsewhere, since its program stays the same.
 */
import type { ReadyJob } from './job-program.js';
import type { RankClocks } from './rank-clocks.js';

export const JOB_STATE = {
  /** For its start. */
  waiting: 0,
  running: 1,
  failed: 2,
  /** Its scheduler will start it again. */
  stopped: 3,
  complete: 4,
} as const;

export class RunningJob {
  state: number = JOB_STATE.waiting;
  steps = 0;
  /** Step of the last checkpoint. */
  savedSteps = 0;
  startedAtNs = 0;
  stepStartNs = 0;
  /** Operations of the step that are not done. */
  left = 0;
  /** By operation: what it still waits for; flows still under way; when it started and ended. */
  readonly waitsFor: Int32Array;
  readonly flowsLeft: Int32Array;
  readonly startedNs: Float64Array;
  readonly endedNs: Float64Array;
  /** By operation: the end of a computation that runs, and its event; -1 when none runs. */
  readonly dueNs: Float64Array;
  readonly dueEvent: Int32Array;
  computing = 0;
  communicating = 0;
  /** Time of this step in which GPUs waited for the fabric, up to `accountedNs`. */
  waitedNs = 0;
  accountedNs = 0;
  /** When the checkpoint that is being written began, and the event that ends it (-1 where flows do). */
  checkpointStartNs = 0;
  checkpointEvent = -1;
  /** Told to stop after its next checkpoint, which it writes at the end of this step. */
  leaving = false;
  readonly lostHosts = new Set<number>();
  /** A death already due. */
  deathEvent = -1;
  /** Boundaries passed so far. */
  readonly begun = { step: 0, collective: 0, checkpoint: 0 };

  constructor(
    public ready: ReadyJob,
    readonly classIndex: number,
    readonly clocks: RankClocks,
  ) {
    const count = ready.operations.length;
    this.waitsFor = new Int32Array(count);
    this.flowsLeft = new Int32Array(count + 1);
    this.startedNs = new Float64Array(count + 1);
    this.endedNs = new Float64Array(count);
    this.dueNs = new Float64Array(count);
    this.dueEvent = new Int32Array(count).fill(-1);
  }

  /** Has processes, or will have them at its start. */
  get alive(): boolean {
    return this.state === JOB_STATE.running || this.state === JOB_STATE.waiting;
  }
}
