/**
 * Definitions over HTTP: fault kinds, fabrics, experiments, plans, and what is answered to those that are wrong.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { experimentDocument, fabricDocument, yamlOf, type Json } from '../support/definitions.js';
import type { Answer, HttpClient } from '../support/http-client.js';
import { queueBackends } from '../support/queue-backends.js';
import { startService, type TestService } from '../support/service.js';

jest.setTimeout(60_000);

const IMPORTED = [
  // nodes, GPUs a server, NVSwitches, switches, links, GPU type; then the switches; then the links
  '7 2 0 3 6 H100',
  '4 5 6',
  '0 4 100Gbps 0.001ms 0',
  '1 4 100Gbps 0.001ms 0',
  '2 5 100Gbps 0.001ms 0',
  '3 5 100Gbps 0.001ms 0',
  '4 6 100Gbps 0.001ms 0',
  '5 6 100Gbps 0.001ms 0',
].join('\n');

describe.each(queueBackends('definitions over HTTP'))('definitions, queue in $name', (backend) => {
  let service: TestService;
  let client: HttpClient;

  beforeAll(async () => {
    service = await startService(backend);
    client = service.client;
  });
  afterAll(() => service.stop());

  const count = async (table: string): Promise<number> =>
    (await service.rows<{ n: number }>(`SELECT count(*)::int AS n FROM ${table}`))[0].n;

  const expectProblem = (answer: Answer, status: number): void => {
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      status,
      expect.stringMatching(/^application\/problem\+json/),
    ]);
    expect(answer.body).toMatchObject({ type: 'about:blank', status, title: expect.any(String) });
  };

  describe('fault kinds', () => {
    it('are listed and described with parameters, symptoms and an example', async () => {
      const { body } = await client.get('/v1/faults');
      expect((body.data as Json[]).map(({ name }) => name)).toContain('link-down');
      for (const { name } of body.data as { name: string }[]) {
        const kind = (await client.get(`/v1/faults/${name}`)).body;
        expect(kind).toMatchObject({ name, parameters: expect.any(Object), example: expect.any(String) });
        expect(Object.values(kind.symptoms as Record<string, Json[]>).flat()[0]).toMatchObject({
          citation: expect.stringMatching(/\S/),
        });
      }
    });

    it('that do not exist are 404 with the nearest name', async () => {
      const answer = await client.get('/v1/faults/link-dwn');
      expectProblem(answer, 404);
      expect(answer.body.hint).toContain('link-down');
    });
  });

  describe('fabrics', () => {
    it('are stored once, conflict under a taken name, and are replaced on demand', async () => {
      const created = await client.post('/v1/fabrics', fabricDocument('one'));
      expect([created.status, created.headers.get('location')]).toEqual([201, '/v1/fabrics/one']);
      expect((await client.post('/v1/fabrics', fabricDocument('one'))).status).toBe(200);
      const other = fabricDocument('one', { jobs: [] });
      const conflict = await client.post('/v1/fabrics', other);
      expectProblem(conflict, 409);
      expect(conflict.body.hint).toContain('PUT');
      expect((await client.get('/v1/fabrics/one')).body.definition).toEqual(fabricDocument('one'));
      const replaced = await client.send('PUT', '/v1/fabrics/one', other);
      expect(replaced.status).toBe(200);
      expect((await client.get('/v1/fabrics/one')).body).toMatchObject({
        definition: other,
        summary: { jobs: [] },
      });
      expectProblem(await client.send('PUT', '/v1/fabrics/two', other), 400);
    });

    it('come as YAML as well, with the line of a mistake', async () => {
      const stored = await client.yaml('POST', '/v1/fabrics', yamlOf(fabricDocument('of-yaml')));
      expect(stored.status).toBe(201);
      const wrong = yamlOf(fabricDocument('wrong')).replace('spines: 2', 'spinse: 2');
      const answer = await client.yaml('POST', '/v1/fabrics', wrong);
      expectProblem(answer, 400);
      const line = wrong.split('\n').findIndex((text) => text.includes('spinse')) + 1;
      expect(answer.body.errors).toContainEqual(
        expect.objectContaining({
          pointer: '/spec/topology/spinse',
          line,
          hint: expect.stringContaining('spines'),
        }),
      );
      expectProblem(await client.get('/v1/fabrics/wrong'), 404);
    });

    it('tell their topology', async () => {
      await client.post('/v1/fabrics', fabricDocument('shown'));
      const { body } = await client.get('/v1/fabrics/shown/topology');
      expect(body.devices).toHaveLength(10);
      expect(body.links).toHaveLength(16);
      expect(JSON.stringify(body)).toContain('link:leaf-1/p7--spine-1/p1');
    });

    it('are made of topology files of other simulators, or refused with the line', async () => {
      const request = { name: 'imported', format: 'simai', text: IMPORTED, file: 'topo.txt' };
      const stored = await client.post('/v1/fabrics/import', request);
      expect([stored.status, stored.body.name]).toEqual([201, 'imported']);
      const { body } = await client.get('/v1/fabrics/imported/topology');
      expect(body.links).toHaveLength(6);
      const broken = await client.post('/v1/fabrics/import', {
        ...request,
        name: 'broken',
        text: IMPORTED.replace('1 4 100Gbps', '1 4 100Gpbs'),
      });
      expectProblem(broken, 400);
      expect(broken.body.errors[0]).toMatchObject({ file: 'topo.txt', line: 4 });
      expectProblem(await client.get('/v1/fabrics/broken'), 404);
      const replaced = { ...request, text: IMPORTED.replace('100Gbps', '200Gbps') };
      expectProblem(await client.post('/v1/fabrics/import', replaced), 409);
      expect((await client.post('/v1/fabrics/import?replace=true', replaced)).status).toBe(200);
    });

    it('are listed page by page and deleted', async () => {
      const names: string[] = [];
      for (let next: string | undefined = '/v1/fabrics?limit=2'; next !== undefined;) {
        const page: Answer = await client.get(next);
        expect(page.body.data.length).toBeLessThanOrEqual(2);
        names.push(...(page.body.data as { name: string }[]).map((row) => row.name));
        next = /^<([^>]+)>; rel="next"$/.exec(page.headers.get('link') ?? '')?.[1];
      }
      const stored = await service.rows<{ name: string }>('SELECT name FROM fabrics');
      expect([...names].sort()).toEqual(stored.map(({ name }) => name).sort());
      expect(new Set(names).size).toBe(names.length);
      expect((await client.send('DELETE', '/v1/fabrics/of-yaml')).status).toBe(204);
      expectProblem(await client.get('/v1/fabrics/of-yaml'), 404);
      expectProblem(await client.send('DELETE', '/v1/fabrics/of-yaml'), 404);
    });

    it.each([
      ['a shell command', 'Eth0;reboot'],
      ['a substitution', '$(reboot)'],
      ['a path', '../../etc/passwd'],
      ['a new line', 'a\nb'],
      ['a NUL', 'a\u0000b'],
      ['ten kilobytes', 'a'.repeat(10_000)],
    ])('are refused with %s for a name, stored nowhere', async (_, name) => {
      const before = await count('fabrics');
      expectProblem(await client.post('/v1/fabrics', fabricDocument(name)), 400);
      expectProblem(await client.post('/v1/fabrics/import', { name, format: 'simai', text: IMPORTED }), 400);
      const answer = await client.get(`/v1/fabrics/${encodeURIComponent(name)}`);
      expect([400, 404]).toContain(answer.status);
      expect(await count('fabrics')).toBe(before);
    });
  });

  describe('experiments', () => {
    beforeAll(async () => {
      await client.post('/v1/fabrics', fabricDocument('drilled'));
    });

    it('are created, shown, replaced and deleted', async () => {
      const document = experimentDocument('crud', 'drilled');
      const created = await client.post('/v1/experiments', document);
      const { id } = created.body;
      expect([created.status, created.headers.get('location')]).toEqual([201, `/v1/experiments/${id}`]);
      expect((await client.post('/v1/experiments', document)).body.id).toBe(id);
      expect((await client.yaml('POST', '/v1/experiments', yamlOf(document))).status).toBe(200);
      expect((await client.get(`/v1/experiments/${id}`)).body.definition).toEqual(document);
      const changed = experimentDocument('crud', 'drilled', { seed: 12 });
      expect((await client.send('PUT', `/v1/experiments/${id}`, changed)).body.definition).toEqual(changed);
      const second = await client.post('/v1/experiments', document);
      expect(second.status).toBe(201);
      expectProblem(await client.send('PUT', `/v1/experiments/${second.body.id}`, changed), 409);
      const listed = (await client.get('/v1/experiments?name=crud')).body.data as Json[];
      expect(listed.map((row) => row.id)).toEqual([second.body.id, id]);
      expect((await client.send('DELETE', `/v1/experiments/${id}`)).status).toBe(204);
      expectProblem(await client.get(`/v1/experiments/${id}`), 404);
    });

    it('are planned on their fabric or another, which stores nothing', async () => {
      const { id } = (await client.post('/v1/experiments', experimentDocument('planned', 'drilled'))).body;
      const tables = ['runs', 'fabrics', 'experiments', 'undo_entries'];
      const before = await Promise.all(tables.map(count));
      const plan = await client.post(`/v1/experiments/${id}/plan`);
      expect(plan.status).toBe(200);
      expect(plan.body).toMatchObject({
        fabric: 'drilled',
        seed: 11,
        durationNs: 9e9,
        faults: [{ targets: [{ type: 'link', id: expect.stringMatching(/^link:leaf-2.*--spine-/) }] }],
        blastRadius: { exposedJobs: ['exposed'], bystanderJobs: ['bystander'] },
        unsupported: [],
        undo: [expect.stringContaining('restore')],
      });
      expect((await client.post(`/v1/experiments/${id}/plan`)).text).toBe(plan.text);
      const elsewhere = await client.post(`/v1/experiments/${id}/plan`, {
        fabric: fabricDocument('sent-along'),
        seed: 3,
      });
      expect(elsewhere.body).toMatchObject({ fabric: 'sent-along', seed: 3 });
      expect(await Promise.all(tables.map(count))).toEqual(before);
    });

    const broken: [string, (document: Json) => Json, Json][] = [
      [
        'an unknown key',
        (document) => ({ ...document, spec: { ...(document.spec as Json), objektives: [] } }),
        { pointer: '/spec/objektives', hint: expect.stringContaining('objectives') },
      ],
      [
        'a duration without a unit',
        (document) => ({ ...document, spec: { ...(document.spec as Json), duration: 30 } }),
        { pointer: '/spec/duration', message: expect.stringContaining('30s') },
      ],
      [
        'an unknown kind of document',
        (document) => ({ ...document, kind: 'Experimant' }),
        { pointer: '/kind', hint: expect.stringContaining('Experiment') },
      ],
      [
        'an objective about no metric',
        (document) => ({
          ...document,
          spec: { ...(document.spec as Json), objectives: ['recovery.skore >= 1'] },
        }),
        { pointer: '/spec/objectives/0', hint: expect.stringContaining('score') },
      ],
    ];
    it.each(broken)('with %s are refused with pointer, line and hint', async (_, spoil, issue) => {
      const before = await count('experiments');
      const text = yamlOf(spoil(experimentDocument('broken', 'drilled')));
      const answer = await client.yaml('POST', '/v1/experiments', text);
      expectProblem(answer, 400);
      expect(answer.body.errors).toEqual([expect.objectContaining({ ...issue, line: expect.any(Number) })]);
      expect(await count('experiments')).toBe(before);
    });

    const unplannable: [string, Json, Json][] = [
      [
        'a fabric that is not stored',
        { fabric: 'driled' },
        { pointer: '/spec/fabric', hint: 'did you mean "drilled"?' },
      ],
      [
        'a selector that matches nothing',
        { faults: [fault({ tier: 'leaf-spine', usedBy: 'exposde' })] },
        { pointer: '/spec/faults/0/target/usedBy', hint: 'did you mean "exposed"?' },
      ],
      [
        'a name that no link has',
        { faults: [fault({ names: ['link:leaf-1/p7--spine-1/p9'] })] },
        {
          pointer: expect.stringMatching(/^\/spec\/faults\/0\/target/),
          hint: expect.stringContaining('spine-1/p1'),
        },
      ],
      [
        'a limit that the target exceeds',
        { limits: { maxLinks: 0 } },
        { pointer: '/spec/limits/maxLinks', message: expect.stringContaining('0 allowed') },
      ],
    ];
    it.each(unplannable)('with %s can not be run, and no run is stored', async (_, spec, issue) => {
      const { body } = await client.post(
        '/v1/experiments',
        experimentDocument('unplannable', 'drilled', spec),
      );
      const before = await count('runs');
      for (const what of ['plan', 'runs']) {
        const answer = await client.post(`/v1/experiments/${body.id}/${what}`);
        expectProblem(answer, 400);
        expect(answer.body.errors[0]).toMatchObject(issue);
      }
      expect(await count('runs')).toBe(before);
    });
  });

  describe('requests that are wrong', () => {
    const id = '00000000-0000-4000-8000-000000000000';
    const dashes = '-'.repeat(36);
    const forged = Buffer.from('["2026-01-02T03:04:05.678Z","no uuid"]').toString('base64url');
    it.each([
      [404, 'GET', '/v1/nothing'],
      [404, 'GET', `/v1/experiments/${id}`],
      [404, 'GET', '/v1/experiments/no-uuid'],
      [404, 'GET', `/v1/runs/${dashes}`],
      [404, 'GET', `/v1/runs/${id}/events`],
      [404, 'POST', `/v1/experiments/${id}/runs`],
      [404, 'POST', `/v1/runs/${id}/abort`],
      [404, 'GET', '/v1/fabrics/none/topology'],
      [404, 'GET', '/schemas/Experimant.json'],
      [400, 'GET', '/v1/runs?stat=passed'],
      [400, 'GET', '/v1/runs?state=done'],
      [400, 'GET', '/v1/runs?state=passed&state=failed'],
      [400, 'GET', '/v1/runs?limit=0'],
      [400, 'GET', '/v1/runs?since=yesterday'],
      [400, 'GET', '/v1/runs?fabric=%00'],
      [400, 'GET', '/v1/runs?cursor=x'],
      [400, 'GET', `/v1/runs?cursor=${forged}`],
      [400, 'GET', `/v1/experiments?cursor=${forged}`],
      [400, 'GET', '/v1/fabrics?name=x'],
      [400, 'GET', '/v1/fabrics/%00'],
      [400, 'GET', '/v1/fabrics/%ff'],
    ])('get %i for %s %s', async (status, method, path) => {
      expectProblem(await client.send(method, path), status);
    });

    it.each([
      [400, 'application/json', '{"kind":'],
      [400, 'application/json', '[]'],
      [400, 'application/json', '{}'],
      [400, 'application/yaml', ''],
      [400, 'application/yaml', 'a: &a [*a]'],
      [400, 'application/yaml', '- 1'],
      [415, 'text/plain', 'kind: Fabric'],
      [415, 'application/xml', '<fabric/>'],
      [415, 'application/json; charset=klingon', '{}'],
      [413, 'application/yaml', 'x'.repeat(21_000_000)],
    ])('get %i for a body of type %s', async (status, type, text) => {
      const before = await count('fabrics');
      expectProblem(await client.send('POST', '/v1/fabrics', text, { 'content-type': type }), status);
      expect(await count('fabrics')).toBe(before);
    });
  });
});

function fault(target: Json): Json {
  return {
    kind: 'link-down',
    params: { variant: 'cut' },
    target: { type: 'link', mode: 'one', ...target },
    at: '3s',
    duration: '3s',
  };
}
