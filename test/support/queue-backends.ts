/**
 * The queue backends that a suite is looped over: PostgreSQL always, Redis where it is installed.
 */
import { findProgram, startRedis } from './redis.js';

export interface QueueBackend {
  name: 'postgresql' | 'redis';
  /** Starts what the backend needs beside the database. */
  start(): Promise<{ redisUrl?: string; stop(): Promise<void> }>;
}

/** @param what the suite, for the line that says why Redis is left out */
export function queueBackends(what: string): QueueBackend[] {
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
