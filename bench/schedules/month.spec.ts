/** Some days of schedules on a real PostgreSQL, with replicas whose connections are cut off in mid-transaction. */
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { MIGRATIONS } from '../../migrations/index.js';
import { openDatabase } from '../../src/platform/database/database.js';
import { createTestDatabase, keepTestServer, testHome } from '../../test/support/database.js';
import { liveMonth, type Replica } from './month.js';
import { connect, lookOn, storeOn } from './replica.js';

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
        ...{ databaseUrl: empty.url, seed: 1, schedules: 24, days: 2, replicas: 3, killChance: 0.3 },
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
});
