import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { DataSource, MigrationInterface, QueryRunner } from 'typeorm';
import { KeepEvidenceInParts1795932000000 } from '../../../migrations/1795932000000-keep-evidence-in-parts.js';
import { MIGRATIONS } from '../../../migrations/index.js';
import {
  createTestDatabase,
  keepTestServer,
  testHome,
  type TestDatabase,
} from '../../../test/support/database.js';
import { EnvironmentError } from '../../core/problem.js';
import { VERSION } from '../../system/version.js';
import { type Database, openDatabase } from './database.js';
import { findPostmaster } from './embedded/postmaster.js';
import { preparePlace } from './embedded/place.js';

jest.setTimeout(60_000);

class AddColours1900000000000 implements MigrationInterface {
  readonly name = 'AddColours1900000000000';
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE colours (name text)');
  }
  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE colours');
  }
}

const RUN = '00000000-0000-4000-8000-000000000001';

let leaveServer: () => Promise<void>;
let empty: TestDatabase;
const opened: Database[] = [];
beforeAll(async () => {
  leaveServer = await keepTestServer();
});
afterAll(() => leaveServer());
beforeEach(async () => {
  empty = await createTestDatabase();
});
afterEach(async () => {
  for (const database of opened.splice(0)) await database.close();
  await empty.drop();
});

async function open(
  migrations: Parameters<typeof openDatabase>[1]['migrations'] = MIGRATIONS,
): Promise<Database> {
  const database = await openDatabase(
    { home: testHome(), databaseUrl: empty.url },
    { entities: [], migrations },
  );
  opened.push(database);
  return database;
}

async function tables(dataSource: DataSource): Promise<string[]> {
  const rows: { name: string }[] = await dataSource.query(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1`,
  );
  return rows.map((row) => row.name);
}

const CORE = [
  'experiments',
  'fabrics',
  'idempotency_keys',
  'run_events',
  'run_evidence',
  'run_evidence_parts',
  'run_results',
  'run_transitions',
  'run_truth',
  'runs',
  'undo_entries',
];

const INSERT_RUN = `INSERT INTO runs (id, experiment_id, experiment_name, fabric_name, driver, definition,
    fabric_definition, plan, seed, state, version)
  VALUES ($1, $2, 'e', 'f', 'simulated', '{"b":1,"a":2}', '{}', '{}', 9007199254740991, 'pending', '1')`;

describe('the database', () => {
  test('is migrated when it opens, and says which version did it', async () => {
    const { dataSource } = await open();
    expect(await tables(dataSource)).toEqual(expect.arrayContaining(CORE));
    expect(
      await dataSource.query('SELECT migration, version FROM migration_versions ORDER BY migration'),
    ).toEqual(
      MIGRATIONS.map((one) => ({ migration: new one().name, version: VERSION })).sort((a, b) =>
        a.migration < b.migration ? -1 : 1,
      ),
    );
  });

  test('is migrated once when several open it at the same time', async () => {
    const all = await Promise.all([open(), open(), open()]);
    expect(await all[0].dataSource.query('SELECT name FROM migrations')).toHaveLength(MIGRATIONS.length);
  });

  test('can be migrated down to nothing and up again', async () => {
    const { dataSource } = await open();
    for (let count = 0; count < MIGRATIONS.length; count++) await dataSource.undoLastMigration();
    expect((await tables(dataSource)).filter((name) => CORE.includes(name))).toEqual([]);
    await dataSource.runMigrations();
    expect(await tables(dataSource)).toEqual(expect.arrayContaining(CORE));
  });

  test('keeps evidence of before it was kept in parts, and puts parts together again on the way back', async () => {
    const older = MIGRATIONS.slice(0, MIGRATIONS.indexOf(KeepEvidenceInParts1795932000000));
    const file = Buffer.from('ARROW1 and so on');
    const before = await open(older);
    await before.dataSource.query(INSERT_RUN, [RUN, null]);
    await before.dataSource.query(`INSERT INTO run_evidence VALUES ($1, $2, $3, 'digest', 7, 'format')`, [
      RUN,
      file,
      file.length,
    ]);
    const { dataSource } = await open([...older, KeepEvidenceInParts1795932000000]);
    const evidence = `SELECT bytes, rows, sha256, parts FROM run_evidence`;
    expect(await dataSource.query(evidence)).toEqual([
      { bytes: '16', rows: '7', sha256: 'digest', parts: 1 },
    ]);
    expect(await dataSource.query('SELECT * FROM run_evidence_parts')).toEqual([
      { run_id: RUN, part: 0, bytes: file },
    ]);
    await dataSource.query(`UPDATE run_evidence_parts SET bytes = 'ARROW1 '::bytea`);
    await dataSource.query(`INSERT INTO run_evidence_parts VALUES ($1, 1, 'and so on'::bytea)`, [RUN]);
    await dataSource.undoLastMigration();
    expect(await dataSource.query('SELECT arrow, bytes, rows FROM run_evidence')).toEqual([
      { arrow: file, bytes: 16, rows: 7 },
    ]);
  });

  test('loses everything of a run with the run, and keeps a run whose experiment goes', async () => {
    const { dataSource } = await open();
    const run = RUN;
    const experiment = '00000000-0000-4000-8000-000000000002';
    await dataSource.query(
      `INSERT INTO experiments (id, name, definition, digest) VALUES ($1, 'e', '{}', 'd')`,
      [experiment],
    );
    await dataSource.query(INSERT_RUN, [run, experiment]);
    await dataSource.query(`INSERT INTO run_events VALUES ($1, 1, now(), 'state', '{}')`, [run]);
    await dataSource.query(`INSERT INTO run_truth VALUES ($1, '[]')`, [run]);
    await dataSource.query(`DELETE FROM experiments`);
    expect(await dataSource.query('SELECT experiment_id, seed, definition::text, fence FROM runs')).toEqual([
      { experiment_id: null, seed: '9007199254740991', definition: '{"b":1,"a":2}', fence: '0' },
    ]);
    await dataSource.query('DELETE FROM runs');
    expect(await dataSource.query('SELECT * FROM run_events')).toEqual([]);
    expect(await dataSource.query('SELECT * FROM run_truth')).toEqual([]);
  });

  test('takes a key before its run within a transaction, and refuses a key without one', async () => {
    const { dataSource } = await open();
    const reserve = `INSERT INTO idempotency_keys (key, request_hash, run_id)
      VALUES ('k', 'h', '00000000-0000-4000-8000-000000000001')`;
    await expect(dataSource.query(reserve)).rejects.toThrow(/foreign key/);
    await dataSource.transaction(async (manager) => {
      await manager.query(reserve);
      await manager.query(INSERT_RUN, ['00000000-0000-4000-8000-000000000001', null]);
    });
    expect(await dataSource.query('SELECT key FROM idempotency_keys')).toEqual([{ key: 'k' }]);
  });

  test('is refused, untouched, when a newer version migrated it', async () => {
    const newer = await open([...MIGRATIONS, AddColours1900000000000]);
    await newer.dataSource.query(
      `UPDATE migration_versions SET version = '9.1.0' WHERE migration = 'AddColours1900000000000'`,
    );
    const error = await open().catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(EnvironmentError);
    expect((error as EnvironmentError).message).toMatch(/version 9\.1\.0 .* AddColours1900000000000/);
    expect((error as EnvironmentError).hint).toMatch(/upgrade fabricdrill to 9\.1\.0 or later/);
    expect(await tables(newer.dataSource)).toContain('colours');
  });

  test('leaves nothing behind when a migration fails half-way', async () => {
    class Broken1900000000001 implements MigrationInterface {
      readonly name = 'Broken1900000000001';
      async up(runner: QueryRunner): Promise<void> {
        await runner.query('CREATE TABLE half (id int)');
        await runner.query('CREATE TABLE half (id int)');
      }
      async down(): Promise<void> {}
    }
    await expect(open([...MIGRATIONS, Broken1900000000001])).rejects.toThrow(/already exists/);
    const { dataSource } = await open();
    expect(await tables(dataSource)).not.toContain('half');
  });

  test.each([
    [
      'nobody listens',
      'postgres://me:hunter2@127.0.0.1:1/x',
      /127\.0\.0\.1:1\/x \(DATABASE_URL\).*ECONNREFUSED/,
    ],
    [
      'the name has no address',
      'postgres://me:hunter2@nowhere.invalid/x',
      /nowhere\.invalid\/x.*ENOTFOUND|EAI_AGAIN/,
    ],
  ])('that is not there is named without its password: %s', async (_, databaseUrl, reason) => {
    const error = await openDatabase({ home: '/x', databaseUrl }, { entities: [], migrations: [] }).catch(
      (caught: unknown) => caught,
    );
    expect(error).toBeInstanceOf(EnvironmentError);
    expect((error as EnvironmentError).message).toMatch(reason);
    expect(`${(error as EnvironmentError).message} ${(error as EnvironmentError).hint}`).not.toMatch(
      /hunter2/,
    );
  });

  test('that does not exist on its server, or takes another password, is told', async () => {
    for (const [from, to, reason] of [
      [/\/test_\w+$/, '/no_such_database', /does not exist/],
      [/:[0-9a-f]{48}@/, ':hunter2@', /password authentication failed/],
    ] as const) {
      const wrong = { home: '/x', databaseUrl: empty.url.replace(from, to) };
      await expect(openDatabase(wrong, { entities: [], migrations: [] })).rejects.toThrow(reason);
    }
  });

  test('closes what was registered, newest first, then its connections, then the embedded server', async () => {
    const order: string[] = [];
    const database = await openDatabase({ home: testHome() }, { entities: [], migrations: [] });
    database.beforeClose(async () => void order.push(`first ${database.dataSource.isInitialized}`));
    database.beforeClose(async () => void order.push(`second ${database.dataSource.isInitialized}`));
    await Promise.all([database.close(), database.close()]);
    expect(order).toEqual(['second true', 'first true']);
    expect(database.dataSource.isInitialized).toBe(false);
    // This spec's own test database still holds a lease, so the server itself lives.
    expect(findPostmaster(preparePlace(testHome()).data)?.status).toBe('ready');
  });
});
