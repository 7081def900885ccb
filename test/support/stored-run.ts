/**
 * A database with our schema and rows of runs in it, for specs of what reads and writes them.
 */
import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { MIGRATIONS } from '../../migrations/index.js';
import { openDatabase } from '../../src/store/database/database.js';
import { RUN_ENTITIES } from '../../src/store/runs/run.entity.js';
import { recordTransition } from '../../src/store/runs/run-store.js';
import { createTestDatabase, testHome } from './database.js';

export interface RunsDatabase {
  dataSource: DataSource;
  /** A run that is pending; its id. */
  storeRun(fabric?: string): Promise<string>;
  drop(): Promise<void>;
}

export async function createRunsDatabase(): Promise<RunsDatabase> {
  const empty = await createTestDatabase();
  const database = await openDatabase(
    { home: testHome(), databaseUrl: empty.url },
    { entities: RUN_ENTITIES, migrations: MIGRATIONS },
  );
  const { dataSource } = database;
  return {
    dataSource,
    storeRun: async (fabric = 'fabric') => {
      const id = randomUUID();
      await dataSource.transaction(async (manager) => {
        await manager.query(
          `INSERT INTO runs (id, experiment_name, fabric_name, driver, definition, fabric_definition, plan, seed, state, version)
           VALUES ($1, 'experiment', $2, 'simulated', '{}', '{}', '{}', 1, 'pending', '0.0.0')`,
          [id, fabric],
        );
        await recordTransition(manager, id, 'pending', null);
      });
      return id;
    },
    drop: async () => {
      await database.close();
      await empty.drop();
    },
  };
}
