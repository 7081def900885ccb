/**
 * The server answers as the one of 5e5372a did: statuses, headers, keys, values.
 *
 * Another build can be asked in its place, on an empty database for each chapter: FABRICDRILL_GOLDEN_URL (record-rest.js).
 */
import { afterAll, afterEach, beforeAll, it, jest } from '@jest/globals';
import { compileProgram, startProgram, type ChildProgram } from '../support/child-program.js';
import { HttpClient } from '../support/http-client.js';
import { queueBackends } from '../support/queue-backends.js';
import { startService } from '../support/service.js';
import { converse } from './conversation.js';
import { CONVERSATIONS } from './conversations.js';
import { expectGolden } from './golden.js';

jest.setTimeout(240_000);

/** Gates compute in threads, and those need compiled files. */
const WORKER = `
  import { serveUntilSignal } from './src/cli/commands/service.js';
  import { loadConfig } from './src/system/config/config.js';
  await serveUntilSignal(loadConfig(), { api: false, worker: true }, () => process.stdout.write('ready\\n'));
`;

const elsewhere = process.env.FABRICDRILL_GOLDEN_URL;
let program: ChildProgram;
let stop: () => Promise<void> = () => Promise.resolve();

beforeAll(() => {
  program = compileProgram(WORKER);
});
afterEach(() => stop());
afterAll(() => program.remove());

/** A server with an empty database and its worker. */
async function startHere(): Promise<HttpClient> {
  const [backend] = queueBackends('golden answers');
  const service = await startService(backend);
  const worker = startProgram(program, [], {
    env: {
      ...{ ...process.env, LOG_LEVEL: 'warn', FABRICDRILL_HOME: service.config.home },
      ...{ DATABASE_URL: service.databaseUrl, REDIS_URL: service.redisUrl ?? '' },
    },
  });
  stop = async () => {
    worker.process.kill('SIGTERM');
    await worker.ended;
    await service.stop();
  };
  await worker.line();
  return service.client;
}

it.each(Object.keys(CONVERSATIONS))('about %s', async (chapter) => {
  const client = elsewhere === undefined ? await startHere() : new HttpClient(elsewhere);
  await expectGolden(`rest/${chapter}.json`, await converse(client, CONVERSATIONS[chapter]));
});
