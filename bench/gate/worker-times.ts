/**
 * How long a gate takes on a server, with worker processes of one thread each: asked for by REST, shared by the queue, on a
 * database of its own that knows no run. API, database and queue take their part of the same cores.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startApp } from '../../src/app/app.module.js';
import { ApiClient } from '../../src/cli/client/api-client.js';
import { loadConfig } from '../../src/system/config/config.js';
import { ownDatabase } from '../own-database.js';

/** Of a gate as REST shows it. */
interface Shown {
  id: string;
  final: boolean;
  state: string;
  progress: { made: number };
}

/** Seldom, since the answers take their part of the same cores. */
const POLL_MS = 200;
const PROGRAM = fileURLToPath(new URL('./worker-process.js', import.meta.url));

export interface GateTime {
  /** From the request to the end. */
  seconds: number;
  runs: number;
}

/**
 * One gate after another on workers that are started for them.
 * @param requests bodies of `POST /v1/gates`
 */
export const timesByWorkers = (requests: readonly object[], workers: number): Promise<GateTime[]> =>
  ownDatabase(async ({ databaseUrl, home }) => {
    const environment = {
      ...{ FABRICDRILL_HOME: home, DATABASE_URL: databaseUrl, FABRICDRILL_PORT: '0', LOG_LEVEL: 'fatal' },
      ...(process.env.REDIS_URL === undefined ? {} : { REDIS_URL: process.env.REDIS_URL }),
    };
    const config = loadConfig(environment);
    const app = await startApp(config, { api: true, worker: false, schedules: false });
    const started: ChildProcess[] = [];
    try {
      for (let at = 0; at < workers; at++) started.push(await startWorker(environment));
      const client = new ApiClient(app.url!, config.token);
      const times: GateTime[] = [];
      for (const request of requests) times.push(await timed(client, request));
      return times;
    } finally {
      await Promise.all(started.map(ended));
      await app.close();
    }
  });

async function timed(client: ApiClient, request: object): Promise<GateTime> {
  const startMs = performance.now();
  const { id } = await client.json<Shown>('POST', '/v1/gates', request);
  for (;;) {
    const { final, state, progress } = await client.json<Shown>('GET', `/v1/gates/${id}`);
    if (final && state === 'error') throw new Error('the gate of the bench ended as error');
    if (final) return { seconds: (performance.now() - startMs) / 1000, runs: progress.made };
    await sleep(POLL_MS);
  }
}

function startWorker(environment: NodeJS.ProcessEnv): Promise<ChildProcess> {
  const env = { ...process.env, ...environment, FABRICDRILL_WORKER_CONCURRENCY: '1' };
  const child = fork(PROGRAM, [], { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  return new Promise((resolve, reject) => {
    child.once('message', () => resolve(child));
    child.once('exit', (code) => reject(new Error(`a worker of the bench ended with ${code}`)));
  });
}

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });
