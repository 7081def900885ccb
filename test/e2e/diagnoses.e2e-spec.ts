/**
 * Diagnoses that others make of a run: taken at any time, graded like our own, never a way to learn the truth early.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { experimentDocument, fabricDocument, type Json } from '../support/definitions.js';
import { Gates } from '../support/gates.js';
import { outsideFabrics } from '../support/outside-fabric.js';
import { queueBackends } from '../support/queue-backends.js';
import { startService, type TestService } from '../support/service.js';

jest.setTimeout(120_000);

const TOKEN = 'a-token-that-is-long-enough-for-this-service';
const ALERT_LABELS = [
  {
    match: { alertname: 'FabricPortDown' },
    kind: 'link-down',
    element: 'port:{switch}/{interface}',
    side: 'cable',
    probability: 0.9,
    values: { interface: { Ethernet0: 'p1' } },
  },
];

interface Element {
  id: string;
}
interface Truth {
  kind: string;
  elements: Element[];
  side: string;
}

describe('diagnoses from outside', () => {
  const gates = new Gates();
  let world: string;
  let service: TestService;
  /** A run that has ended, with its own scorecard. */
  let done: string;
  let scorecard: Json & { truth: Truth[]; scores: { explainability: unknown }; verdict: Json };

  beforeAll(async () => {
    world = mkdtempSync(join(tmpdir(), 'fabricdrill-diagnoses-'));
    const [backend] = queueBackends('diagnoses from outside');
    service = await startService(
      backend,
      { api: true, worker: { heartbeatMs: 50, openFabric: outsideFabrics({ world, hold: gates.hold }) } },
      { FABRICDRILL_TOKEN: TOKEN },
    );
    done = await service.client.run(fabricDocument('done'), experimentDocument('done', 'done'));
    await service.client.ended(done);
    scorecard = (await service.client.get(`/v1/runs/${done}/scorecard`)).body as typeof scorecard;
  });

  afterAll(async () => {
    gates.openAll();
    await service.stop();
    rmSync(world, { recursive: true });
  });

  const diagnose = (run: string, verdict: unknown, author = 'netops') =>
    service.client.post(`/v1/runs/${run}/diagnoses?author=${author}`, verdict);

  const right = (): Json => ({
    faultFound: true,
    culprits: [{ kind: scorecard.truth[0].kind, element: scorecard.truth[0].elements[0], probability: 0.9 }],
  });

  it('our own verdict, sent in, gets the score that we gave ourselves', async () => {
    const { status, body } = await diagnose(done, scorecard.verdict);
    expect(status).toBe(201);
    const own = { ...(scorecard.scores.explainability as { score: number; metrics: Json }) };
    // the only figures that rest on more than a verdict: when it was given, and what runs without the fault show
    const { time_to_explain_s: _, ...metrics } = own.metrics;
    expect(body.explainability.metrics).toMatchObject(metrics);
    expect(body.explainability.score).toBe(own.score);
  });

  it('a bare answer that is right is worth more than one that is wrong, and both are listed in order', async () => {
    const good = await diagnose(done, right());
    expect(good.body.explainability.metrics).toMatchObject({ top1: 1, kind_correct: true });
    const wrong = await diagnose(done, {
      faultFound: true,
      culprits: [{ kind: 'node-down', element: { type: 'device', id: 'device:host-1' }, probability: 1 }],
    });
    expect(good.body.explainability.score).toBeGreaterThan(wrong.body.explainability.score as number);
    const list = (await service.client.get(`/v1/runs/${done}/diagnoses`)).body.data as Json[];
    expect(list.map(({ id }) => id).slice(-2)).toEqual([good.body.id, wrong.body.id]);
    const one = await service.client.get(good.headers.get('location')!);
    expect(one.body).toEqual(good.body);
  });

  it('they stand in the scorecard and the reports beside ours, which stay as they were', async () => {
    const now = (await service.client.get(`/v1/runs/${done}/scorecard`)).body as Json;
    const { diagnoses, ...rest } = now;
    expect(rest).toEqual(scorecard);
    expect((diagnoses as Json[]).length).toBeGreaterThanOrEqual(3);
    const text = (await service.client.get(`/v1/runs/${done}/report?format=text`)).text;
    expect(text).toMatch(/^What others said$/m);
    expect(text).toContain('netops (api): link-down at');
  });

  it('one that comes while the run goes on is graded at its end, and shows no score before', async () => {
    gates.close('early', 'holding');
    const run = await service.client.run(fabricDocument('early'), experimentDocument('early', 'early'));
    await gates.reached('early');
    const early = await diagnose(run, { faultFound: null, culprits: [] });
    expect(early).toMatchObject({ status: 201, body: { explainability: null, beforeEnd: true } });
    gates.open('early');
    await service.client.ended(run);
    const { body } = await service.client.get(`/v1/runs/${run}/diagnoses/${early.body.id as string}`);
    expect(body).toMatchObject({
      beforeEnd: true,
      explainability: { score: 20, metrics: { abstained: true } },
    });
    const late = await diagnose(run, { faultFound: null, culprits: [] });
    expect(late.body.beforeEnd).toBe(false);
  });

  it('one of a run that was aborted is kept without a score: there is no truth to compare with', async () => {
    gates.close('aborted', 'holding');
    const run = await service.client.run(fabricDocument('aborted'), experimentDocument('aborted', 'aborted'));
    await gates.reached('aborted');
    await diagnose(run, { faultFound: false, culprits: [] });
    await service.client.post(`/v1/runs/${run}/abort`);
    gates.open('aborted');
    await service.client.ended(run);
    const { body } = await service.client.get(`/v1/runs/${run}/diagnoses`);
    expect(body.data).toMatchObject([{ explainability: null, verdict: { faultFound: false } }]);
  });

  it.each([
    ['no body', undefined, '/faultFound'],
    ['a missing answer', { culprits: [] }, '/faultFound'],
    [
      'an unknown kind',
      {
        faultFound: true,
        culprits: [{ kind: 'gremlin', element: { type: 'device', id: 'device:leaf-1' }, probability: 1 }],
      },
      '/culprits/0/kind',
    ],
    [
      'a probability above 1',
      {
        faultFound: true,
        culprits: [{ kind: 'node-down', element: { type: 'device', id: 'device:leaf-1' }, probability: 7 }],
      },
      '/culprits/0/probability',
    ],
    [
      'an element of another type',
      {
        faultFound: true,
        culprits: [{ kind: 'node-down', element: { type: 'link', id: 'device:leaf-1' }, probability: 1 }],
      },
      '/culprits/0/element/id',
    ],
    [
      'an element that is not there',
      {
        faultFound: true,
        culprits: [{ kind: 'node-down', element: { type: 'device', id: 'device:leaf-11' }, probability: 1 }],
      },
      '/culprits/0/element/id',
    ],
  ])('%s is refused and not stored', async (_, verdict, pointer) => {
    const before = await service.rows('SELECT 1 FROM run_diagnoses');
    const { status, body } = await diagnose(done, verdict);
    expect([status, body.errors[0].pointer]).toEqual([400, pointer]);
    expect(await service.rows('SELECT 1 FROM run_diagnoses')).toHaveLength(before.length);
  });

  it('of a run that is not there is 404', async () => {
    expect((await diagnose('nope', right())).status).toBe(404);
    expect((await service.client.get(`/v1/runs/${done}/diagnoses/nope`)).status).toBe(404);
  });

  describe('as alerts', () => {
    const alert = (labels: Json, startsAt = new Date().toISOString()): Json => ({
      status: 'firing',
      labels,
      annotations: { summary: 'x' },
      startsAt,
      endsAt: '0001-01-01T00:00:00Z',
      generatorURL: 'http://prometheus/graph',
      fingerprint: JSON.stringify(labels).length.toString(16),
    });
    const send = (alerts: Json[], query = '', receiver = 'drill') =>
      service.client.post(`/v1/diagnoses/alertmanager${query}`, {
        version: '4',
        groupKey: '{}:{}',
        status: 'firing',
        receiver,
        groupLabels: {},
        commonLabels: {},
        alerts,
      });
    const down = { alertname: 'FabricPortDown', switch: 'leaf-1', interface: 'Ethernet0' };

    it('become one diagnosis of the run that was open when they began', async () => {
      gates.close('alerted', 'holding');
      const run = await service.client.run(
        fabricDocument('alerted', { alertLabels: ALERT_LABELS }),
        experimentDocument('alerted', 'alerted'),
      );
      await gates.reached('alerted');
      const first = alert(down);
      const second = alert({ ...down, interface: 'p2' });
      expect((await send([first])).body).toMatchObject({ matched: [{ run, alerts: 1 }], unmatched: [] });
      // Alertmanager repeats what it has sent, and adds
      expect((await send([first, second])).status).toBe(202);
      gates.open('alerted');
      await service.client.ended(run);
      const { data } = (await service.client.get(`/v1/runs/${run}/diagnoses`)).body as { data: Json[] };
      expect(data).toHaveLength(1);
      expect(data[0]).toMatchObject({
        source: 'alertmanager',
        author: 'drill',
        beforeEnd: true,
        verdict: {
          faultFound: true,
          culprits: [
            {
              rank: 1,
              kind: 'link-down',
              element: { id: 'port:leaf-1/p1' },
              onset_s: null,
              probability: 0.9,
            },
            { rank: 2, element: { id: 'port:leaf-1/p2' } },
          ],
        },
        explainability: { score: expect.any(Number) },
      });
    });

    it.each([
      ['no run was open', alert(down, '2020-01-01T00:00:00Z'), '', /no run was open/],
      ['a run of another fabric was open', alert(down), '?fabric=elsewhere', /no run was open/],
    ])('are listed as unmatched when %s', async (_, one, query, reason) => {
      const { status, body } = await send([one], query);
      expect([status, body.matched]).toEqual([202, []]);
      expect(body.unmatched[0].reason).toMatch(reason);
      const { data } = (await service.client.get('/v1/diagnoses?matched=false&limit=1')).body as {
        data: Json[];
      };
      expect(data[0]).toMatchObject({
        run: null,
        reason: expect.stringMatching(reason),
        alerts: [{ labels: down }],
      });
    });

    it('are listed as unmatched when no rule fits, or the element is not there, each with its reason', async () => {
      gates.close('partly', 'holding');
      const run = await service.client.run(
        fabricDocument('partly', { alertLabels: ALERT_LABELS }),
        experimentDocument('partly', 'partly'),
      );
      await gates.reached('partly');
      const { body } = await send([
        alert({ alertname: 'DiskFull' }),
        alert({ ...down, switch: 'leaf-77' }),
        alert(down),
      ]);
      gates.open('partly');
      await service.client.ended(run);
      expect(body.matched).toMatchObject([{ run, alerts: 1 }]);
      expect((body.unmatched as { reason: string }[]).map(({ reason }) => reason)).toEqual([
        'no rule in alertLabels of the fabric "partly" fits',
        'the fabric "partly" has no port:leaf-77/p1',
      ]);
    });

    it('need the token, and a body that is a webhook', async () => {
      const bare = await fetch(`${service.url}/v1/diagnoses/alertmanager`, { method: 'POST' });
      expect(bare.status).toBe(401);
      expect((await send([])).status).toBe(400);
      expect(
        (await service.client.post('/v1/diagnoses/alertmanager', { alerts: [{ labels: {} }] })).status,
      ).toBe(400);
    });
  });
});
