/**
 * Some days of schedules on a real PostgreSQL: with replicas whose connections are cut off in mid-transaction, and with
 * replicas that are processes, killed and stopped, while the database is restarted.
 */
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { MIGRATIONS } from '../../migrations/index.js';
import { openDatabase } from '../../src/store/database/database.js';
import { createTestDatabase, keepTestServer, testHome } from '../../test/support/database.js';
import { compileProgram } from '../../test/support/child-program.js';
import { keepAcknowledged, ownDatabase } from '../own-database.js';
import { liveMonth } from './month.js';
import { startReplica } from './processes.js';
import { connect, lookOn, storeOn } from './replica.js';
import type { Replica } from './upsets.js';

jest.setTimeout(120_000);

/** A replica in this process; to kill it is to cut off its connections, whatever they are doing. */
async function replicaHere(databaseUrl: string, name: string): Promise<Replica> {
  const dataSource: DataSource = await connect(databaseUrl, name);
  let over = false;
  const looking = lookOn(storeOn(dataSource), () => over);
  return {
    replace: async () => {
      await dataSource.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND pid <> pg_backend_pid()`,
        [name],
      );
    },
    stop: async () => {
      over = true;
      await looking;
      await dataSource.destroy();
    },
  };
}

describe('three replicas', () => {
  let leave: () => Promise<void>;
  beforeAll(async () => {
    leave = await keepTestServer();
  });
  afterAll(() => leave());

  test('decide every tick once, as the model says, whatever dies', async () => {
    const empty = await createTestDatabase();
    try {
      const schema = { entities: [], migrations: MIGRATIONS };
      await (await openDatabase({ home: testHome(), databaseUrl: empty.url }, schema)).close();
      const result = await liveMonth({
        ...{ databaseUrl: empty.url, seed: 1, schedules: 24, days: 2, replicas: 3 },
        chances: { kill: 0.3 },
        replica: (name) => replicaHere(empty.url, name),
      });
      expect(result.differences).toEqual([]);
      expect(result.duplicates).toBe(0);
      expect(result.kills).toBeGreaterThan(10);
      expect(result.runs).toBeGreaterThan(30);
      expect(Object.keys(result.skips).length).toBeGreaterThan(2);
    } finally {
      await empty.drop();
    }
  });

  test('decide every tick once when processes stand still with its lock, and when PostgreSQL goes away', async () => {
    const compiled = compileProgram(`import './bench/schedules/replica-process.js';`);
    const program = `${compiled.folder}/bench/schedules/replica-process.js`;
    const falls: string[] = [];
    try {
      const result = await ownDatabase(async ({ databaseUrl, restart }) => {
        await keepAcknowledged(databaseUrl);
        return liveMonth({
          ...{ databaseUrl, seed: 2, schedules: 24, days: 1, replicas: 3 },
          chances: { kill: 0.03, freeze: 0.08, restart: 0.03 },
          replica: (name) => startReplica({ program, databaseUrl, name, onFall: (why) => falls.push(why) }),
          restartDatabase: restart,
        });
      });
      expect([result.differences, result.duplicates, falls]).toEqual([[], 0, []]);
      for (const count of [result.kills, result.freezes, result.restarts]) expect(count).toBeGreaterThan(0);
    } finally {
      compiled.remove();
    }
  });
});
