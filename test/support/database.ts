/**
 * A database of its own for a spec, on one embedded server that all specs of a checkout share.
 *
 * Workers of the test runner join the server and leave it; the last one stops it. Databases that a killed run left
 * behind are dropped by the next one.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { joinEmbeddedServer } from '../../src/store/database/embedded/embedded-server.js';
import { testHome } from './test-home.js';

export { testHome };

export interface TestDatabase {
  /** Connection string of an empty database. */
  url: string;
  /** Drops it and leaves the server; close every connection first. */
  drop(): Promise<void>;
}

/** Keeps the shared server up from `beforeAll` to `afterAll` (the result), so that it does not restart per test. */
export async function keepTestServer(): Promise<() => Promise<void>> {
  const server = await joinEmbeddedServer(testHome());
  return () => server.leave();
}

export async function createTestDatabase(): Promise<TestDatabase> {
  const server = await joinEmbeddedServer(testHome());
  const name = `test_${process.pid}_${randomBytes(4).toString('hex')}`;
  try {
    // a machine that dies takes the test with it, so nothing here has to reach the disk
    const quick = ['ALTER SYSTEM SET fsync = off', 'SELECT pg_reload_conf()'];
    await run(server.url, ...quick, `CREATE DATABASE ${name}`);
  } catch (error) {
    await server.leave();
    throw error;
  }
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: async () => {
      try {
        await run(server.url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
        await dropLeftovers(server.url);
      } finally {
        await server.leave();
      }
    },
  };
}

async function dropLeftovers(url: string): Promise<void> {
  const rows = await run(url, `SELECT datname FROM pg_database WHERE datname LIKE 'test\\_%'`);
  for (const { datname } of rows as { datname: string }[]) {
    const pid = Number(datname.split('_')[1]);
    if (!isAlive(pid)) await run(url, `DROP DATABASE IF EXISTS ${datname} WITH (FORCE)`);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** One after the other; rows of the last. */
async function run(url: string, ...statements: string[]): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    let rows: unknown[] = [];
    for (const sql of statements) rows = (await client.query(sql)).rows;
    return rows;
  } finally {
    await client.end();
  }
}
