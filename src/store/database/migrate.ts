/**
 * Brings the schema up at start, once, whoever starts first.
 *
 * A PostgreSQL advisory lock lets one process migrate while the others wait. A database that knows a migration which
 * this program does not was made by a newer version: old code would misread it, so it is refused. Which version ran
 * a migration first is kept in `migration_versions`, so that the refusal can say what to upgrade to.
 */
import pg from 'pg';
import type { DataSource, MigrationInterface } from 'typeorm';
import { EnvironmentError, messageOf } from '../../core/problem.js';
import { hideSecrets } from '../../system/config/config.js';
import { VERSION } from '../../system/version.js';

/** "fdrill" in ASCII; any constant will do as long as it stays the same. */
const LOCK_KEY = 0x66_64_72_69_6c_6c;
const CONNECT_TIMEOUT_MS = 10_000;
const NO_PERMISSION = '42501';

/**
 * Initialises the data source and runs what is pending.
 * @param url connection string; appears in errors without user and password
 * @throws EnvironmentError when the server can't be reached, its schema is newer, or the role may not change it
 */
export async function migrate(url: string, dataSource: DataSource): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  // An error event without a listener ends the process; the query that suffers reports it anyway.
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    throw unreachable(url, error);
  }
  try {
    await client.query('SELECT pg_advisory_lock($1)', [LOCK_KEY]);
    await isSchemaCurrent(client, dataSource.options.migrations as unknown as Migrations);
    await dataSource.initialize();
    const done = await dataSource.runMigrations({ transaction: 'all' });
    await rememberVersion(
      client,
      done.map((migration) => migration.name),
    );
  } catch (error) {
    if (dataSource.isInitialized) await dataSource.destroy();
    throw asEnvironmentError(url, error);
  } finally {
    await client.end();
  }
}

type Migrations = readonly (new () => MigrationInterface)[];

/**
 * Whether every migration has been run.
 * @throws EnvironmentError when there are more than this program knows
 */
export async function isSchemaCurrent(client: pg.Client, migrations: Migrations): Promise<boolean> {
  const { rows } = await client.query<{ ledger: string | null; versions: string | null }>(
    `SELECT to_regclass('migrations')::text AS ledger, to_regclass('migration_versions')::text AS versions`,
  );
  if (rows[0].ledger === null) return false;
  const known = migrations.map((one) => new one().name);
  const applied = await client.query<{ name: string; version: string | null }>(
    rows[0].versions === null
      ? `SELECT name, NULL AS version FROM migrations ORDER BY "timestamp" DESC`
      : `SELECT m.name, v.version FROM migrations m LEFT JOIN migration_versions v ON v.migration = m.name
          ORDER BY m."timestamp" DESC`,
  );
  const foreign = applied.rows.find(({ name }) => !known.includes(name));
  if (foreign === undefined) return applied.rows.length === known.length;
  const { name, version } = foreign;
  const newer = version === null ? 'a newer version' : `version ${version}`;
  throw new EnvironmentError(
    `the database has a newer schema: ${newer} of fabricdrill applied the migration ${name}, which ${VERSION} does not know`,
    `upgrade fabricdrill to ${version ?? 'that version'} or later, or choose another database (DATABASE_URL, FABRICDRILL_HOME)`,
  );
}

/**
 * What a commit has told must outlive a crash, the undo journal above all; a server may be set up to promise less.
 * Where it waits for more (standbys), it goes on doing so.
 */
export async function commitDurably(client: pg.ClientBase): Promise<void> {
  await client.query(
    `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`,
  );
}

async function rememberVersion(client: pg.Client, migrations: string[]): Promise<void> {
  if (migrations.length === 0) return;
  await client.query(
    `CREATE TABLE IF NOT EXISTS migration_versions (migration text PRIMARY KEY, version text NOT NULL, at timestamptz NOT NULL)`,
  );
  await client.query(
    `INSERT INTO migration_versions SELECT name, $2, now() FROM unnest($1::text[]) AS name
     ON CONFLICT (migration) DO UPDATE SET version = EXCLUDED.version, at = EXCLUDED.at`,
    [migrations, VERSION],
  );
}

/** Errors of a connection attempt; the driver's text never holds the password. */
export function unreachable(url: string, error: unknown): EnvironmentError {
  return new EnvironmentError(
    `no connection to the database at ${hideSecrets(url)} (DATABASE_URL): ${reasonOf(error)}`,
    'check host, port, database name, user and password in DATABASE_URL, or leave it unset for the embedded database',
    { cause: error },
  );
}

function asEnvironmentError(url: string, error: unknown): unknown {
  if ((error as { code?: string }).code !== NO_PERMISSION) return error;
  return new EnvironmentError(
    `the database role may not create tables at ${hideSecrets(url)} (DATABASE_URL): ${reasonOf(error)}`,
    'let the role own the database, or grant it CREATE on its schema',
    { cause: error },
  );
}

/** A host name with several addresses fails with one error per address and no message of its own. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ');
  return messageOf(error);
}
