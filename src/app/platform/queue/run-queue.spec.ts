import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { compileProgram, startProgram } from '../../../../test/support/child-program.js';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { findProgram, startRedis, type TestRedis } from '../../../../test/support/redis.js';
import { EnvironmentError } from '../../../core/problem.js';
import { openRunQueue, type RunQueue } from './run-queue.js';

jest.setTimeout(60_000);

/** A worker that takes a run and never ends it; on a busy machine it may be late by seconds to renew its lock. */
const STUCK_WORKER = `
import { openRunQueue } from './src/app/platform/queue/run-queue.js';
const [databaseUrl, redisUrl] = process.argv.slice(2);
const queue = await openRunQueue({ redisUrl: redisUrl || undefined }, databaseUrl!, () => undefined);
await queue.worker(async (runId) => {
  console.log(runId);
  await new Promise(() => setInterval(() => undefined, 1000));
}, { concurrency: 1, lockDurationMs: 5000, stalledIntervalMs: 500 });
`;

/** Redis lets one check for lost jobs pass per interval, whoever asks, so all workers of this spec use a short one. */
const FAST = { concurrency: 1, lockDurationMs: 1000, stalledIntervalMs: 500 };

const redisServer = findProgram('redis-server', 'redis-server', 'the run queue on Redis');

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(20);
}

describe.each(redisServer === undefined ? ['postgresql'] : ['postgresql', 'redis'])(
  'the run queue on %s',
  (name) => {
    let database: TestDatabase;
    let redis: TestRedis | undefined;
    const queues: RunQueue[] = [];

    beforeAll(async () => {
      database = await createTestDatabase();
      if (name === 'redis') redis = await startRedis(redisServer!);
    });
    afterEach(async () => {
      for (const queue of queues.splice(0)) await queue.close();
    });
    afterAll(async () => {
      await redis?.stop();
      await database.drop();
    });

    async function open(): Promise<RunQueue> {
      const queue = await openRunQueue({ redisUrl: redis?.url }, database.url, () => undefined);
      expect(queue.backend).toBe(name);
      queues.push(queue);
      return queue;
    }

    test('hands each run to one of two workers, once, even when it is added twice', async () => {
      const [one, two] = [await open(), await open()];
      const taken: string[] = [];
      const handler = (runId: string) => sleep(5).then(() => void taken.push(runId));
      const runs = Array.from({ length: 20 }, () => randomUUID());
      await one.worker(handler, { ...FAST, concurrency: 2 });
      await two.worker(handler, { ...FAST, concurrency: 2 });
      for (const run of [...runs, ...runs]) await one.add(run);
      await until(() => taken.length >= runs.length);
      await until(async () => (await one.counts()).waiting + (await one.counts()).active === 0);
      await one.add(runs[0]);
      await sleep(200);
      expect([...taken].sort()).toEqual([...runs].sort());
    });

    test('takes out a run that nobody has begun', async () => {
      const queue = await open();
      const [kept, removed] = [randomUUID(), randomUUID()];
      await queue.add(removed);
      await queue.add(kept);
      expect(await queue.remove(removed)).toBe(true);
      expect(await queue.remove(randomUUID())).toBe(false);
      const taken: string[] = [];
      await queue.worker(async (runId) => void taken.push(runId), FAST);
      await until(() => taken.length > 0);
      await sleep(100);
      expect(taken).toEqual([kept]);
    });

    test('does not try a run again whose handler threw', async () => {
      const queue = await open();
      let calls = 0;
      await queue.worker(async () => {
        calls++;
        throw new Error('broken');
      }, FAST);
      await queue.add(randomUUID());
      await until(async () => (await queue.counts()).failed > 0);
      await sleep(200);
      expect(calls).toBe(1);
    });

    test('waits for the run under way when it closes, and takes no more', async () => {
      const queue = await open();
      const events: string[] = [];
      await queue.worker(async (runId) => {
        events.push(`begin ${runId}`);
        await sleep(300);
        events.push(`end ${runId}`);
      }, FAST);
      const [first, second] = [randomUUID(), randomUUID()];
      await queue.add(first);
      await until(() => events.length === 1);
      await queue.add(second);
      await Promise.all([queue.close(), queue.close()]);
      expect(events).toEqual([`begin ${first}`, `end ${first}`]);
      const next = await open();
      expect((await next.counts()).waiting).toBe(1);
      expect(await next.remove(second)).toBe(true);
    });

    test('hands a run to another worker when the first is killed with -9', async () => {
      const queue = await open();
      const program = compileProgram(STUCK_WORKER);
      try {
        const stuck = startProgram(program, [database.url, redis?.url ?? '']);
        const run = randomUUID();
        await queue.add(run);
        expect(await stuck.line()).toBe(run);
        expect(await queue.remove(run)).toBe(false);
        stuck.process.kill('SIGKILL');
        await stuck.ended;
        const taken: string[] = [];
        await queue.worker(async (runId) => void taken.push(runId), {
          concurrency: 1,
          lockDurationMs: 1000,
          stalledIntervalMs: 500,
        });
        await until(() => taken.length > 0);
        expect(taken).toEqual([run]);
      } finally {
        program.remove();
      }
    });
  },
);

test('a Redis that is not there is named without its password', async () => {
  const error = await openRunQueue({ redisUrl: 'redis://:hunter2@127.0.0.1:1' }, '', () => undefined).catch(
    (caught: unknown) => caught,
  );
  expect(error).toBeInstanceOf(EnvironmentError);
  expect((error as EnvironmentError).message).toMatch(/redis:\/\/127\.0\.0\.1:1.*REDIS_URL.*ECONNREFUSED/);
  expect((error as EnvironmentError).message).not.toMatch(/hunter2/);
});
