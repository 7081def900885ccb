/**
 * The database of a process: an outside PostgreSQL (DATABASE_URL) or the embedded one, migrated and ready.
 *
 * One code path for both: only where the connection string comes from differs. Each entry point passes the entities
 * and migrations it uses as explicit lists; gathering them by file name would hand every table to every process.
 */
import {
  DataSource,
  type EntityTarget,
  type Logger,
  type MigrationInterface,
  type ObjectLiteral,
} from 'typeorm';
import type { Config } from '../../system/config/config.js';
import { joinEmbeddedServer } from './embedded/embedded-server.js';
import { commitDurably, migrate } from './migrate.js';

const POOL_SIZE = 10;
const CONNECT_TIMEOUT_MS = 10_000;

/** TypeORM would print to stdout, which belongs to results; what fails is thrown anyway. */
const SILENT: Logger = {
  logQuery: () => undefined,
  logQueryError: () => undefined,
  logQuerySlow: () => undefined,
  logSchemaBuild: () => undefined,
  logMigration: () => undefined,
  log: () => undefined,
};

export interface Schema {
  entities: EntityTarget<ObjectLiteral>[];
  migrations: (new () => MigrationInterface)[];
}

export interface Database {
  readonly dataSource: DataSource;
  /** Connection string, password included: for further connections, never for a log. */
  readonly url: string;
  /** Work to do before the connections go, such as closing a queue; run in reverse order of registration. */
  beforeClose(work: () => Promise<void>): void;
  /** Closes everything, the embedded server last. May be called twice. */
  close(): Promise<void>;
}

/**
 * Opens the configured database: starts or joins the embedded server where none is named, and brings the schema up.
 * @param onError told about connections that break while idle
 * @throws EnvironmentError when it can't be reached, can't be started, or has a newer schema
 */
export async function openDatabase(
  config: Pick<Config, 'home' | 'databaseUrl'>,
  schema: Schema,
  onError: (error: Error) => void = () => undefined,
): Promise<Database> {
  // connections that break because we close are no news
  let closing = false;
  const tell = (error: Error): void => {
    if (!closing) onError(error);
  };
  const server =
    config.databaseUrl === undefined
      ? await joinEmbeddedServer(config.home, tell)
      : { url: config.databaseUrl, leave: () => Promise.resolve() };
  const leave = (): Promise<void> => {
    closing = true;
    return server.leave();
  };
  try {
    const dataSource = await connect(server.url, schema, tell);
    return assemble(dataSource, { url: server.url, leave });
  } catch (error) {
    await leave();
    throw error;
  }
}

async function connect(url: string, schema: Schema, onError: (error: Error) => void): Promise<DataSource> {
  const dataSource = new DataSource({
    type: 'postgres',
    url,
    entities: schema.entities as never,
    migrations: schema.migrations,
    migrationsTableName: 'migrations',
    synchronize: false,
    installExtensions: false,
    applicationName: 'fabricdrill',
    poolSize: POOL_SIZE,
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    poolErrorHandler: onError,
    extra: { onConnect: commitDurably },
    logger: SILENT,
  });
  await migrate(url, dataSource);
  return dataSource;
}

function assemble(dataSource: DataSource, server: { url: string; leave(): Promise<void> }): Database {
  const before: (() => Promise<void>)[] = [];
  let closed: Promise<void> | undefined;
  const close = async () => {
    try {
      while (before.length > 0) await before.pop()!();
      if (dataSource.isInitialized) await dataSource.destroy();
    } finally {
      await server.leave();
    }
  };
  return {
    dataSource,
    url: server.url,
    beforeClose: (work) => void before.push(work),
    close: () => (closed ??= close()),
  };
}
