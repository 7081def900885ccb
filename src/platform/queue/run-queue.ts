/**
 * The queue of runs: ids in, one worker at a time gets each.
 *
 * BullMQ on PostgreSQL in the database that is there anyway, or on Redis when REDIS_URL names one; the same classes
 * with another backend. The queue only says "look at this run": the row of the run is the truth about its state, and
 * its fence decides who may write it. A job is therefore tried once, but handed out again when its worker died, so
 * that somebody undoes what that worker had injected.
 */
import { createPostgresBackend, createRedisBackend, type Job, type JobsOptions, withBackend } from 'bullmq';
import { EnvironmentError } from '../../kernel/problem.js';
import type { Config } from '../config/config.js';
import { migrateQueue, probeRedis, QUEUE_SCHEMA } from './queue-backend.js';

/** Injection token of the `RunQueue`. */
export const RUN_QUEUE = Symbol('fabricdrill run queue');

const QUEUE_NAME = 'runs';
const JOB_NAME = 'run';
const DAY_S = 24 * 3600;
/** A day of finished jobs is enough to look at; a finished job also makes a second `add` of its run do nothing. */
const KEEP = { age: DAY_S, count: 5000 };
const JOB_OPTIONS: JobsOptions = { attempts: 1, removeOnComplete: KEEP, removeOnFail: KEEP };
/** Connections of one queue or worker object, its LISTEN connection aside. */
const POOL_MAX = 3;
/** How often a job may lose its worker before it counts as failed. */
const STALLED_MAX = 10;
const PAUSE_AFTER_LOSS_MS = 1000;
/** A queue that is there answers within milliseconds. */
const ANSWER_MS = 5000;

export interface WorkerSettings {
  /** Runs at a time. */
  concurrency: number;
  /** A job whose lock was not renewed for this long is handed to another worker. */
  lockDurationMs?: number;
  /** How often lost jobs are looked for. */
  stalledIntervalMs?: number;
}

export interface RunWorker {
  /** Stops taking jobs and waits for those under way. */
  close(): Promise<void>;
}

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
  worker(handler: RunHandler, settings: WorkerSettings): Promise<RunWorker>;
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
  if (config.redisUrl !== undefined) {
    await probeRedis(config.redisUrl);
    const connection = { url: config.redisUrl, maxRetriesPerRequest: null };
    return connectQueue(
      'redis',
      withBackend(createRedisBackend),
      { connection, prefix: 'fabricdrill' },
      onError,
    );
  }
  await migrateQueue(databaseUrl);
  const connection = { connectionString: databaseUrl, schema: QUEUE_SCHEMA, max: POOL_MAX };
  return connectQueue('postgresql', withBackend(createPostgresBackend), { connection }, onError);
}

/** What both backends offer, seen through the few members that are used. */
interface Classes<Options> {
  Queue: new (name: string, options: Options & { defaultJobOptions: JobsOptions }) => BackendQueue;
  Worker: new (
    name: string,
    processor: (job: Job<RunJobData>) => Promise<void>,
    options: Options & Record<string, unknown>,
  ) => BackendWorker;
}

interface BackendQueue {
  on(event: 'error', listener: (error: Error) => void): unknown;
  waitUntilReady(): Promise<unknown>;
  add(name: string, data: RunJobData, options: JobsOptions): Promise<unknown>;
  getJobState(jobId: string): Promise<string>;
  remove(jobId: string): Promise<number>;
  getJobCounts(...types: ('waiting' | 'active' | 'failed')[]): Promise<Record<string, number>>;
  close(): Promise<void>;
}

interface BackendWorker {
  on(event: 'error', listener: (error: Error) => void): unknown;
  waitUntilReady(): Promise<unknown>;
  close(): Promise<void>;
}

/** The library waits for a lost server for ever, which a request must not. */
function answeredInTime<T>(work: Promise<T>, backend: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const name = backend === 'redis' ? 'REDIS_URL' : 'DATABASE_URL';
      const message = `the queue (${backend}) did not answer within ${ANSWER_MS / 1000} s`;
      reject(new EnvironmentError(message, `see that the server of ${name} runs and can be reached`));
    }, ANSWER_MS);
  });
  // what fails after its time is told by the queue's own error events
  work.catch(() => undefined);
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

async function connectQueue<Options extends object>(
  backend: string,
  classes: Classes<Options>,
  options: Options,
  onError: (error: Error) => void,
): Promise<RunQueue> {
  const queue = new classes.Queue(QUEUE_NAME, { ...options, defaultJobOptions: JOB_OPTIONS });
  // the library ends its connections in its own time: that a server stops under them once all is closed is no news
  let over = false;
  const tell = (error: Error): void => {
    if (!over) onError(error);
  };
  queue.on('error', tell);
  await queue.waitUntilReady();
  const workers = new Set<BackendWorker>();
  let closed: Promise<void> | undefined;
  const closeAll = async () => {
    await Promise.all([...workers].map((worker) => worker.close()));
    await queue.close();
    over = true;
  };
  const inTime = <T>(work: Promise<T>): Promise<T> => answeredInTime(work, backend);
  return {
    backend,
    add: async (runId) => void (await inTime(queue.add(JOB_NAME, { runId }, { jobId: runId }))),
    // Redis reports a job that was never there as removed.
    remove: async (runId) =>
      (await inTime(queue.getJobState(runId))) !== 'unknown' && (await inTime(queue.remove(runId))) === 1,
    worker: async (handler, settings) => {
      if (closed !== undefined) throw new EnvironmentError('the queue is closed');
      const worker = new classes.Worker(QUEUE_NAME, (job) => handler(job.data.runId), {
        ...options,
        concurrency: settings.concurrency,
        lockDuration: settings.lockDurationMs ?? 60_000,
        stalledInterval: settings.stalledIntervalMs ?? 15_000,
        maxStalledCount: STALLED_MAX,
        runRetryDelay: PAUSE_AFTER_LOSS_MS,
      });
      worker.on('error', tell);
      workers.add(worker);
      await worker.waitUntilReady();
      return { close: () => worker.close() };
    },
    counts: async () => {
      const {
        waiting = 0,
        active = 0,
        failed = 0,
      } = await inTime(queue.getJobCounts('waiting', 'active', 'failed'));
      return { waiting, active, failed };
    },
    close: () => (closed ??= closeAll()),
  };
}
