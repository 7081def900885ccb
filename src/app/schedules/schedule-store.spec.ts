/** What the month of `bench/schedules` does not meet: clocks that are put back, files that are no longer taken, queues of ticks. */
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { DataSource, EntityManager } from 'typeorm';
import { until } from '../../../test/support/until.js';
import { MIGRATIONS } from '../../../migrations/index.js';
import { createTestDatabase, testHome } from '../../../test/support/database.js';
import { openDatabase } from '../../store/database/database.js';
import { contentDigest } from '../../system/digest.js';
import { RUN_ENTITIES, type RunEntity } from '../../store/runs/run.entity.js';
import { SCHEDULE_ENTITIES, ScheduleEntity } from './schedule.entity.js';
import { dueMs } from '../../model/calendar/decide.js';
import { ScheduleStore } from './schedule-store.js';
import type { OpenWork, Prepared, ScheduledRun } from './scheduled-runs.js';

jest.setTimeout(60_000);

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const BEGIN_MS = Date.parse('2027-01-01T00:00:30Z');

describe('the store of schedules', () => {
  let close: () => Promise<void>;
  let dataSource: DataSource;
  let store: ScheduleStore;
  let nowMs: number;
  let refuse: Error | undefined;
  let thawed: Promise<string>;

  const runs = {
    prepare: (request: ScheduledRun): Promise<Prepared> =>
      refuse === undefined
        ? Promise.resolve({ kind: 'run', run: request as unknown as RunEntity })
        : Promise.reject(refuse),
    store: async (manager: EntityManager, prepared: Prepared): Promise<void> => {
      const { run } = prepared as Extract<Prepared, { kind: 'run' }>;
      await manager.query(
        `INSERT INTO runs (id, schedule_id, experiment_name, fabric_name, driver, definition, fabric_definition, plan, seed, state, version)
         VALUES ($1, $2, 'drill', 'small', 'simulated', '{}', '{}', '{}', 1, 'pending', '0.0.0')`,
        [run.id, run.scheduleId],
      );
    },
    requestAbort: async (manager: EntityManager, { id }: OpenWork, reason: string): Promise<void> => {
      await manager.query(`UPDATE runs SET ended_at = now(), abort_reason = $2 WHERE id = $1`, [id, reason]);
    },
  };

  beforeAll(async () => {
    const empty = await createTestDatabase();
    const schema = { entities: [...RUN_ENTITIES, ...SCHEDULE_ENTITIES], migrations: MIGRATIONS };
    const database = await openDatabase({ home: testHome(), databaseUrl: empty.url }, schema);
    dataSource = database.dataSource;
    store = new ScheduleStore(dataSource, runs, () => Promise.resolve(nowMs));
    close = async () => {
      await database.close();
      await empty.drop();
    };
  });
  afterAll(() => close());
  beforeEach(async () => {
    await dataSource.query('DELETE FROM schedules');
    await dataSource.query('DELETE FROM runs');
    nowMs = BEGIN_MS;
    refuse = undefined;
  });

  /** Stored at the beginning; its first tick is the next full hour. */
  async function hourly(spec: object = {}): Promise<string> {
    const id = randomUUID();
    const definition = {
      ...{ apiVersion: 'fabricdrill/v1', kind: 'Schedule', metadata: { name: id.slice(0, 8) } },
      spec: {
        experimentRef: 'drill',
        cron: '0 * * * *',
        timeZone: 'UTC',
        concurrencyPolicy: 'Allow',
        ...spec,
      },
    };
    const first = new Date(Math.ceil(BEGIN_MS / HOUR_MS) * HOUR_MS);
    const begun = new Date(BEGIN_MS);
    await dataSource.getRepository(ScheduleEntity).insert({
      ...{ id, name: id, definition: definition as never, digest: contentDigest(definition) },
      ...{ suspendedAt: null, suspendReason: null, suspendCode: null, nextAt: first, wakeAt: first },
      ...{ settledAt: begun, createdAt: begun, updatedAt: begun },
    });
    return id;
  }

  async function lookAt(timeMs: number): Promise<void> {
    nowMs = timeMs;
    for (const id of await store.toWake()) while ((await store.settle(id))?.more === true);
  }

  const ticks = async (id: string): Promise<string[]> => {
    const rows = await dataSource.query<{ nominal_at: Date; outcome: string }[]>(
      `SELECT nominal_at, coalesce(reason, outcome) AS outcome FROM schedule_ticks WHERE schedule_id = $1 ORDER BY nominal_at`,
      [id],
    );
    return rows.map(({ nominal_at, outcome }) => `${nominal_at.toISOString().slice(11, 16)} ${outcome}`);
  };
  const hour = (count: number): number => Math.ceil(BEGIN_MS / HOUR_MS - 1) * HOUR_MS + count * HOUR_MS;

  test('decides anew what was skipped in a time that a clock, put back since, had run ahead to; runs stay', async () => {
    const id = await hourly();
    await lookAt(hour(1));
    await lookAt(hour(6));
    expect(await ticks(id)).toEqual([
      '01:00 run',
      '02:00 missed',
      '03:00 missed',
      '04:00 missed',
      '05:00 missed',
      '06:00 run',
    ]);
    for (let at = 1; at <= 7; at++) await lookAt(hour(at) + MINUTE_MS);
    const all = ['01:00 run', '02:00 run', '03:00 run', '04:00 run', '05:00 run', '06:00 run', '07:00 run'];
    expect(await ticks(id)).toEqual(all);
    const [{ count }] = await dataSource.query<[{ count: string }]>('SELECT count(*) FROM runs');
    expect(count).toBe('7');
  });

  test('lets a schedule wait where the clock is put back by less', async () => {
    const id = await hourly();
    await lookAt(hour(1));
    await lookAt(hour(1) - 30_000);
    await lookAt(hour(1) + 1000);
    expect(await ticks(id)).toEqual(['01:00 run']);
  });

  test('writes every tick of a long outage, some hundreds a transaction', async () => {
    const id = await hourly({ cron: '* * * * *' });
    await lookAt(hour(11));
    const written = await ticks(id);
    expect(written.length).toBe(10 * 60 + 1);
    expect(written.filter((tick) => tick.endsWith(' run')).length).toBe(6);
  });

  /** A replica that stands still in the midst of a schedule until it is woken; the database waits so long for it. */
  async function standstill(id: string, standsStillMs?: number): Promise<() => Promise<string>> {
    let wake = (): void => undefined;
    const asleep = new Promise<void>((resolve) => (wake = resolve));
    await new Promise<void>((held) => {
      const prepare = async (request: ScheduledRun): Promise<Prepared> => {
        held();
        await asleep;
        return runs.prepare(request);
      };
      const clock = (): Promise<number> => Promise.resolve(nowMs);
      const frozen = new ScheduleStore(dataSource, { ...runs, prepare }, clock, standsStillMs);
      thawed = frozen.settle(id).then(
        () => 'written',
        () => 'refused',
      );
    });
    return () => {
      wake();
      return thawed;
    };
  }

  test('passes on a schedule that another replica is at', async () => {
    const id = await hourly();
    nowMs = hour(1) + 1000;
    const wake = await standstill(id);
    expect(await store.settle(id)).toBeUndefined();
    expect(await wake()).toBe('written');
    expect(await ticks(id)).toEqual(['01:00 run']);
  });

  test('takes a tick from a replica that was frozen in the midst of it, which can write nothing when it wakes', async () => {
    const id = await hourly();
    nowMs = hour(1) + 1000;
    const wake = await standstill(id, 300);
    await until(
      async () => (await store.settle(id))?.runIds.length === 1,
      'the database to take its lock away',
    );
    expect(await wake()).toBe('refused');
    expect(await ticks(id)).toEqual(['01:00 run']);
    await lookAt(hour(2));
    expect(await ticks(id)).toEqual(['01:00 run', '02:00 run']);
  });

  test('tries a tick again whose connection the database cut off, as when it fails over, and writes it once', async () => {
    const id = await hourly();
    nowMs = hour(1) + 1000;
    let cuts = 3;
    const store = async (manager: EntityManager, prepared: Prepared): Promise<void> => {
      await runs.store(manager, prepared);
      if (cuts-- > 0) await manager.query('SELECT pg_terminate_backend(pg_backend_pid())');
    };
    const failing = new ScheduleStore(dataSource, { ...runs, store }, () => Promise.resolve(nowMs));
    for (let lost = 0; lost < 3; lost++) await expect(failing.settle(id)).rejects.toThrow();
    expect(await ticks(id)).toEqual([]);
    expect((await failing.settle(id))?.runIds).toHaveLength(1);
    expect(await ticks(id)).toEqual(['01:00 run']);
    const [{ count }] = await dataSource.query<[{ count: string }]>('SELECT count(*) FROM runs');
    expect(count).toBe('1');
  });

  test('decides what is due before a change, by the old state', async () => {
    const id = await hourly();
    nowMs = hour(1) + 1000;
    const changed = await store.change(id, (row, now) => {
      row.suspendedAt = now;
      return false;
    });
    expect(changed?.runIds).toHaveLength(1);
    await lookAt(hour(2));
    expect(await ticks(id)).toEqual(['01:00 run', '02:00 suspended']);
  });

  describe('replaced between a tick and the start that jitter puts off', () => {
    /** One whose start is put off by so much that other ticks lie between; the id decides, which is drawn. */
    const putOff = async (): Promise<{ id: string; due: number }> => {
      for (;;) {
        const id = await hourly({ jitter: '50m' });
        const due = dueMs({ id, jitterMs: 50 * MINUTE_MS }, hour(1));
        if (due >= hour(1) + 5 * MINUTE_MS) return { id, due };
        await dataSource.getRepository(ScheduleEntity).delete(id);
      }
    };
    const replaced = async (spec: object): Promise<string[]> => {
      const { id, due } = await putOff();
      const row = await dataSource.getRepository(ScheduleEntity).findOneByOrFail({ id });
      nowMs = (hour(1) + due) / 2;
      const definition = row.definition as { spec: object };
      await store.change(id, (changed) => {
        changed.definition = { ...definition, spec: { ...definition.spec, ...spec } };
        changed.digest = contentDigest(changed.definition);
        return true;
      });
      await lookAt(due + 1000);
      return ticks(id);
    };

    test('keeps the tick, where the new file has it too', async () => {
      expect(await replaced({ description: 'of the same times' })).toEqual(['01:00 run']);
    });

    test('explains that it did not start, where the new file has it not', async () => {
      expect(await replaced({ cron: '30 0 * * *', jitter: '0s' })).toEqual(['01:00 replaced']);
    });

    test('starts none of those that the new file would have had meanwhile', async () => {
      const [first] = await replaced({ cron: '* * * * *', jitter: '0s', startingDeadline: '1d' });
      expect(first).toBe('01:00 replaced');
    });
  });

  test('aborts and skips in a window, and says in which', async () => {
    const id = await hourly({ blackouts: [{ from: '01:30', to: '02:30', onEnter: 'abort' }] });
    await lookAt(hour(1));
    await lookAt(hour(1) + 30 * MINUTE_MS);
    const [{ abort_reason }] = await dataSource.query<[{ abort_reason: string }]>(
      'SELECT abort_reason FROM runs',
    );
    const window = 'the blackout 01:30 to 02:30, until 2027-01-01 02:30 +00:00';
    expect(abort_reason).toBe(`its schedule "${id}" has entered ${window}`);
    await lookAt(hour(2));
    const [{ detail }] = await dataSource.query<[{ detail: string }]>(
      `SELECT detail FROM schedule_ticks WHERE reason = 'blackout'`,
    );
    expect(detail).toBe(`in ${window}`);
  });

  test('leaves connections to plan with, however many change schedules that are due', async () => {
    const ids = await Promise.all(Array.from({ length: 25 }, () => hourly()));
    nowMs = hour(1) + 1000;
    const prepare = async (request: ScheduledRun): Promise<Prepared> => {
      await dataSource.query('SELECT 1');
      return runs.prepare(request);
    };
    const planning = new ScheduleStore(dataSource, { ...runs, prepare }, () => Promise.resolve(nowMs));
    const changed = await Promise.all(ids.map((id) => planning.change(id, () => false)));
    expect(changed.map((one) => one?.runIds.length)).toEqual(ids.map(() => 1));
  });

  test('suspends a schedule whose file this version does not take, and says why', async () => {
    const id = await hourly({ unheardOf: true });
    await lookAt(hour(1));
    const row = await dataSource.getRepository(ScheduleEntity).findOneByOrFail({ id });
    expect(row.suspendedAt).toEqual(new Date(hour(1)));
    expect(row.suspendReason).toContain('unheardOf');
    expect(await ticks(id)).toEqual([]);
  });

  test('tries again after a database that was lost, and explains any other failure', async () => {
    const id = await hourly();
    refuse = Object.assign(new Error('gone'), { code: '57P01' });
    await expect(lookAt(hour(1))).rejects.toThrow('gone');
    expect(await ticks(id)).toEqual([]);
    refuse = new Error('a bug of ours');
    await lookAt(hour(1) + 1000);
    expect(await ticks(id)).toEqual(['01:00 refused']);
  });

  test('gives a schedule that one replica is at to no other', async () => {
    const id = await hourly();
    await dataSource.transaction(async (manager) => {
      await manager.query('SELECT 1 FROM schedules WHERE id = $1 FOR UPDATE', [id]);
      nowMs = hour(1);
      expect(await store.settle(id)).toBeUndefined();
    });
    expect((await store.settle(id))?.runIds).toHaveLength(1);
  });
});
