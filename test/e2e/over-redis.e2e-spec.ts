/**
 * What other suites show over one queue, PostgreSQL's, shown over Redis; and a worker that loses its Redis.
 */
import { expect, it, jest } from '@jest/globals';
import { compileProgram, startProgram } from '../support/child-program.js';
import { createTestDatabase } from '../support/database.js';
import { findProgram, startRedis } from '../support/redis.js';

const program = findProgram('redis-server', 'redis-server', 'gates, workers that die and runs over Redis');

// where the variable names a queue, their own files are about that one
if (program !== undefined && process.env.FABRICDRILL_TEST_QUEUE === undefined) {
  process.env.FABRICDRILL_TEST_QUEUE = 'redis';
  for (const suite of ['gates', 'crash', 'lifecycle']) await import(`./${suite}.e2e-spec.js`);
}
// each of them has set its own
jest.setTimeout(240_000);

const WORKER = `
  import { serveUntilSignal } from './src/cli/commands/service.js';
  import { loadConfig } from './src/system/config/config.js';
  await serveUntilSignal(loadConfig(), { api: false, worker: true }, () => process.stdout.write('ready\\n'));
`;

(program === undefined ? it.skip : it)(
  'a worker whose Redis is gone ends in order when it is told to, and leaves nothing running',
  async () => {
    const compiled = compileProgram(WORKER);
    const database = await createTestDatabase();
    const redis = await startRedis(program!);
    const worker = startProgram(compiled, [], {
      env: { ...process.env, LOG_LEVEL: 'silent', DATABASE_URL: database.url, REDIS_URL: redis.url },
    });
    try {
      expect(await worker.line()).toBe('ready');
      await redis.stop();
      worker.process.kill('SIGTERM');
      await worker.ended;
      expect([worker.process.exitCode, worker.process.signalCode]).toEqual([0, null]);
    } finally {
      worker.process.kill('SIGKILL');
      await worker.ended;
      await database.drop();
      compiled.remove();
    }
  },
);
