/**
 * The backend of every queue, ready for use: BullMQ's schema in PostgreSQL, or a first word with Redis.
 *
 * BullMQ never migrates PostgreSQL by itself, and its Redis client retries for ever in silence; both are turned into
 * a clear start or a clear refusal here.
 */
import {
  createPostgresBackend,
  createRedisBackend,
  runMigrations,
  SchemaVersionMismatchError,
  UnsupportedPostgresVersionError,
  withBackend,
  type FlowJob,
  type Job,
  type JobsOptions,
} from 'bullmq';
import { Redis } from 'ioredis';
import pg from 'pg';
import { EnvironmentError, messageOf } from '../../../core/problem.js';
import { hideSecrets, type Config } from '../../../system/config/config.js';

/** Schema of the queue's tables; it keeps its own ledger and never touches ours. */
const QUEUE_SCHEMA = 'bullmq';
const CONNECT_TIMEOUT_MS = 5_000;
/** Connections of one queue or worker object, its LISTEN connection aside. */
const POOL_MAX = 3;
/** How often a job may lose its worker before it counts as failed. */
const STALLED_MAX = 10;
const PAUSE_AFTER_LOSS_MS = 1000;
/** A queue that is there answers within milliseconds. */
const ANSWER_MS = 5000;

export interface WorkerSettings {
  /** Jobs at a time. */
  concurrency: number;
  /** A job whose lock was not renewed for this long is handed to another worker. */
  lockDurationMs?: number;
  /** How often lost jobs are looked for. */
  stalledIntervalMs?: number;
}

export interface QueueWorker {
  /** Stops taking jobs and waits for those under way. */
  close(): Promise<void>;
}

/** What both backends offer, seen through the few members that are used. */
export interface Connected {
  on(event: 'error', listener: (error: Error) => void): unknown;
  waitUntilReady(): Promise<unknown>;
  close(): Promise<void>;
}

interface BackendQueue extends Connected {
  add(name: string, data: object, options: JobsOptions): Promise<unknown>;
  getJobState(jobId: string): Promise<string>;
  remove(jobId: string): Promise<number>;
  getJobCounts(...types: ('waiting' | 'active' | 'failed')[]): Promise<Record<string, number>>;
}

interface BackendFlows extends Connected {
  add(flow: FlowJob): Promise<unknown>;
}

export interface Backend {
  /** `postgresql` or `redis`. */
  name: string;
  Queue: new (name: string, options: { defaultJobOptions: JobsOptions }) => BackendQueue;
  Worker: new <Data>(
    name: string,
    processor: (job: Job<Data>) => Promise<void>,
    options: Record<string, unknown>,
  ) => Connected;
  FlowProducer: new (options: object) => BackendFlows;
  /** How to connect; the first part of the options of each class. */
  options: object;
  workerOptions: (settings: WorkerSettings) => Record<string, unknown>;
}

/**
 * Redis where the configuration names one, else the database that is there anyway, its queue schema brought up.
 * @param databaseUrl the open database, whichever it is
 * @throws EnvironmentError when it can't be reached
 */
export async function openBackend(config: Pick<Config, 'redisUrl'>, databaseUrl: string): Promise<Backend> {
  if (config.redisUrl !== undefined) {
    await probeRedis(config.redisUrl);
    const connection = { url: config.redisUrl, maxRetriesPerRequest: null };
    return backendOf('redis', withBackend(createRedisBackend), { connection, prefix: 'fabricdrill' });
  }
  await migrateQueue(databaseUrl);
  const connection = { connectionString: databaseUrl, schema: QUEUE_SCHEMA, max: POOL_MAX };
  return backendOf('postgresql', withBackend(createPostgresBackend), { connection });
}

const backendOf = (name: string, classes: unknown, options: object): Backend => ({
  name,
  ...(classes as Pick<Backend, 'Queue' | 'Worker' | 'FlowProducer'>),
  options,
  workerOptions: (settings) => ({
    concurrency: settings.concurrency,
    lockDuration: settings.lockDurationMs ?? 60_000,
    stalledInterval: settings.stalledIntervalMs ?? 15_000,
    maxStalledCount: STALLED_MAX,
    runRetryDelay: PAUSE_AFTER_LOSS_MS,
  }),
});

/**
 * The library waits for a lost server for ever, which a request must not.
 * @throws EnvironmentError when there is no answer in time
 */
export function answeredInTime<T>(work: Promise<T>, backend: string): Promise<T> {
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

/**
 * Makes or upgrades the queue's tables; the library takes an advisory lock for it.
 * @throws EnvironmentError when the server is too old or its queue schema too new
 */
async function migrateQueue(databaseUrl: string): Promise<void> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await runMigrations(client, QUEUE_SCHEMA);
  } catch (error) {
    if (error instanceof SchemaVersionMismatchError || error instanceof UnsupportedPostgresVersionError) {
      throw new EnvironmentError(
        `the database at ${hideSecrets(databaseUrl)} can't hold the queue: ${error.message}`,
        'choose another database with DATABASE_URL, or a queue with REDIS_URL',
        { cause: error },
      );
    }
    throw error;
  } finally {
    await client.end();
  }
}

/** @throws EnvironmentError when Redis does not answer, without user and password in the message */
async function probeRedis(redisUrl: string): Promise<void> {
  const redis = new Redis(redisUrl, {
    lazyConnect: true,
    connectTimeout: CONNECT_TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let reason = '';
  redis.on('error', (error) => (reason = error.message));
  try {
    await redis.connect();
    await redis.ping();
  } catch (error) {
    const last = messageOf(error);
    throw new EnvironmentError(
      `no connection to the queue at ${hideSecrets(redisUrl)} (REDIS_URL): ${reason === '' ? last : reason}`,
      'check host, port and password in REDIS_URL, or leave it unset to queue in PostgreSQL',
      { cause: error },
    );
  } finally {
    // On a client that gave up already this would start a timer that keeps the process alive.
    if (redis.status !== 'end') redis.disconnect();
  }
}
