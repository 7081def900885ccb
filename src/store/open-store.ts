/**
 * The store as a command has it: one connection to the configured database, the embedded server started where none
 * is named, the schema brought up where it is not.
 */
import pg from 'pg';
import { MIGRATIONS } from '../../migrations/index.js';
import type { Config } from '../system/config/config.js';
import { joinEmbeddedServer } from './database/embedded/embedded-server.js';
import { commitDurably, isSchemaCurrent, unreachable } from './database/migrate.js';
import type { Sql } from './sql.js';

export interface Store extends Sql {
  /** All or nothing. One at a time, and no other query meanwhile: there is one connection. */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** Leaves the embedded server, which stops with its last user. May be called twice. */
  close: () => Promise<void>;
}

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * @throws EnvironmentError when the database can't be reached or started, or has a newer schema
 */
export async function openStore(config: Pick<Config, 'home' | 'databaseUrl'>): Promise<Store> {
  const server =
    config.databaseUrl === undefined
      ? await joinEmbeddedServer(config.home)
      : { url: config.databaseUrl, leave: () => Promise.resolve() };
  try {
    return storeOn(await connect(server.url), () => server.leave());
  } catch (error) {
    await server.leave();
    throw error;
  }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  // an error event without a listener ends the process; the query that suffers reports it anyway
  client.on('error', () => undefined);
  await client.connect().catch((error: unknown) => {
    throw unreachable(url, error);
  });
  try {
    await commitDurably(client);
    if (!(await isSchemaCurrent(client, MIGRATIONS))) await bringUp(url);
    return client;
  } catch (error) {
    await client.end();
    throw error;
  }
}

async function bringUp(url: string): Promise<void> {
  const { openDatabase } = await import('./database/database.js');
  const database = await openDatabase(
    { home: '', databaseUrl: url },
    { entities: [], migrations: MIGRATIONS },
  );
  await database.close();
}

function storeOn(client: pg.Client, leave: () => Promise<void>): Store {
  const query = async <Rows>(statement: string, parameters?: unknown[]): Promise<Rows> =>
    (await client.query(statement, parameters)).rows as Rows;
  let closed: Promise<void> | undefined;
  return {
    query,
    transaction: async (work) => {
      await client.query('BEGIN');
      try {
        const result = await work({ query });
        await client.query('COMMIT');
        return result;
      } catch (error) {
        // a connection that is gone takes the transaction with it
        await client.query('ROLLBACK').catch(() => undefined);
        throw error;
      }
    },
    close: () =>
      (closed ??= client
        .end()
        .catch(() => undefined)
        .then(leave)),
  };
}
