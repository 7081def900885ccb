/**
 * A month of schedules in minutes: replicas on a real PostgreSQL, a clock that jumps from event to event, outages, people
 * who suspend and resume, and replicas that die or stand still in the midst of it. What was decided is then held against the model.
 */
import type { DataSource } from 'typeorm';
import { randomUUID } from 'node:crypto';
import { Prng } from '../../src/core/prng.js';
import { contentDigest } from '../../src/system/digest.js';
import { ScheduleEntity } from '../../src/app/schedules/schedule.entity.js';
import { rulesOf } from '../../src/documents/schedule-rules.js';
import { nextTickMs, wakeMs } from '../../src/model/calendar/decide.js';
import { modelTicks, type ModelCase } from '../../src/documents/testing/tick-model.js';
import { drawSchedule, MONTH_FROM_MS } from './draw.js';
import { connect, storeOn } from './replica.js';
import { pause, Upsets, type Replica, type UpsetChances, type UpsetCounts } from './upsets.js';

export interface MonthSettings {
  /** With our schema. */
  databaseUrl: string;
  seed: number;
  schedules: number;
  days: number;
  /** Begins a replica. */
  replica: (name: string) => Promise<Replica>;
  replicas: number;
  chances: UpsetChances;
  /** Stops it in whatever it does and starts it again; needed with a chance of it. */
  restartDatabase?: () => Promise<void>;
  onDay?: (day: number) => void;
}

export interface MonthResult extends UpsetCounts {
  ticks: number;
  runs: number;
  skips: Record<string, number>;
  looks: number;
  /** Runs that a tick has beyond the one, and ticks that were decided twice. */
  duplicates: number;
  /** Ticks that the database has and the model has not, or the other way round, or with another outcome. */
  unexplained: number;
  /** The first of them in words. */
  differences: string[];
}

const LOOK_EVERY_MS = 60_000;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const OUTAGE_CHANCE = 0.004;
const LONGEST_OUTAGE_MS = 10 * HOUR_MS;
const TURN_CHANCE = 0.02;
const MOST_DIFFERENCES = 20;

export async function liveMonth(settings: MonthSettings): Promise<MonthResult> {
  const dataSource = await connect(settings.databaseUrl, 'month');
  const replicas = new Map<string, Replica>();
  try {
    const cases = await prepare(dataSource, settings);
    for (let at = 0; at < settings.replicas; at++) {
      const name = `replica-${at}`;
      replicas.set(name, await settings.replica(name));
    }
    const { restartDatabase } = settings;
    const random = new Prng(settings.seed).stream('upsets');
    const upsets = new Upsets({ dataSource, replicas, restartDatabase }, random, settings.chances);
    const looks = await live(dataSource, cases, upsets, settings);
    return { ...(await compare(dataSource, cases, looks)), ...upsets.counts, looks: looks.length };
  } finally {
    await Promise.all([...replicas.values()].map((replica) => replica.stop()));
    await dataSource.destroy();
  }
}

async function prepare(
  dataSource: DataSource,
  { seed, schedules }: MonthSettings,
): Promise<(ModelCase & { turnedAtMs: number[] })[]> {
  await dataSource.query('CREATE TABLE virtual_clock (now timestamptz NOT NULL)');
  await dataSource.query('INSERT INTO virtual_clock VALUES ($1)', [new Date(MONTH_FROM_MS)]);
  await dataSource.query('CREATE TABLE run_lengths (schedule_id uuid PRIMARY KEY, length interval NOT NULL)');
  const cases: (ModelCase & { turnedAtMs: number[] })[] = [];
  for (let index = 0; index < schedules; index++) {
    const { name, written, spec, lengthMs, refused } = drawSchedule(seed, index);
    const id = randomUUID();
    const rules = { ...rulesOf(spec), id };
    const nextMs = nextTickMs(rules, MONTH_FROM_MS);
    const definition = { apiVersion: 'fabricdrill/v1', kind: 'Schedule', metadata: { name }, spec: written };
    const begun = new Date(MONTH_FROM_MS);
    await dataSource.getRepository(ScheduleEntity).insert({
      ...{ id, name, definition: definition as never, digest: contentDigest(definition) },
      ...{
        suspendedAt: null,
        suspendReason: null,
        suspendCode: null,
        settledAt: begun,
        createdAt: begun,
        updatedAt: begun,
      },
      nextAt: new Date(nextMs!),
      wakeAt: new Date(wakeMs(rules, nextMs, MONTH_FROM_MS)!),
    });
    await dataSource.query(`INSERT INTO run_lengths VALUES ($1, $2 * interval '1 millisecond')`, [
      id,
      lengthMs,
    ]);
    cases.push({ id, spec, lengthMs, refused, turnedAtMs: [] });
  }
  return cases;
}

async function live(
  dataSource: DataSource,
  cases: readonly { id: string; turnedAtMs: number[] }[],
  upsets: Upsets,
  { seed, days, onDay }: MonthSettings,
): Promise<number[]> {
  const random = new Prng(seed).stream('events');
  const people = storeOn(dataSource);
  const looks: number[] = [];
  const untilMs = MONTH_FROM_MS + days * DAY_MS;
  for (let nowMs = MONTH_FROM_MS; ;) {
    nowMs = await nextEvent(dataSource, nowMs, untilMs);
    if (random.uniform() < OUTAGE_CHANCE)
      nowMs += random.below(LONGEST_OUTAGE_MS / LOOK_EVERY_MS) * LOOK_EVERY_MS;
    if (nowMs > untilMs) return looks;
    const [before, after] = [looks[looks.length - 1] ?? MONTH_FROM_MS, nowMs].map((ms) =>
      Math.floor(ms / DAY_MS),
    );
    if (after > before) onDay?.(after - Math.floor(MONTH_FROM_MS / DAY_MS));
    await moveClock(dataSource, nowMs);
    looks.push(nowMs);
    await upsets.perhaps();
    await quiet(dataSource, nowMs);
    if (random.uniform() < TURN_CHANCE) {
      const one = cases[random.below(cases.length)];
      await turn(people, one, nowMs);
    }
  }
}

/** The next time at which something is to be decided, on the minute; windows and ticks both. */
async function nextEvent(dataSource: DataSource, nowMs: number, untilMs: number): Promise<number> {
  const [{ wake }] = await dataSource.query<[{ wake: Date | null }]>(
    'SELECT min(wake_at) AS wake FROM schedules',
  );
  const ms = Math.max(wake?.getTime() ?? untilMs + 1, nowMs + 1);
  return Math.ceil(ms / LOOK_EVERY_MS) * LOOK_EVERY_MS;
}

/** Runs that are over by then end in the same moment. */
const moveClock = (dataSource: DataSource, nowMs: number): Promise<void> =>
  dataSource.transaction(async (manager) => {
    await manager.query(
      `UPDATE runs SET state = 'passed', ended_at = $1 FROM run_lengths l
        WHERE l.schedule_id = runs.schedule_id AND runs.ended_at IS NULL AND runs.created_at + l.length <= $1`,
      [new Date(nowMs)],
    );
    await manager.query('UPDATE virtual_clock SET now = $1', [new Date(nowMs)]);
  });

async function quiet(dataSource: DataSource, nowMs: number): Promise<void> {
  for (;;) {
    const [{ open }] = await dataSource.query<[{ open: string }]>(
      'SELECT count(*) AS open FROM schedules WHERE wake_at <= $1',
      [new Date(nowMs)],
    );
    if (open === '0') return;
    await pause(4);
  }
}

/** People do not wait for a tick: what is due by then has been decided. */
async function turn(
  people: ReturnType<typeof storeOn>,
  one: { id: string; turnedAtMs: number[] },
  nowMs: number,
): Promise<void> {
  const suspend = one.turnedAtMs.length % 2 === 0;
  await people.change(one.id, (row, now) => {
    row.suspendedAt = suspend ? now : null;
    row.suspendReason = suspend ? 'people' : null;
    return false;
  });
  one.turnedAtMs.push(nowMs);
}

async function compare(
  dataSource: DataSource,
  cases: readonly ModelCase[],
  looks: readonly number[],
): Promise<Omit<MonthResult, keyof UpsetCounts | 'looks'>> {
  const differences: string[] = [];
  const skips: Record<string, number> = {};
  let [ticks, runs] = [0, 0];
  for (const one of cases) {
    const rows = await dataSource.query<{ nominal_at: Date; outcome: string }[]>(
      `SELECT nominal_at, coalesce(reason, outcome) AS outcome FROM schedule_ticks WHERE schedule_id = $1 ORDER BY nominal_at`,
      [one.id],
    );
    const found = new Map(rows.map(({ nominal_at, outcome }) => [nominal_at.getTime(), outcome]));
    for (const { nominalMs, outcome } of modelTicks(one, looks, MONTH_FROM_MS)) {
      const actual = found.get(nominalMs);
      found.delete(nominalMs);
      ticks++;
      if (outcome === 'run') runs++;
      else skips[outcome] = (skips[outcome] ?? 0) + 1;
      if (actual !== outcome) differences.push(difference(one, nominalMs, outcome, actual ?? 'nothing'));
    }
    for (const [nominalMs, actual] of found) differences.push(difference(one, nominalMs, 'nothing', actual));
  }
  const duplicates = await countDuplicates(dataSource);
  const unexplained = differences.length;
  return { ticks, runs, skips, duplicates, unexplained, differences: differences.slice(0, MOST_DIFFERENCES) };
}

const difference = ({ spec }: ModelCase, nominalMs: number, wanted: string, actual: string): string =>
  `${new Date(nominalMs).toISOString()}: the model says ${wanted}, the database ${actual}: ${JSON.stringify(spec)}`;

/** A run without its tick, two ticks with one run, and ticks that say `run` and have none. */
async function countDuplicates(dataSource: DataSource): Promise<number> {
  const [{ strays }] = await dataSource.query<[{ strays: string }]>(
    `SELECT (SELECT count(*) FROM runs r WHERE (SELECT count(*) FROM schedule_ticks t WHERE t.run_id = r.id) <> 1)
          + (SELECT count(*) FROM schedule_ticks WHERE outcome = 'run' AND run_id IS NULL)
          + (SELECT count(*) FROM run_transitions t WHERE state = 'pending' AND seq > 1) AS strays`,
  );
  return Number(strays);
}
