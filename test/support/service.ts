/**
 * The whole service in this process, on a database of its own, as an end-to-end suite talks to it.
 */
import pg from 'pg';
import { startApp, type AppParts } from '../../src/app/app.module.js';
import { loadConfig, type Config } from '../../src/system/config/config.js';
import { createTestDatabase, testHome } from './database.js';
import { HttpClient } from './http-client.js';
import type { QueueBackend } from './queue-backends.js';

export interface TestService {
  client: HttpClient;
  url: string;
  databaseUrl: string;
  redisUrl: string | undefined;
  /** Rows of a query of the test's own, which sees what is committed. */
  rows<Row>(sql: string, parameters?: unknown[]): Promise<Row[]>;
  /** Another service on the same database and queue. */
  join(parts: AppParts): Promise<{ url?: string; close(): Promise<void> }>;
  /** A configuration for this database and queue. */
  config: Config;
  stop(): Promise<void>;
}

const NO_RUN_STARTS: AppParts = { api: true, worker: false };

export async function startService(
  backend: QueueBackend,
  parts: AppParts = NO_RUN_STARTS,
  environment: NodeJS.ProcessEnv = {},
  /** Brings what is in the database before the service starts, as SQL. */
  content?: string,
): Promise<TestService> {
  const database = await createTestDatabase();
  if (content !== undefined) await execute(database.url, content);
  const queue = await backend.start();
  const config = loadConfig({
    FABRICDRILL_HOME: testHome(),
    DATABASE_URL: database.url,
    REDIS_URL: queue.redisUrl,
    FABRICDRILL_PORT: '0',
    LOG_LEVEL: 'fatal',
    ...environment,
  });
  const app = await startApp(config, parts);
  const observer = new pg.Pool({ connectionString: database.url, max: 1 });
  observer.on('error', () => undefined);
  return {
    client: new HttpClient(app.url!, config.token),
    url: app.url!,
    databaseUrl: database.url,
    redisUrl: queue.redisUrl,
    config,
    rows: async <Row>(sql: string, parameters: unknown[] = []) =>
      (await observer.query(sql, parameters)).rows as Row[],
    join: (others) => startApp(config, others),
    stop: async () => {
      await app.close();
      await observer.end();
      await queue.stop();
      await database.drop();
    },
  };
}

async function execute(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(sql);
  await client.end();
}
