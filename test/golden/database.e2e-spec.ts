/**
 * A database of 5e5372a, in which runs stood at every step when their workers were killed: this version shows all of it as
 * that one did, undoes what was left in place, and begins nothing twice.
 *
 * How it came about: database/record.js. The drills had met settings that were not those of a healthy fabric, which that
 * version saved as sentences, such as "bit errors 0.000025 on 0.25 of the lanes, laser".
 */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { UndoEntry } from '../../src/drill/undo.js';
import { openFabric } from '../../src/drivers/catalog.js';
import { createSimulatedFabric } from '../../src/drivers/simulated/create-simulated-fabric.js';
import { openPaced } from '../../src/drivers/simulated/paced/open-paced.js';
import { readJournal } from '../../src/drivers/simulated/paced/record.js';
import type { ConfigurationSnapshot, Fabric } from '../../src/fabric-api/fabric.js';
import { compileProgram, type ChildProgram } from '../support/child-program.js';
import type { Json } from '../support/definitions.js';
import { queueBackends } from '../support/queue-backends.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';
import { expectGolden, readGolden, recordedFile } from './golden.js';

jest.setTimeout(240_000);

const PACED = 'cdfae3d8-b81b-43b0-b79f-2be9e4d1f436';
/** In place of that run's id, so that two checkouts are never at one simulation. */
const OWN_ID = randomUUID();

interface Row {
  id: string;
  name: string;
  state: string;
  reason: string | null;
}

let service: TestService;
let program: ChildProgram;
/** Of the paced simulations. */
let base: string;

beforeAll(async () => {
  program = compileProgram(`import './src/drivers/simulated/paced/program.js';`);
  base = mkdtempSync(join(tmpdir(), 'fd-paced-'));
  cpSync(recordedFile(`database/paced/${PACED}`), join(base, OWN_ID), { recursive: true });
  for (const file of ['record.json', 'journal.jsonl']) {
    const path = join(base, OWN_ID, file);
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(PACED, OWN_ID));
  }
  const dump = readFileSync(recordedFile('database/dump.sql'), 'utf8').replaceAll(PACED, OWN_ID);
  const [backend] = queueBackends('the golden database');
  service = await startService(backend, { api: true, worker: false, schedules: false }, {}, dump);
});

afterAll(async () => {
  await service.stop();
  program.remove();
  rmSync(base, { recursive: true });
});

/** Fabrics on which something was undone, by run. */
const opened = new Map<string, Fabric>();

const openHere: typeof openFabric = async (document, seed, instance) => {
  const definition = { name: document.metadata.name, spec: document.spec };
  const { pace } = definition.spec;
  if (instance === undefined) return openFabric(document, seed);
  if (pace === undefined) {
    const fabric = await openFabric(document, seed, instance);
    opened.set(instance.name, fabric);
    return fabric;
  }
  return openPaced(definition, seed, {
    ...{ pace, instance: instance.name, program: program.entry, base },
    standIn: () => createSimulatedFabric(definition, seed),
  });
};
const runs = (): Promise<Row[]> =>
  service.rows<Row>('SELECT id, experiment_name AS name, state, reason FROM runs ORDER BY created_at, id');
const runOf = async (name: string): Promise<Row> => (await runs()).find((run) => run.name === name)!;
/** Every number in the values of a snapshot, however these are written. */
function numbersIn(snapshot: ConfigurationSnapshot): number[] {
  const values = Object.values(snapshot).flatMap((settings) => Object.values(settings));
  const found = JSON.stringify(values).match(/\d+(\.\d+)?(e[+-]?\d+)?/g) ?? [];
  return found.map(Number).sort((one, other) => one - other);
}
const count = async (table: string, where = 'true'): Promise<number> =>
  (await service.rows<{ count: number }>(`SELECT count(*)::int AS count FROM ${table} WHERE ${where}`))[0]
    .count;

it('answers everything as it did', async () => {
  const answers: Record<string, unknown> = {};
  for (const path of Object.keys(readGolden<object>('database/answers.json'))) {
    const { status, headers, text } = await service.client.get(path.replaceAll(PACED, OWN_ID));
    const type = headers.get('content-type') ?? '';
    const said = text.replaceAll(OWN_ID, PACED).replaceAll(service.url, 'URL');
    answers[path] = type.includes('json') ? { status, body: JSON.parse(said) as unknown } : { status, type };
    expect([path, text]).toEqual([path, expect.stringMatching(/./)]);
  }
  await expectGolden('database/answers.json', answers);
});

describe('once a worker and the schedules are at work', () => {
  const before = { runs: 0, injected: 0, ticks: 0, gateRuns: 0 };
  const now = async (): Promise<typeof before> => ({
    runs: await count('runs'),
    injected: await count('run_events', `type = 'injected'`),
    ticks: await count('schedule_ticks'),
    gateRuns: await count('gate_runs'),
  });
  let worker: { close(): Promise<void> };

  beforeAll(async () => {
    Object.assign(before, await now());
    worker = await service.join({
      ...{ api: true, schedules: true },
      worker: { sweepMs: 300, openFabric: openHere },
    });
    const open = (): Promise<number> => count('runs', 'ended_at IS NULL');
    await until(async () => (await open()) === 0, 'the end of all runs', 180_000);
  });
  afterAll(() => worker.close());

  it.each([
    ['every-setting', 17],
    ['polarised', 20],
    ['paced', 15],
  ])('what %s left in place is as it was found', async (name, impairments) => {
    const run = await runOf(name);
    expect(run).toMatchObject({
      state: 'error',
      reason: `the worker was lost in state holding; ${impairments} impairments were reverted`,
    });
    const all = await service.rows('SELECT status, error FROM undo_entries WHERE run_id = $1', [run.id]);
    expect(all).toEqual(Array.from({ length: impairments }, () => ({ status: 'verified', error: null })));
  });

  it.each([
    ['every-setting', 10],
    ['polarised', 20],
  ])('what %s had found is what is there again, to the number', async (name, numbered) => {
    const { id } = await runOf(name);
    const entries = await service.rows<Pick<UndoEntry, 'impairment' | 'saved'>>(
      'SELECT impairment, saved FROM undo_entries WHERE run_id = $1 ORDER BY ordinal',
      [id],
    );
    const found = await Promise.all(entries.map(({ impairment }) => opened.get(id)!.readBack(impairment)));
    expect(found.map(numbersIn)).toEqual(entries.map(({ saved }) => numbersIn(saved)));
    expect(found.filter((snapshot) => numbersIn(snapshot).length > 0)).toHaveLength(numbered);
  });

  it('the record of the paced simulation tells that all of it was reverted', () => {
    const journal = readJournal(join(base, OWN_ID));
    const idsOf = (what: string): unknown[] =>
      journal.flatMap(({ did, id }) => (did === what && id?.startsWith(OWN_ID) === true ? [id] : []));
    expect(idsOf('applied')).toHaveLength(15);
    expect([...new Set(idsOf('reverted'))].sort()).toEqual(idsOf('applied').sort());
  });

  it('what had not begun ran once, and nothing else did', async () => {
    const pending = (await runs()).filter(({ name }) => name === 'passes').at(-1);
    expect(pending).toMatchObject({ state: 'passed' });
    expect(await now()).toEqual({ ...before, injected: before.injected + 1 });
    const days = await service.rows('SELECT name, state FROM game_days ORDER BY name');
    expect(days).toEqual([
      { name: 'autumn', state: 'completed' },
      { name: 'dark', state: 'waiting' },
      { name: 'winter', state: 'waiting' },
    ]);
  });

  it('the fabric that could not be reverted takes no run until somebody has looked', async () => {
    const { id } = await runOf('stays-in-place');
    const { body } = await service.client.get('/v1/experiments?name=stays-in-place');
    const runAddress = `/v1/experiments/${body.data[0].id}/runs`;
    // the dump has it from a simulation, of which nothing is left today: it blocks as a run of a real fabric does
    await service.rows(`UPDATE runs SET driver = 'linux' WHERE id = $1`, [id]);
    expect((await service.client.post(runAddress, { pace: '10x' })).status).toBe(409);
    expect((await service.client.post(`/v1/runs/${id}/clear`, { reason: 'replaced it' })).status).toBe(200);
    const { status, body: run } = await service.client.post(runAddress);
    expect(status).toBe(202);
    expect(await service.client.ended(run.id as string)).toMatchObject({ state: 'passed' });
  });

  it('game days go on: one after its pause, one with the diagnosis of its team', async () => {
    const days = await service.rows<{ id: string; name: string }>('SELECT id, name FROM game_days');
    const address = (wanted: string): string =>
      `/v1/game-days/${days.find(({ name }) => name === wanted)!.id}`;
    const ended = (name: string): Promise<void> =>
      until(
        async () => (await service.client.get(address(name))).body.endedAt !== null,
        `the end of ${name}`,
        60_000,
      );
    await service.client.post(`${address('winter')}/continue`, { stage: 'again', by: 'ada' });
    await ended('winter');
    const [{ run_id: run }] = await service.rows<{ run_id: string }>(
      'SELECT run_id FROM game_day_items WHERE seal IS NOT NULL',
    );
    const verdict = { faultFound: false, culprits: [] };
    const committed = await service.client.post(`${address('dark')}/commit`, { run, author: 'ada', verdict });
    expect([committed.status, committed.text]).toEqual([200, expect.any(String)]);
    await ended('dark');
    const report = await service.client.get(`${address('dark')}/report`);
    expect(report.status).toBe(200);
  });

  it.each(['real', 'real-day'])('a tick of %s, which nobody confirmed, suspends it', async (name) => {
    const [{ id }] = await service.rows<{ id: string }>(
      `UPDATE schedules SET next_at = now() - interval '1 second', wake_at = now() WHERE name = $1 RETURNING id`,
      [name],
    );
    const show = async (): Promise<Json> => (await service.client.get(`/v1/schedules/${id}`)).body as Json;
    await until(async () => (await show()).suspendedAt !== null, `the suspension of ${name}`, 5000);
    expect(await show()).toMatchObject({ suspendCode: 'confirmation-required' });
    const { body } = await service.client.get(`/v1/schedules/${id}/ticks?outcome=run`);
    expect(body.data).toEqual([]);
  });
});
