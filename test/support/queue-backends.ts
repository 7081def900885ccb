/**
 * The queue backends that a suite is looped over: PostgreSQL always, Redis where it is installed, or the one that
 * FABRICDRILL_TEST_QUEUE names.
 */
import { findProgram, startRedis } from './redis.js';

export interface QueueBackend {
  name: 'postgresql' | 'redis';
  /** Starts what the backend needs beside the database. */
  start(): Promise<{ redisUrl?: string; stop(): Promise<void> }>;
}

/**
 * @param what the suite, for the line that says why Redis is left out
 * @throws Error when the one that is asked for can't be had
 */
export function queueBackends(what: string): QueueBackend[] {
  const only = process.env.FABRICDRILL_TEST_QUEUE;
  const backends = installed(what).filter(({ name }) => only === undefined || name === only);
  if (backends.length > 0) return backends;
  throw new Error(
    `FABRICDRILL_TEST_QUEUE is "${only}": postgresql, or redis where redis-server is installed`,
  );
}

/** PostgreSQL, or what FABRICDRILL_TEST_QUEUE names: test/e2e/over-redis loops such a suite over Redis. */
export const oneQueue = (what: string): QueueBackend[] => queueBackends(what).slice(0, 1);

function installed(what: string): QueueBackend[] {
  const postgresql: QueueBackend = {
    name: 'postgresql',
    start: async () => ({ stop: async () => undefined }),
  };
  const program = findProgram('redis-server', 'redis-server', `${what} with Redis as the queue`);
  if (program === undefined) return [postgresql];
  const redis: QueueBackend = {
    name: 'redis',
    start: async () => {
      const server = await startRedis(program);
      return { redisUrl: server.url, stop: () => server.stop() };
    },
  };
  return [postgresql, redis];
}
