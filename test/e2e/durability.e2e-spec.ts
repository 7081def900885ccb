/**
 * What is told to be stored outlives a crash of the database: the undo journal above all.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { MIGRATIONS } from '../../migrations/index.js';
import { recordTransition, RunStore, type Claim } from '../../src/store/runs/run-store.js';
import { RUN_ENTITIES } from '../../src/store/runs/run.entity.js';
import { openDatabase, type Database } from '../../src/store/database/database.js';
import { joinEmbeddedServer } from '../../src/store/database/embedded/embedded-server.js';
import { preparePlace } from '../../src/store/database/embedded/place.js';
import { findPostmaster } from '../../src/store/database/embedded/postmaster.js';
import { identityOf } from '../../src/system/process-identity.js';
import { createTestDatabase } from '../support/database.js';
import { ownHome, type OwnHome } from '../support/own-home.js';
import { until } from '../support/until.js';

jest.setTimeout(120_000);

const SCHEMA = { entities: RUN_ENTITIES, migrations: MIGRATIONS };
const LEASE_MS = 60_000;

/** Writes down, within the transaction that changes a row, what its commit will wait for. */
const WITNESS = `
  CREATE TABLE witness (of text, waits text);
  CREATE FUNCTION witness() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO witness VALUES (TG_TABLE_NAME, current_setting('synchronous_commit')); RETURN NULL; END $$;
  CREATE TRIGGER witness AFTER INSERT OR UPDATE ON undo_entries FOR EACH ROW EXECUTE FUNCTION witness();
  CREATE TRIGGER witness AFTER INSERT OR UPDATE ON runs FOR EACH ROW EXECUTE FUNCTION witness();
  CREATE TRIGGER witness AFTER INSERT OR UPDATE ON run_results FOR EACH ROW EXECUTE FUNCTION witness()`;

let home: OwnHome;
let database: Database | undefined;
beforeAll(() => {
  home = ownHome();
});
afterEach(async () => {
  await database?.close();
  database = undefined;
});
afterAll(() => home.remove());

async function storeRun({ dataSource }: Database): Promise<string> {
  const id = randomUUID();
  await dataSource.transaction(async (manager) => {
    await manager.query(
      `INSERT INTO runs (id, experiment_name, fabric_name, driver, definition, fabric_definition, plan, seed, state, version)
       VALUES ($1, 'experiment', 'fabric', 'simulated', '{}', '{}', '{}', 1, 'pending', '0.0.0')`,
      [id],
    );
    await recordTransition(manager, id, 'pending', null);
  });
  return id;
}

async function claimed(store: RunStore, id: string): Promise<Claim> {
  const taken = await store.claim(id, 'a worker', LEASE_MS);
  if (taken === undefined) throw new Error('the run could not be claimed');
  return taken.claim;
}

const intend = (store: RunStore, claim: Claim, id: string): Promise<unknown> =>
  store.intend(claim, {
    id,
    fault: 'cut',
    impairment: { type: 'link-admin', link: 'leaf-0:1', state: 'down' } as never,
    saved: { 'leaf-0:1': { admin: 'up' } },
  });

describe('what is stored', () => {
  it.each(['the embedded server', 'a server that is set up not to wait'])(
    'is on disk before it is told, on %s',
    async (where) => {
      const lax = where.startsWith('a server') ? await createTestDatabase() : undefined;
      try {
        if (lax !== undefined)
          await ask(lax.url, 'ALTER DATABASE ' + nameOf(lax.url) + ' SET synchronous_commit = off');
        database = await openDatabase({ home: home.folder, databaseUrl: lax?.url }, SCHEMA);
        const { dataSource } = database;
        await dataSource.query(WITNESS);
        const store = new RunStore(dataSource);
        const claim = await claimed(store, await storeRun(database));
        await intend(store, claim, `${claim.runId}/cut`);
        await store.applied(claim, `${claim.runId}/cut`);
        await store.verified(claim, `${claim.runId}/cut`);
        await store.verdict(claim, { faultFound: false, answer: 'nothing' } as never);
        const seen = await dataSource.query('SELECT DISTINCT of, waits FROM witness ORDER BY of');
        expect(seen).toEqual(['run_results', 'runs', 'undo_entries'].map((of) => ({ of, waits: 'on' })));
        if (lax !== undefined) return;
        const settings = await dataSource.query(
          `SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'full_page_writes') ORDER BY name`,
        );
        expect(settings).toEqual(['fsync', 'full_page_writes'].map((name) => ({ name, setting: 'on' })));
      } finally {
        await database?.close();
        await lax?.drop();
      }
    },
  );

  it.each(['SIGQUIT', 'SIGKILL'] as const)('outlives a database that ends by %s', async (signal) => {
    database = await openDatabase({ home: home.folder }, SCHEMA);
    const store = new RunStore(database.dataSource);
    const claim = await claimed(store, await storeRun(database));
    const postmaster = findPostmaster(preparePlace(home.folder).data)!;
    const backends = await database.dataSource.query<{ pid: number }[]>(
      `SELECT pid FROM pg_stat_activity WHERE backend_type <> 'client backend' OR pid <> pg_backend_pid()`,
    );
    await intend(store, claim, `${claim.runId}/cut`);
    // at once: what a writer in the background would have saved a moment later must not be what saves it
    if (signal === 'SIGKILL') for (const { pid } of backends) kill(pid);
    process.kill(postmaster.pid, signal);
    await until(() => identityOf(postmaster.pid) === undefined, 'the end of the database');
    await database.close();

    const again = await joinEmbeddedServer(home.folder);
    try {
      expect(
        await ask(again.url, `SELECT id, status FROM undo_entries WHERE run_id = '${claim.runId}'`),
      ).toEqual([{ id: `${claim.runId}/cut`, status: 'intended' }]);
    } finally {
      await again.leave();
    }
  });
});

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it ended by itself
  }
}

const nameOf = (url: string): string => new URL(url).pathname.slice(1);

async function ask(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows as unknown[];
  } finally {
    await client.end();
  }
}
