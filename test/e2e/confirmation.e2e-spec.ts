/**
 * What a server asks of whoever goes to a real fabric: its name a second time, before anything else is looked at. The fabric is
 * a lab that is not up, so that whatever passes the confirmation fails a moment later, and for that reason.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { experimentDocument, fabricDocument, yamlOf, type Json } from '../support/definitions.js';
import { startApp } from '../../src/app/app.module.js';
import { HttpClient, type Answer } from '../support/http-client.js';
import { queueBackends } from '../support/queue-backends.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

jest.setTimeout(60_000);

const REQUIRED = { status: 409, body: { code: 'confirmation-required', params: { fabric: 'lab' } } };
const lab = (name: string): Json =>
  fabricDocument(name, {
    driver: 'linux',
    topology: {
      ...{ builder: 'leaf-spine', leaves: 2, spines: 1, hostsPerLeaf: 2, gpusPerHost: 1 },
      ...{ hostRate: '50Mbps', fabricRate: '50Mbps' },
    },
    jobs: [],
  });
const scheduleOf = (name: string, spec: Json, more: Json = {}): Json => ({
  apiVersion: 'fabricdrill/v1',
  kind: 'Schedule',
  metadata: { name },
  ...more,
  spec: { cron: '0 4 * * *', timeZone: 'UTC', ...spec },
});
const dayOf = (fabric: string, more: Json = {}): Json => ({
  apiVersion: 'fabricdrill/v1',
  kind: 'GameDay',
  metadata: { name: 'day' },
  ...more,
  spec: {
    stages: [
      {
        name: 'first',
        experiments: [
          {
            experiment: 'cut',
            fabric,
            hypothesis: { statement: 'traffic moves on', expect: ['recovery.recovered == 1'] },
          },
        ],
      },
    ],
  },
});
const [backend] = queueBackends('confirmations');

describe('a real fabric', () => {
  let service: TestService;
  let client: HttpClient;
  let cut: string;

  beforeAll(async () => {
    service = await startService(backend);
    client = service.client;
    for (const fabric of [fabricDocument('small'), lab('lab')]) {
      expect((await client.post('/v1/fabrics', fabric)).status).toBe(201);
    }
    cut = (await client.post('/v1/experiments', experimentDocument('cut', 'small'))).body.id as string;
  });
  afterAll(() => service.stop());

  /** Asks without the name, with a wrong one, and with the right one. */
  const asks = async (ask: (confirm: Json) => Promise<Answer>): Promise<void> => {
    expect(await ask({})).toMatchObject(REQUIRED);
    expect(await ask({ confirm: 'small' })).toMatchObject(REQUIRED);
    const confirmed = await ask({ confirm: 'lab' });
    expect([400, 503]).toContain(confirmed.status);
    expect(confirmed.body.code).toBeUndefined();
  };

  it('takes no run without its name', async () => {
    await asks((confirm) => client.post(`/v1/experiments/${cut}/runs`, { fabric: 'lab', ...confirm }));
    await asks((confirm) => client.post(`/v1/experiments/${cut}/runs`, { fabric: lab('lab'), ...confirm }));
    const unplannable = { fabric: 'lab', seed: 3, pace: '1x' };
    expect(await client.post(`/v1/experiments/${cut}/runs`, unplannable)).toMatchObject(REQUIRED);
    expect((await client.get('/v1/runs')).body.data).toEqual([]);
  });

  it('is not what a simulated one is confirmed as', async () => {
    const taken = await client.post(`/v1/experiments/${cut}/runs`, { fabric: 'small', confirm: 'lab' });
    expect(taken.status).toBe(400);
    expect(taken.body.errors[0]).toMatchObject({
      pointer: '/confirm',
      message: expect.stringMatching(/"lab" is not what/),
    });
    const named = await client.post(`/v1/experiments/${cut}/runs`, { fabric: 'small', confirm: 'small' });
    expect(named.status).toBe(202);
  });

  it('takes no game day, no schedule, no gate and no watching without its name', async () => {
    await asks((confirm) => client.post('/v1/game-days', dayOf('lab', confirm)));
    await asks((confirm) =>
      client.post('/v1/schedules', scheduleOf('s', { experimentRef: 'cut', fabric: 'lab' }, confirm)),
    );
    await asks((confirm) => {
      const schedule = scheduleOf('s', { gameDayRef: 'day' }, confirm);
      return client.yaml('POST', '/v1/schedules', `${yamlOf(schedule)}---\n${yamlOf(dayOf('lab'))}`);
    });
    await asks((confirm) => client.post('/v1/diagnose', { fabric: 'lab', to: '10s', ...confirm }));
    expect((await client.get('/v1/schedules')).body.data).toEqual([]);
    expect((await client.get('/v1/game-days')).body.data).toEqual([]);
  });

  /** A schedule that was stored when the fabric was a simulated one, as it would be by a version that asks for nothing. */
  const scheduled = async (fabric: string, more: Json = {}): Promise<string> => {
    expect((await client.post('/v1/fabrics', fabricDocument(fabric))).status).toBe(201);
    const stored = await client.post(
      '/v1/schedules',
      scheduleOf(fabric, { experimentRef: 'cut', fabric }, more),
    );
    expect(stored.status).toBe(201);
    expect((await client.send('PUT', `/v1/fabrics/${fabric}`, lab(fabric))).status).toBe(200);
    return `/v1/schedules/${stored.body.id}`;
  };
  const bringNear = (name: string): Promise<unknown[]> =>
    service.rows(
      `UPDATE schedules SET next_at = date_trunc('second', now()), wake_at = now() WHERE name = $1`,
      [name],
    );
  const ticksOf = async (address: string): Promise<Json[]> => {
    await until(async () => (await client.get(`${address}/ticks`)).body.data.length > 0, 'a tick');
    return (await client.get(`${address}/ticks`)).body.data as Json[];
  };

  it('suspends a schedule that was stored without its name, at start and at a tick, until it is stored with it', async () => {
    const [atStart, atTick] = [await scheduled('at-start'), await scheduled('at-tick')];
    await bringNear('at-tick');
    expect(await ticksOf(atTick)).toMatchObject([{ outcome: 'skip', reason: 'suspended' }]);
    const found = await client.get(atTick);
    expect(found.body).toMatchObject({
      suspendCode: 'confirmation-required',
      suspendReason: expect.stringMatching(/"at-tick" is a real/),
    });
    const other = await service.join({ api: true, worker: false });
    expect((await client.get(atStart)).body).toMatchObject({
      suspendCode: 'confirmation-required',
      suspendedAt: expect.any(String),
    });
    await other.close();
    expect(await client.post(`${atStart}/resume`)).toMatchObject({
      status: 409,
      body: { code: 'confirmation-required', params: { fabric: 'at-start' } },
    });
    const simulated = await client.send('PUT', '/v1/fabrics/at-start', fabricDocument('at-start'));
    expect(simulated.status).toBe(200);
    const work = { experimentRef: 'cut', fabric: 'at-start' };
    const again = await client.send('PUT', atStart, scheduleOf('at-start', work, { confirm: 'at-start' }));
    expect(again).toMatchObject({ status: 200, body: { suspendCode: null, suspendedAt: null } });
  });

  it('is confirmed by the schedule whenever a tick of it comes, in its game days, too', async () => {
    const run = await scheduled('by-run', { confirm: 'by-run' });
    const day = scheduleOf('by-day', { gameDayRef: 'day' }, { confirm: 'by-day' });
    expect((await client.post('/v1/fabrics', fabricDocument('by-day'))).status).toBe(201);
    const stored = await client.yaml(
      'POST',
      '/v1/schedules',
      `${yamlOf(day)}---\n${yamlOf(dayOf('by-day'))}`,
    );
    expect(stored.status).toBe(201);
    expect((await client.send('PUT', '/v1/fabrics/by-day', lab('by-day'))).status).toBe(200);
    for (const name of ['by-run', 'by-day']) await bringNear(name);
    for (const address of [run, `/v1/schedules/${stored.body.id}`]) {
      const [tick] = await ticksOf(address);
      expect(tick).toMatchObject({ outcome: 'skip', reason: 'refused' });
      expect(tick.detail).not.toMatch(/confirm/);
    }
  });

  it('is not served without a token, unless it is a lab', async () => {
    const site = {
      ...lab('site'),
      spec: { ...(lab('site').spec as Json), transport: { ssh: 'rack', nodes: {} } },
    };
    const refusal = {
      status: 403,
      body: { code: 'token-required', hint: expect.stringContaining('FABRICDRILL_TOKEN') },
    };
    expect(await client.post('/v1/fabrics', site)).toMatchObject(refusal);
    const run = { fabric: site, confirm: 'site' };
    expect(await client.post(`/v1/experiments/${cut}/runs`, run)).toMatchObject(refusal);
    expect(await client.post(`/v1/experiments/${cut}/plan`, run)).toMatchObject(refusal);
    expect(await client.post('/v1/diagnose', { ...run, to: '10s' })).toMatchObject(refusal);
  });

  it('that an earlier version stored with paths in it is shown, and told so when it is to be run', async () => {
    const old = { slurm: { configuration: '/tmp/slurm.conf' } };
    await service.rows(
      `UPDATE fabrics SET definition = jsonb_set(definition::jsonb, '{spec,orchestrator}', $1)::json WHERE name = 'lab'`,
      [JSON.stringify(old)],
    );
    const other = await startApp({ ...service.config, token: 't'.repeat(32) }, { api: true, worker: false });
    try {
      const admin = new HttpClient(other.url!, 't'.repeat(32));
      expect((await admin.get('/v1/fabrics/lab')).body.definition.spec.orchestrator).toEqual(old);
      expect((await admin.get('/v1/fabrics/lab/topology')).status).toBe(200);
      const told = await admin.post(`/v1/experiments/${cut}/runs`, { fabric: 'lab', confirm: 'lab' });
      expect(told.status).toBe(400);
      expect(told.body.errors[0]).toMatchObject({
        pointer: '/spec/orchestrator/slurm',
        message: expect.stringMatching(/move it to slurm\.NAME .*FABRICDRILL_CONFIG/),
      });
      const named = { ...lab('x'), spec: { ...(lab('x').spec as Json), orchestrator: { slurm: 'night' } } };
      expect((await admin.post('/v1/fabrics', named)).body.errors[0]).toMatchObject({
        pointer: '/spec/orchestrator/slurm',
        message: expect.stringMatching(/no slurm "night"; there is none/),
      });
    } finally {
      await other.close();
    }
  });
});
