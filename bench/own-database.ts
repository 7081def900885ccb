/** A database for a bench: on a server of its own, which leaves nothing, not even when a signal ends the bench. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process, { kill } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { MIGRATIONS } from '../migrations/index.js';
import { openDatabase } from '../src/store/database/database.js';
import { joinEmbeddedServer } from '../src/store/database/embedded/embedded-server.js';
import { preparePlace } from '../src/store/database/embedded/place.js';
import { findPostmaster } from '../src/store/database/embedded/postmaster.js';

const LOOK_MS = 5;
/** For how long a process that ends waits for its server. */
const END_MS = 5000;

export interface OwnDatabase {
  databaseUrl: string;
  /** A folder that is removed with it. */
  home: string;
  /** Stops the server without a word to anybody, as `pg_ctl stop -m immediate` does, and starts it at the same address. */
  restart: () => Promise<void>;
}

export async function ownDatabase<T>(work: (database: OwnDatabase) => Promise<T>): Promise<T> {
  const home = mkdtempSync(join(tmpdir(), 'fabricdrill-bench-'));
  // the server runs as another user where we are root
  chmodSync(home, 0o755);
  const leaves: (() => Promise<void>)[] = [];
  const clear = (): void => clearAtOnce(home);
  process.once('exit', clear);
  try {
    const database = await openDatabase(
      { home, databaseUrl: undefined },
      { entities: [], migrations: MIGRATIONS },
    );
    leaves.push(() => database.close());
    const restart = async (): Promise<void> => {
      await stopAtOnce(home);
      const again = await joinEmbeddedServer(home);
      leaves.push(() => again.leave());
      if (again.url !== database.url) throw new Error('another program took the port of the database');
    };
    return await work({ databaseUrl: database.url, home, restart });
  } finally {
    for (const leave of leaves) await leave();
    rmSync(home, { recursive: true, force: true });
    process.off('exit', clear);
  }
}

/** @returns the data folder of the server, which is about to end */
function quit(home: string): string {
  const { data } = preparePlace(home);
  const server = findPostmaster(data);
  if (server !== undefined) kill(server.pid, 'SIGQUIT');
  return data;
}

async function stopAtOnce(home: string): Promise<void> {
  const data = quit(home);
  while (findPostmaster(data) !== undefined) await sleep(LOOK_MS);
}

/** For a process in which nothing can be awaited any more. */
function clearAtOnce(home: string): void {
  const data = quit(home);
  const untilMs = performance.now() + END_MS;
  const clock = new Int32Array(new SharedArrayBuffer(4));
  while (findPostmaster(data) !== undefined && performance.now() < untilMs)
    Atomics.wait(clock, 0, 0, LOOK_MS);
  rmSync(home, { recursive: true, force: true });
}

/**
 * From the next connection on, what the server acknowledges outlives it, as on a server of one's own: the embedded one
 * gathers commits. The disk is not waited for, since the machine goes on.
 */
export async function keepAcknowledged(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query('ALTER SYSTEM SET fsync = off');
    await client.query('SELECT pg_reload_conf()');
    await client.query(
      `ALTER DATABASE ${client.escapeIdentifier(client.database!)} SET synchronous_commit = on`,
    );
  } finally {
    await client.end();
  }
}
