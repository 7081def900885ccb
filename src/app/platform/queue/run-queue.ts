/**
 * The queue of runs: ids in, one worker at a time gets each.
 *
 * BullMQ on PostgreSQL in the database that is there anyway, or on Redis when REDIS_URL names one; the same classes
 * with another backend. The queue only says "look at this run": the row of the run is the truth about its state, and
 * its fence decides who may write it. A job is therefore tried once, but handed out again when its worker died, so
 * that somebody undoes what that worker had injected.
 */
import type { Job, JobsOptions } from 'bullmq';
import type { Config } from '../../../system/config/config.js';
import { answeredInTime, openBackend, type QueueWorker, type WorkerSettings } from './queue-backend.js';
import { QueueMembers } from './queue-members.js';

/** Injection token of the `RunQueue`. */
export const RUN_QUEUE = Symbol('fabricdrill run queue');

const QUEUE_NAME = 'runs';
const JOB_NAME = 'run';
const DAY_S = 24 * 3600;
/** A day of finished jobs is enough to look at; a finished job also makes a second `add` of its run do nothing. */
const KEEP = { age: DAY_S, count: 5000 };
const JOB_OPTIONS: JobsOptions = { attempts: 1, removeOnComplete: KEEP, removeOnFail: KEEP };

/** Executes one run; a second delivery of the same run means that its first worker died. */
export type RunHandler = (runId: string) => Promise<void>;

export interface QueueCounts {
  waiting: number;
  active: number;
  failed: number;
}

interface RunJobData {
  runId: string;
}

export interface RunQueue {
  /** `postgresql` or `redis`. */
  readonly backend: string;
  /** Queues a run; does nothing when it is or was queued. @throws EnvironmentError when the backend does not answer */
  add(runId: string): Promise<void>;
  /** Takes a run out again; false when a worker has it, or it was not there. */
  remove(runId: string): Promise<boolean>;
  /** Starts a worker of this process; resolves when it takes jobs. */
  worker(handler: RunHandler, settings: WorkerSettings): Promise<QueueWorker>;
  counts(): Promise<QueueCounts>;
  /** Closes workers first, then the queue. Before the database goes. May be called twice. */
  close(): Promise<void>;
}

/**
 * Connects the queue and brings its own schema up.
 * @param databaseUrl the open database, whichever it is
 * @param onError told about broken connections, which heal by themselves
 * @throws EnvironmentError when the backend can't be reached
 */
export async function openRunQueue(
  config: Pick<Config, 'redisUrl'>,
  databaseUrl: string,
  onError: (error: Error) => void,
): Promise<RunQueue> {
  const opened = await openBackend(config, databaseUrl);
  const { name: backend, Queue, options } = opened;
  const queue = new Queue(QUEUE_NAME, { ...options, defaultJobOptions: JOB_OPTIONS });
  const members = new QueueMembers(opened, [queue], onError);
  await members.ready();
  const inTime = <T>(work: Promise<T>): Promise<T> => answeredInTime(work, backend);
  return {
    backend,
    add: async (runId) => void (await inTime(queue.add(JOB_NAME, { runId }, { jobId: runId }))),
    // Redis reports a job that was never there as removed.
    remove: async (runId) =>
      (await inTime(queue.getJobState(runId))) !== 'unknown' && (await inTime(queue.remove(runId))) === 1,
    worker: (handler, settings) =>
      members.startWorker(QUEUE_NAME, (job: Job<RunJobData>) => handler(job.data.runId), settings),
    counts: async () => {
      const {
        waiting = 0,
        active = 0,
        failed = 0,
      } = await inTime(queue.getJobCounts('waiting', 'active', 'failed'));
      return { waiting, active, failed };
    },
    close: () => members.close(),
  };
}
