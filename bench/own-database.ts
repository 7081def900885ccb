/** A database for a bench: on a server of its own, which leaves nothing. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MIGRATIONS } from '../migrations/index.js';
import { openDatabase } from '../src/platform/database/database.js';

/** @param work told the database's address, and a folder that is removed with it */
export async function ownDatabase<T>(work: (databaseUrl: string, home: string) => Promise<T>): Promise<T> {
  const home = mkdtempSync(join(tmpdir(), 'fabricdrill-bench-'));
  // the server runs as another user where we are root
  chmodSync(home, 0o755);
  try {
    const database = await openDatabase(
      { home, databaseUrl: undefined },
      { entities: [], migrations: MIGRATIONS },
    );
    try {
      return await work(database.url, home);
    } finally {
      await database.close();
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
