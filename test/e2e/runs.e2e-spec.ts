/**
 * Runs over HTTP: asked for, listed, followed live, read.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import supertest from 'supertest';
import { decodeEvidence } from '../../src/evidence/arrow.js';
import { FABRIC_ID } from '../../src/core/elements.js';
import { experimentDocument, fabricDocument, type Json } from '../support/definitions.js';
import type { Answer, HttpClient, SentEvent } from '../support/http-client.js';
import { Gates } from '../support/gates.js';
import { outsideFabrics } from '../support/outside-fabric.js';
import { queueBackends } from '../support/queue-backends.js';
import { startService, type TestService } from '../support/service.js';

jest.setTimeout(60_000);

describe.each(queueBackends('runs over HTTP'))('runs, queued in $name', (backend) => {
  const gates = new Gates();
  let world: string;
  let service: TestService;
  let client: HttpClient;
  let experimentId: string;
  let runId: string;

  beforeAll(async () => {
    world = mkdtempSync(join(tmpdir(), 'fabricdrill-world-'));
    const openFabric = outsideFabrics({ world, hold: gates.hold });
    service = await startService(backend, { api: true, worker: { openFabric } });
    client = service.client;
    runId = await client.run(fabricDocument('main'), experimentDocument('main', 'main'));
    experimentId = (await client.ended(runId)).experimentId as string;
  });

  afterAll(async () => {
    gates.openAll();
    await service.stop();
    rmSync(world, { recursive: true });
  });

  const create = (body?: Json, key?: string): Promise<Answer> =>
    client.post(
      `/v1/experiments/${experimentId}/runs`,
      body,
      key === undefined ? {} : { 'idempotency-key': key },
    );

  describe('asked for', () => {
    it('are 202 with the address of the run and when to look again', async () => {
      const answer = await create();
      expect([answer.status, answer.headers.get('location'), answer.headers.get('retry-after')]).toEqual([
        202,
        `/v1/runs/${answer.body.id}`,
        '1',
      ]);
      expect(answer.body).toMatchObject({ state: 'pending', final: false, exitCode: null, seed: 11 });
      expect((await client.get(answer.headers.get('location')!)).status).toBe(200);
      await client.ended(answer.body.id as string);
    });

    it('again with the same key give the first run back, with another request a conflict', async () => {
      const first = await create({ seed: 21 }, 'key-1');
      const again = await create({ seed: 21 }, 'key-1');
      expect([again.status, again.body.id, again.headers.get('idempotency-replayed')]).toEqual([
        202,
        first.body.id,
        'true',
      ]);
      const other = await create({ seed: 22 }, 'key-1');
      expect([other.status, other.body.detail]).toEqual([409, expect.stringContaining('Idempotency-Key')]);
      expect((await create({ seed: 21 }, 'key 2')).status).toBe(400);
      await client.ended(first.body.id as string);
    });

    it('at once with one key make one run', async () => {
      const answers = await Promise.all(Array.from({ length: 5 }, () => create({ seed: 23 }, 'key-3')));
      const accepted = answers.filter(({ status }) => status === 202);
      expect(accepted.length).toBeGreaterThan(0);
      expect(new Set(accepted.map(({ body }) => String(body.id))).size).toBe(1);
      expect(answers.every(({ status }) => status === 202 || status === 409)).toBe(true);
      const stored = await service.rows('SELECT id FROM runs WHERE seed = 23');
      expect(stored).toHaveLength(1);
      await client.ended(accepted[0].body.id as string);
    });

    it('on another fabric, stored or sent along, keep a copy of it', async () => {
      await client.post('/v1/fabrics', fabricDocument('short-lived'));
      const stored = await create({ fabric: 'short-lived' });
      const sent = await create({ fabric: fabricDocument('never-stored') });
      await client.send('DELETE', '/v1/fabrics/short-lived');
      for (const { body } of [stored, sent]) {
        expect(await client.ended(body.id as string)).toMatchObject({ state: 'passed' });
      }
      expect((await client.get('/v1/fabrics/never-stored')).status).toBe(404);
    });

    it.each([
      [{ sead: 1 }, { pointer: '/sead', hint: 'did you mean "seed"?' }],
      [{ seed: -1 }, { pointer: '/seed' }],
      [{ fabric: 'mian' }, { pointer: '/fabric', hint: 'did you mean "main"?' }],
    ])('with the options %j are refused', async (options, issue) => {
      const answer = await create(options);
      expect([answer.status, answer.body.errors]).toEqual([400, [expect.objectContaining(issue)]]);
    });
  });

  describe('listed', () => {
    const follow = async (first: string): Promise<{ ids: string[]; pages: number }> => {
      const ids: string[] = [];
      let pages = 0;
      for (let next: string | undefined = first; next !== undefined; pages++) {
        const page: Answer = await client.get(next);
        expect(page.status).toBe(200);
        ids.push(...(page.body.data as { id: string }[]).map((run) => run.id));
        next = /^<([^>]+)>; rel="next"$/.exec(page.headers.get('link') ?? '')?.[1];
      }
      return { ids, pages };
    };

    it('come newest first, in pages that neither repeat nor skip while others are added', async () => {
      const stored = await service.rows<{ id: string }>(
        'SELECT id FROM runs ORDER BY created_at DESC, id DESC',
      );
      const expected = stored.map(({ id }) => id);
      const { ids, pages } = await follow('/v1/runs?limit=2');
      expect(ids).toEqual(expected);
      expect(pages).toBe(Math.ceil(expected.length / 2));
      const first = await client.get('/v1/runs?limit=2');
      const late = await create({ seed: 31 });
      const next = /^<([^>]+)>/.exec(first.headers.get('link')!)![1];
      expect((await follow(next)).ids).toEqual(expected.slice(2));
      await client.ended(late.body.id as string);
    });

    it('are filtered by fabric, experiment, state and time, on every page', async () => {
      const { ids } = await follow('/v1/runs?fabric=main&state=passed&experiment=main&limit=1');
      const rows = await service.rows<{ id: string }>(
        `SELECT id FROM runs WHERE fabric_name = 'main' AND state = 'passed' ORDER BY created_at DESC, id DESC`,
      );
      expect(ids).toEqual(rows.map(({ id }) => id));
      expect(ids.length).toBeGreaterThan(1);
      expect((await follow('/v1/runs?fabric=nothing')).ids).toEqual([]);
      const { createdAt } = (await client.get(`/v1/runs/${ids[0]}`)).body;
      const since = await follow(`/v1/runs?since=${encodeURIComponent(createdAt as string)}&limit=1`);
      expect(since.ids).toContain(ids[0]);
      expect(since.ids).not.toContain(runId);
    });
  });

  describe('followed live', () => {
    const numbers = (events: SentEvent[]): number[] => events.map(({ id }) => id);
    const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);

    it('give every viewer the same gapless sequence, and close after the end', async () => {
      gates.close('followed', 'baseline');
      const id = await client.run(fabricDocument('followed'), experimentDocument('followed', 'followed'));
      await gates.reached('followed');
      const early = client.events(id);
      const broken = await client.events(id, undefined, ({ data }) => data.state === 'baseline');
      gates.open('followed');
      const all = await early;
      expect(numbers(all)).toEqual(upTo(all.length));
      expect(all.at(-1)).toMatchObject({ type: 'end', data: { state: 'passed', exitCode: 0 } });
      expect(all.filter(({ type }) => type === 'end')).toHaveLength(1);
      expect(all.map(({ type }) => type)).toEqual(
        expect.arrayContaining(['state', 'progress', 'injected', 'reverted', 'verdict']),
      );
      const seen = broken.at(-1)!.id;
      expect([...broken, ...(await client.events(id, seen))]).toEqual(all);
      expect(await client.events(id)).toEqual(all);
      expect(await client.events(id, all.length)).toEqual([]);
    });

    it('do not keep the service from closing', async () => {
      gates.close('endless', 'baseline');
      const id = await client.run(fabricDocument('endless'), experimentDocument('endless', 'endless'));
      await gates.reached('endless');
      const other = await service.join({ api: true, worker: false });
      const response = await fetch(`${other.url}/v1/runs/${id}/events`);
      const startMs = Date.now();
      await other.close();
      expect(Date.now() - startMs).toBeLessThan(5_000);
      await expect(response.text()).rejects.toThrow();
      gates.open('endless');
      await client.ended(id);
    });
  });

  describe('read', () => {
    it('have a scorecard of the published shape', async () => {
      const { body } = await client.get(`/v1/runs/${runId}/scorecard`);
      expect(Object.keys(body as Json)).toEqual(
        expect.arrayContaining(['run', 'scores', 'objectives', 'verdict', 'truth']),
      );
      expect(body.run).toMatchObject({
        id: runId,
        experiment: 'main',
        fabric: 'main',
        state: 'passed',
        seed: 11,
      });
      for (const name of ['recovery', 'isolation', 'explainability']) {
        expect(body.scores[name].score).toBeGreaterThanOrEqual(0);
        expect(body.scores[name].score).toBeLessThanOrEqual(100);
      }
      expect(body.objectives).toEqual([{ expression: 'recovery.recovered == 1', value: true, passed: true }]);
      const target = body.truth[0].elements[0].id as string;
      expect(body.verdict.culprits[0]).toMatchObject({ rank: 1, kind: 'link-down', element: { id: target } });
      expect((await client.get(`/v1/runs/${runId}/verdict`)).body).toEqual(body.verdict);
    });

    it('have evidence as Arrow, compressed or not, with a tag for caches', async () => {
      const path = `/v1/runs/${runId}/evidence`;
      const compressed = await client.get(path);
      const plain = await client.get(`${path}?compression=none`);
      expect(compressed.headers.get('content-type')).toBe('application/vnd.apache.arrow.file');
      expect(compressed.bytes.subarray(0, 6).toString('latin1')).toBe('ARROW1');
      expect(plain.bytes.length).toBeGreaterThan(compressed.bytes.length);
      const evidence = await decodeEvidence(plain.bytes);
      expect(await decodeEvidence(compressed.bytes)).toEqual(evidence);
      const metrics = new Set(evidence.series.map(({ metric }) => metric));
      expect(metrics).toContain('port_tx_bytes');
      expect(evidence.series.some(({ element }) => element === FABRIC_ID || element.startsWith('job:'))).toBe(
        true,
      );
      const tag = compressed.headers.get('etag')!;
      expect(tag).toBe(`"${createHash('sha256').update(compressed.bytes).digest('hex')}"`);
      expect(plain.headers.get('etag')).not.toBe(tag);
      // fetch adds "no-cache" to such a request, which asks for the whole answer
      const cached = await supertest(service.url).get(path).set('If-None-Match', tag);
      expect([cached.status, cached.text]).toEqual([304, '']);
      expect((await client.get(`${path}?compression=gzip`)).status).toBe(400);
    });

    it.each([
      ['text', 'text/plain', /PASSED/],
      ['json', 'application/json', /^\{/],
      ['markdown', 'text/markdown', /^#/m],
      ['junit', 'application/xml', /<testsuites/],
    ])('have a report as %s', async (format, mediaType, looks) => {
      const answer = await client.get(`/v1/runs/${runId}/report?format=${format}`);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([
        200,
        `${mediaType}; charset=utf-8`,
      ]);
      expect(answer.text).toMatch(looks);
      expect(answer.text).toContain('main');
    });

    it('have no report in a format that does not exist', async () => {
      const answer = await client.get(`/v1/runs/${runId}/report?format=markdwon`);
      expect([answer.status, answer.body.errors]).toEqual([
        400,
        [expect.objectContaining({ pointer: '/format', hint: 'did you mean "markdown"?' })],
      ]);
    });

    it('outlive their experiment', async () => {
      expect((await client.send('DELETE', `/v1/experiments/${experimentId}`)).status).toBe(204);
      expect((await client.get(`/v1/runs/${runId}`)).body).toMatchObject({
        experiment: 'main',
        experimentId: null,
      });
      expect((await client.get(`/v1/runs/${runId}/scorecard`)).status).toBe(200);
    });
  });
});
