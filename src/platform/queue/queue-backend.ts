/**
 * Getting the queue's backend ready: its schema in PostgreSQL, or a first word with Redis.
 *
 * BullMQ never migrates PostgreSQL by itself, and its Redis client retries for ever in silence; both are turned into
 * a clear start or a clear refusal here.
 */
import { runMigrations, SchemaVersionMismatchError, UnsupportedPostgresVersionError } from 'bullmq';
import { Redis } from 'ioredis';
import pg from 'pg';
import { EnvironmentError } from '../../kernel/problem.js';
import { hideSecrets } from '../config/config.js';

/** Schema of the queue's tables; it keeps its own ledger and never touches ours. */
export const QUEUE_SCHEMA = 'bullmq';
const CONNECT_TIMEOUT_MS = 5_000;

/**
 * Makes or upgrades the queue's tables; the library takes an advisory lock for it.
 * @throws EnvironmentError when the server is too old or its queue schema too new
 */
export async function migrateQueue(databaseUrl: string): Promise<void> {
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
export async function probeRedis(redisUrl: string): Promise<void> {
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
    const last = error instanceof Error ? error.message : String(error);
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
