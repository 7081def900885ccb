/**
 * Join the embedded PostgreSQL server of a home folder; leave it again.
 *
 * Every process that needs the database joins: the first starts the server, later ones use it, the last to leave
 * stops it. All of that happens under one lock, so that a starter never meets a stopper half-way. Nothing depends on
 * a clean exit: leases of killed processes are not counted, and a server whose starter was killed is adopted.
 */
import pg from 'pg';
import { EnvironmentError, messageOf } from '../../../core/problem.js';
import { installBinaries } from './binaries.js';
import { ensureData, ensurePassword, ensureRunning, SUPERUSER } from './cluster.js';
import { dropLease, liveLeases, takeLease } from './leases.js';
import { type EmbeddedPlace, OTHER_HOME_HINT, OWN_SERVER_HINT, preparePlace } from './place.js';
import { stopPostmaster } from './postmaster.js';
import { withTicketLock } from './ticket-lock.js';

const DATABASE = 'fabricdrill';
const UNKNOWN_DATABASE = '3D000';
/** What the system answers where the files are somebody else's, or nobody may write. */
const NOT_OURS = new Set(['EACCES', 'EPERM', 'EROFS']);

export interface EmbeddedServer {
  /** Connection string with the password; not for logs. */
  url: string;
  /** Where data and log are. */
  folder: string;
  /** Gives the server back; the last one to do so stops it. Call it after every connection is closed. */
  leave(): Promise<void>;
}

/**
 * Starts or joins the server of `home` (FABRICDRILL_HOME, an absolute path).
 * @throws EnvironmentError when PostgreSQL can't run here or the home is not ours; its hint names DATABASE_URL
 */
export async function joinEmbeddedServer(home: string): Promise<EmbeddedServer> {
  const place = preparePlace(home);
  return underLock(place, async () => {
    liveLeases(place.leases);
    const lease = takeLease(place.leases);
    try {
      const url = await start(place);
      return { url, folder: place.folder, leave: onceOnly(() => leave(place, lease)) };
    } catch (error) {
      dropLease(lease);
      // What was started for nobody must not stay; why it failed matters more than whether it stops.
      if (liveLeases(place.leases).length === 0) await stopPostmaster(place.data).catch(() => undefined);
      throw error;
    }
  });
}

/** Lock and leases are files in the home as well, so that being refused there is told like anywhere else. */
async function underLock<T>(place: EmbeddedPlace, work: () => Promise<T>): Promise<T> {
  try {
    return await withTicketLock(place.lock, work);
  } catch (error) {
    throw asEnvironmentError(error, place);
  }
}

async function start(place: EmbeddedPlace): Promise<string> {
  const binaries = installBinaries(place.folder);
  const password = ensurePassword(place);
  await ensureData(place, binaries, password);
  const { port } = await ensureRunning(place, binaries);
  const url = (database: string) => `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/${database}`;
  await ensureDatabase(url(DATABASE), url('postgres'));
  return url(DATABASE);
}

async function leave(place: EmbeddedPlace, lease: string): Promise<void> {
  await underLock(place, async () => {
    dropLease(lease);
    if (liveLeases(place.leases).length === 0) await stopPostmaster(place.data);
  });
}

/** Asks the server for our database, which proves too that it answers and takes our password. */
async function ensureDatabase(url: string, maintenanceUrl: string): Promise<void> {
  try {
    await query(url, 'SELECT 1');
  } catch (error) {
    if ((error as { code?: string }).code !== UNKNOWN_DATABASE) throw unusable(error);
    await query(maintenanceUrl, `CREATE DATABASE ${DATABASE}`);
  }
}

async function query(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

function unusable(error: unknown): EnvironmentError {
  const reason = messageOf(error);
  return new EnvironmentError(`the embedded PostgreSQL runs but refuses us: ${reason}`, OWN_SERVER_HINT, {
    cause: error,
  });
}

/** A file operation that the system refuses (no space, no right to change the owner) is no bug of ours. */
function asEnvironmentError(error: unknown, place: EmbeddedPlace): unknown {
  if (typeof error !== 'object' || error === null || !('syscall' in error)) return error;
  const { code = '', message: reason } = error as NodeJS.ErrnoException;
  const message = `the embedded PostgreSQL can't be run in ${place.folder}: ${reason}`;
  return new EnvironmentError(message, NOT_OURS.has(code) ? OTHER_HOME_HINT : OWN_SERVER_HINT, {
    cause: error,
  });
}

function onceOnly(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => (done ??= work());
}
