/**
 * One replica of the service as far as schedules go: the real store on a connection of its own, looking without a pause.
 *
 * The clock is a row of the database, so that a month passes in minutes. Runs are stored as any run is, but nobody plans or
 * executes them.
 */
import { randomUUID } from 'node:crypto';
import { DataSource, type EntityManager } from 'typeorm';
import { InputError } from '../../src/core/problem.js';
import { RUN_ENTITIES, RunEntity } from '../../src/store/runs/run.entity.js';
import { recordTransition } from '../../src/store/runs/run-store.js';
import { requestAbort } from '../../src/app/runs/runs.service.js';
import { SCHEDULE_ENTITIES } from '../../src/app/schedules/schedule.entity.js';
import { ScheduleStore } from '../../src/app/schedules/schedule-store.js';
import type { Prepared, ScheduledRun } from '../../src/app/schedules/scheduled-runs.js';
import { GONE } from './draw.js';

const PAUSE_MS = 8;

export async function connect(databaseUrl: string, name: string): Promise<DataSource> {
  const dataSource = new DataSource({
    type: 'postgres',
    url: databaseUrl,
    entities: [...RUN_ENTITIES, ...SCHEDULE_ENTITIES],
    poolSize: 2,
    applicationName: name,
    // a replica whose connection is cut off comes back by itself
    poolErrorHandler: () => undefined,
  });
  return dataSource.initialize();
}

async function virtualNow(manager: EntityManager): Promise<number> {
  const [{ now }] = await manager.query<[{ now: Date }]>('SELECT now FROM virtual_clock');
  return now.getTime();
}

/** @param standsStillMs after which a transaction is lost; the service's own when left out */
export function storeOn(dataSource: DataSource, standsStillMs?: number): ScheduleStore {
  return new ScheduleStore(
    dataSource,
    {
      prepare: async (request) => {
        if (request.experimentRef === GONE)
          throw InputError.at('/spec/experimentRef', 'there is no such experiment');
        return { kind: 'run', run: runOf(request, await virtualNow(dataSource.manager)) };
      },
      store: async (manager, prepared) => {
        const { run } = prepared as Extract<Prepared, { kind: 'run' }>;
        await manager.insert(RunEntity, run as never);
        await recordTransition(manager, run.id, 'pending', null);
      },
      requestAbort: async (manager, { id }, reason) => void (await requestAbort(manager, id, reason)),
    },
    virtualNow,
    standsStillMs,
  );
}

function runOf({ id, scheduleId, experimentRef }: ScheduledRun, nowMs: number): RunEntity {
  return Object.assign(new RunEntity(), {
    ...{ id, scheduleId, experimentId: null, experimentName: experimentRef!, fabricName: randomUUID() },
    ...{ driver: 'simulated', definition: {}, fabricDefinition: {}, plan: {}, seed: 1 },
    ...{ state: 'pending' as const, fence: 0, version: '0.0.0', createdAt: new Date(nowMs) },
  });
}

/** Looks until it is told to stop; whatever fails is tried again, as the service does. */
export async function lookOn(store: ScheduleStore, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    try {
      const ids = await store.toWake();
      for (const id of ids) if (!isOver()) await store.settle(id);
      if (ids.length > 0) continue;
    } catch {
      // the connection was cut off, which is what this is about
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
