/**
 * Schedules over real HTTP, queue and database: what is refused, what a tick becomes, and that replicas share the ticks.
 *
 * No cron expression is shorter than a minute, so ticks are brought near by setting back what the row says of the next one.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { experimentDocument, fabricDocument, yamlOf, type Json } from '../support/definitions.js';
import type { HttpClient } from '../support/http-client.js';
import { queueBackends } from '../support/queue-backends.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

jest.setTimeout(60_000);

const scheduleDocument = (name: string, spec: Json = {}): Json => ({
  apiVersion: 'fabricdrill/v1',
  kind: 'Schedule',
  metadata: { name },
  spec: { experimentRef: 'cut', cron: '0 4 * * *', timeZone: 'Asia/Tokyo', ...spec },
});

const [backend] = queueBackends('schedules');

describe('schedules', () => {
  let service: TestService;
  let client: HttpClient;

  beforeAll(async () => {
    service = await startService(backend, { api: true, worker: true });
    client = service.client;
    expect((await client.post('/v1/fabrics', fabricDocument('small'))).status).toBe(201);
    expect((await client.post('/v1/experiments', experimentDocument('cut', 'small'))).status).toBe(201);
  });
  afterAll(() => service.stop());

  const create = async (name: string, spec?: Json): Promise<string> => {
    const created = await client.post('/v1/schedules', scheduleDocument(name, spec));
    expect([created.status, created.text]).toEqual([201, expect.any(String)]);
    return created.body.id as string;
  };
  /** As if its next tick had come `late` ago. */
  const bringNear = (id: string, lateMs = 0): Promise<unknown[]> =>
    service.rows(
      `UPDATE schedules SET next_at = date_trunc('second', now()) - $2 * interval '1 millisecond', wake_at = now() WHERE id = $1`,
      [id, lateMs],
    );
  const ticksOf = async (id: string, query = ''): Promise<Json[]> =>
    (await client.get(`/v1/schedules/${id}/ticks${query}`)).body.data as Json[];
  const tickOf = async (id: string): Promise<Json> => {
    await until(async () => (await ticksOf(id)).length > 0, 'a tick');
    return (await ticksOf(id))[0];
  };

  it('are stored once, shown with their next ten ticks, replaced and deleted', async () => {
    const document = scheduleDocument('nightly');
    const created = await client.yaml('POST', '/v1/schedules', yamlOf(document));
    expect(created.status).toBe(201);
    const address = created.headers.get('location')!;
    expect((await client.post('/v1/schedules', document)).status).toBe(200);
    const shown = (await client.get(address)).body;
    expect(shown).toMatchObject({
      name: 'nightly',
      experimentRef: 'cut',
      suspendedAt: null,
      definition: document,
    });
    expect(shown.upcoming).toHaveLength(10);
    expect(shown.upcoming[0]).toMatchObject({ nominalAt: shown.nextAt, skipped: null });
    expect(shown.upcoming[0].local).toMatch(/ 04:00 \+09:00$/);
    const other = scheduleDocument('nightly', { cron: '30 5 * * 1', jitter: '10m' });
    expect((await client.post('/v1/schedules', other)).status).toBe(409);
    expect((await client.send('PUT', address, other)).body.upcoming[0].local).toMatch(/ 05:30 \+09:00$/);
    expect((await client.get('/v1/schedules?name=nightly')).body.data).toHaveLength(1);
    expect((await client.send('DELETE', address)).status).toBe(204);
    expect((await client.get(address)).status).toBe(404);
  });

  it('are refused with pointer, line and the valid choice', async () => {
    const refused = async (spec: Json): Promise<Json> => {
      const answer = await client.yaml('POST', '/v1/schedules', yamlOf(scheduleDocument('wrong', spec)));
      expect(answer.status).toBe(400);
      return answer.body.errors[0] as Json;
    };
    expect(await refused({ timeZone: 'Asia/Tokio' })).toMatchObject({
      pointer: '/spec/timeZone',
      line: 8,
      hint: 'did you mean "Asia/Tokyo"?',
    });
    expect(await refused({ cron: '0 4 30 2 *' })).toMatchObject({ pointer: '/spec/cron', line: 7 });
    expect(await refused({ experimentRef: 'cutt' })).toMatchObject({
      pointer: '/spec/experimentRef',
      line: 6,
      hint: 'did you mean "cut"?',
    });
    expect(await refused({ timeZone: 'BST' })).toMatchObject({ hint: 'such as Europe/London' });
    expect(await refused({ fabric: 'smal' })).toMatchObject({ pointer: '/spec/fabric', line: 9 });
    expect(await refused({ blackouts: [{ from: '00:00', to: '12:00' }] })).toMatchObject({
      pointer: '/spec/blackouts',
    });
    const past = {
      ...scheduleDocument('past'),
      spec: { experimentRef: 'cut', once: '2020-01-01T04:00', timeZone: 'UTC' },
    };
    expect((await client.post('/v1/schedules', past)).body.errors[0]).toMatchObject({
      pointer: '/spec/once',
    });
  });

  it('turn a tick into a run that goes to its end and says whose it is', async () => {
    const id = await create('due', { seed: 5 });
    await bringNear(id);
    const tick = await tickOf(id);
    expect(tick).toMatchObject({ outcome: 'run', reason: null });
    const run = await client.ended(tick.runId as string);
    expect(run).toMatchObject({ state: 'passed', scheduleId: id, seed: 5 });
    expect((await client.get(`/v1/runs?schedule=${id}`)).body.data).toHaveLength(1);
    expect(
      new Date((await client.get(`/v1/schedules/${id}`)).body.nextAt as string).getTime(),
    ).toBeGreaterThan(Date.now());
  });

  it('explain every tick that becomes no run', async () => {
    const late = await create('late');
    await bringNear(late, 3_600_000);
    expect(await tickOf(late)).toMatchObject({ outcome: 'skip', reason: 'missed', runId: null });
    const once = await create('late-once', { missedRunPolicy: 'runOnce' });
    await bringNear(once, 3_600_000);
    expect(await tickOf(once)).toMatchObject({
      outcome: 'run',
      detail: expect.stringContaining('made up for'),
    });
    const suspended = await create('suspended');
    const state = (await client.post(`/v1/schedules/${suspended}/suspend`, { reason: 'upgrade' })).body;
    expect(state).toMatchObject({ suspendReason: 'upgrade', suspendedAt: expect.any(String) });
    await bringNear(suspended);
    expect(await tickOf(suspended)).toMatchObject({ outcome: 'skip', reason: 'suspended' });
    const held = (await client.get(`/v1/schedules/${suspended}?upcoming=2`)).body;
    expect((held.upcoming as Json[]).map(({ skipped }) => skipped)).toEqual(
      Array(2).fill('suspended: upgrade'),
    );
    const again = scheduleDocument('suspended', { description: 'as a pipeline does every night' });
    expect((await client.send('PUT', `/v1/schedules/${suspended}`, again)).body).toMatchObject({
      suspendReason: 'upgrade',
    });
    expect((await client.post(`/v1/schedules/${suspended}/resume`)).body).toMatchObject({
      suspendedAt: null,
    });
    const lost = await create('lost');
    await service.rows(`UPDATE experiments SET name = 'renamed' WHERE name = 'cut'`);
    await bringNear(lost);
    expect(await tickOf(lost)).toMatchObject({ reason: 'refused', detail: expect.stringContaining('"cut"') });
    await service.rows(`UPDATE experiments SET name = 'cut' WHERE name = 'renamed'`);
    expect(await ticksOf(lost, '?outcome=run')).toEqual([]);
    expect((await client.get(`/v1/schedules/${lost}/ticks?reson=x`)).status).toBe(400);
    expect((await client.get(`/v1/schedules/${lost}/ticks?since=yesterday`)).body.errors).toEqual([
      { pointer: '/since', message: 'write a time with its offset, as in 2026-11-30T01:00:00Z' },
    ]);
    expect((await client.get(`/v1/schedules?limit=0`)).body.errors).toEqual([
      { pointer: '/limit', message: '"0" is not allowed; it must be at least 1' },
    ]);
  });

  it('that a later version stored can be looked at and replaced, and say why they stand still', async () => {
    const id = await create('unread');
    await service.rows(
      `UPDATE schedules SET definition = jsonb_set(definition::jsonb, '{spec,unheardOf}', 'true')::json, digest = 'other' WHERE id = $1`,
      [id],
    );
    await bringNear(id);
    const address = `/v1/schedules/${id}`;
    await until(async () => (await client.get(address)).body.suspendedAt !== null, 'its suspension');
    const seen = await client.get(address);
    expect([seen.status, seen.body.upcoming]).toEqual([200, []]);
    expect(seen.body.suspendReason).toContain('unheardOf');
    expect((await client.post(`${address}/resume`)).status).toBe(409);
    const document = scheduleDocument('unread');
    expect((await client.send('PUT', address, document)).body).toMatchObject({ suspendedAt: null });
  });

  it('begin a game day, once a tick, and skip ticks until it has ended', async () => {
    const hypothesis = { statement: 'traffic moves', expect: ['recovery.recovered == 1'] };
    const gameDay = {
      ...{ apiVersion: 'fabricdrill/v1', kind: 'GameDay', metadata: { name: 'weekly' } },
      spec: { stages: [{ name: 'one', pause: 'Ready?', experiments: [{ experiment: 'cut', hypothesis }] }] },
    };
    const document = scheduleDocument('days', { gameDayRef: 'weekly' });
    delete (document.spec as Json).experimentRef;
    const alone = await client.post('/v1/schedules', document);
    expect(alone.body.errors[0]).toMatchObject({ pointer: '/spec/gameDayRef' });
    const unplannable = {
      ...gameDay,
      spec: { stages: [{ name: 'one', experiments: [{ experiment: 'cutt', hypothesis }] }] },
    };
    const refused = await client.yaml(
      'POST',
      '/v1/schedules',
      [document, unplannable].map(yamlOf).join('---\n'),
    );
    expect(refused.body.errors[0]).toMatchObject({ hint: 'did you mean "cut"?', line: expect.any(Number) });
    const blind = { ...gameDay, spec: { ...gameDay.spec, blind: true } };
    const described = scheduleDocument('link-down-weekly', { gameDayRef: 'weekly', description: 'a cut' });
    delete (described.spec as Json).experimentRef;
    const telling = await client.yaml('POST', '/v1/schedules', [described, blind].map(yamlOf).join('---\n'));
    expect((telling.body.errors as Json[]).map(({ pointer }) => pointer)).toEqual([
      '/metadata/name',
      '/spec/description',
    ]);
    const quiet = scheduleDocument('quiet', { gameDayRef: 'weekly', suspend: true });
    delete (quiet.spec as Json).experimentRef;
    const brought = [quiet, blind, experimentDocument('cut', 'small')].map(yamlOf).join('---\n');
    // who has the same files could find by its digest which of them it is of
    const sealed = await client.yaml('POST', '/v1/schedules', brought);
    expect([sealed.status, sealed.body.digest]).toEqual([201, null]);
    const created = await client.yaml('POST', '/v1/schedules', [document, gameDay].map(yamlOf).join('---\n'));
    expect(created.body.digest).toMatch(/^[0-9a-f]{64}$/);
    expect([created.status, created.body]).toEqual([201, expect.objectContaining({ gameDayRef: 'weekly' })]);
    const id = created.body.id as string;
    await bringNear(id);
    const { outcome, runId, gameDayId } = await tickOf(id);
    expect([outcome, runId]).toEqual(['run', null]);
    const address = `/v1/game-days/${gameDayId as string}`;
    await until(async () => (await client.get(address)).body.state === 'waiting', 'the day');
    expect((await client.get(address)).body).toMatchObject({ name: 'weekly', scheduleId: id });
    await bringNear(id);
    await until(async () => (await ticksOf(id)).length > 1, 'the next tick');
    expect((await ticksOf(id))[0]).toMatchObject({
      outcome: 'skip',
      reason: 'still-running',
      gameDayId: null,
    });
    expect((await client.get('/v1/game-days?name=weekly')).body.data).toHaveLength(1);
    await client.post(`${address}/abort`);
  });

  it('give each tick to one of several replicas', async () => {
    const others = await Promise.all([1, 2].map(() => service.join({ api: true, worker: false })));
    const ids = await Promise.all(Array.from({ length: 8 }, (_, at) => create(`shared-${at}`)));
    await Promise.all(ids.map((id) => bringNear(id)));
    for (const id of ids) expect(await tickOf(id)).toMatchObject({ outcome: 'run' });
    for (const other of others) await other.close();
    const rows = await service.rows<{ runs: string }>(
      'SELECT count(*) AS runs FROM runs WHERE schedule_id = ANY ($1) GROUP BY schedule_id',
      [ids],
    );
    expect(rows.map(({ runs }) => runs)).toEqual(ids.map(() => '1'));
  });
});
