/**
 * Join the embedded PostgreSQL server of a home folder; leave it again.
 *
 * Every process that needs the database joins: the first starts the server, later ones use it, the last to leave
 * stops it. All of that happens under one lock, so that a starter never meets a stopper half-way. Nothing depends on
 * a clean exit: leases of killed processes are not counted, a server whose starter was killed is adopted, and one that
 * died is started again by whoever of its users sees it first.
 */
import { existsSync } from 'node:fs';
import pg from 'pg';
import { EnvironmentError, messageOf } from '../../../core/problem.js';
import { installBinaries } from './binaries.js';
import { ensureData, ensurePassword, ensureRunning, SUPERUSER } from './cluster.js';
import { dropLease, liveLeases, takeLease } from './leases.js';
import { type EmbeddedPlace, OTHER_HOME_HINT, OWN_SERVER_HINT, preparePlace } from './place.js';
import { findPostmaster, stopPostmaster } from './postmaster.js';
import { withTicketLock } from './ticket-lock.js';

const DATABASE = 'fabricdrill';
const UNKNOWN_DATABASE = '3D000';
/** How often each user looks whether the server still runs, and after how long it tries again when it can't be started. */
const LOOK_MS = 500;
const TRY_AGAIN_MS = 5_000;
/** Its users know the server by its port. */
const PORT_PATIENCE_MS = 5_000;
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
 * @param onError told when the server died, and when it can't be started again
 * @throws EnvironmentError when PostgreSQL can't run here or the home is not ours; its hint names DATABASE_URL
 */
export async function joinEmbeddedServer(
  home: string,
  onError: (error: Error) => void = () => undefined,
): Promise<EmbeddedServer> {
  const place = preparePlace(home);
  return underLock(place, async () => {
    liveLeases(place.leases);
    const lease = takeLease(place.leases);
    try {
      const url = await start(place);
      const watch = new Watch(place, Number(new URL(url).port), onError);
      const stop = async (): Promise<void> => {
        await watch.close();
        await leave(place, lease);
      };
      return { url, folder: place.folder, leave: onceOnly(stop) };
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

/** Starts the server again when it has died, at the address that its users know. */
class Watch {
  private timer: NodeJS.Timeout | undefined;
  private closed = false;
  private looking: Promise<void> = Promise.resolve();

  constructor(
    private readonly place: EmbeddedPlace,
    private readonly port: number,
    private readonly onError: (error: Error) => void,
  ) {
    this.lookIn(LOOK_MS);
  }

  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    await this.looking;
  }

  private lookIn(ms: number): void {
    if (this.closed) return;
    this.timer = setTimeout(() => void (this.looking = this.look()), ms).unref();
  }

  private async look(): Promise<void> {
    try {
      if (!this.isRunning()) await underLock(this.place, () => this.revive());
      this.lookIn(LOOK_MS);
    } catch (error) {
      this.onError(error instanceof Error ? error : new Error(messageOf(error)));
      this.lookIn(TRY_AGAIN_MS);
    }
  }

  /** A home that was removed is not filled again. */
  private isRunning(): boolean {
    return findPostmaster(this.place.data) !== undefined || !existsSync(this.place.data);
  }

  /** Another user of the server may have come first. */
  private async revive(): Promise<void> {
    if (this.closed || this.isRunning()) return;
    this.onError(new Error('the embedded PostgreSQL has died and is started again'));
    const { port } = await ensureRunning(this.place, installBinaries(this.place.folder), PORT_PATIENCE_MS);
    if (port === this.port) return;
    throw new EnvironmentError(
      `the embedded PostgreSQL was started again on port ${port}, since another program has taken port ${this.port}`,
      'stop every fabricdrill of this home and start it again',
    );
  }
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
