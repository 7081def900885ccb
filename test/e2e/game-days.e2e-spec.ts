/**
 * Game days over real HTTP, queue and database: stages, people, and what a blind one lets nobody see before its time.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createHash } from 'node:crypto';
import { stringify } from 'yaml';
import { experimentDocument, fabricDocument, type Json } from '../support/definitions.js';
import type { Answer, HttpClient } from '../support/http-client.js';
import { queueBackends } from '../support/queue-backends.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

jest.setTimeout(240_000);
const PATIENCE_MS = 120_000;

const hypothesis = { statement: 'traffic moves to the other spine', expect: ['recovery.recovered == 1'] };
const experiment = (more: Json = {}): Json => ({ experiment: 'cut', hypothesis, ...more });
const dayDocument = (name: string, stages: Json[], spec: Json = {}): Json => ({
  apiVersion: 'fabricdrill/v1',
  kind: 'GameDay',
  metadata: { name },
  spec: { ...spec, stages },
});
const noFault = { faultFound: false, culprits: [] };

const [backend] = queueBackends('game days');

describe('a game day', () => {
  let service: TestService;
  let client: HttpClient;
  /** They conduct too: one goes away in mid-day. */
  let others: { close(): Promise<void> }[];

  beforeAll(async () => {
    service = await startService(backend, { api: true, worker: true });
    client = service.client;
    expect((await client.post('/v1/fabrics', fabricDocument('small'))).status).toBe(201);
    expect((await client.post('/v1/experiments', experimentDocument('cut', 'small'))).status).toBe(201);
    others = await Promise.all([1, 2].map(() => service.join({ api: true, worker: false })));
  });
  afterAll(async () => {
    await others[1].close();
    await service.stop();
  });

  const begin = async (...documents: Json[]): Promise<string> => {
    const text = documents.map((one) => stringify(one)).join('---\n');
    const begun = await client.yaml('POST', '/v1/game-days', text);
    expect([begun.status, begun.text]).toEqual([202, expect.any(String)]);
    return begun.headers.get('location')!;
  };
  const show = async (address: string): Promise<Json & { stages: Json[] }> =>
    (await client.get(address)).body as Json & { stages: Json[] };
  /** Every GET of the OpenAPI document, with ids that are there in place of parameters. */
  const everythingReadable = async (
    known: Record<string, string[]>,
  ): Promise<{ path: string; text: string }[]> => {
    const { paths } = (await client.get('/openapi.json')).body as { paths: Record<string, Json> };
    const found: { path: string; text: string }[] = [];
    for (const template of ['/metrics', '/openapi.json', ...Object.keys(paths)]) {
      if (template in paths && paths[template].get === undefined) continue;
      const isOf = (room: string): boolean => template.startsWith(`/v1/${room}`);
      const ids = isOf('game-days') ? known.gameDay : isOf('runs') ? known.run : known.experiment;
      const path = template
        .replace('{name}', known.fabric[0])
        .replace('{run}', known.run[0])
        .replace(/\{\w+\}/g, ids[0]);
      const { text } = path.endsWith('/events')
        ? { text: JSON.stringify(await client.events(known.run[0])) }
        : await client.get(path);
      found.push({ path, text });
    }
    return found;
  };
  const inState = async (address: string, state: string): Promise<void> =>
    until(async () => (await show(address)).state === state, `${address} ${state}`, PATIENCE_MS);

  it('is refused with pointer, line and the valid choice, and begins nothing', async () => {
    const refused = async (stages: Json[], spec: Json = {}, ...brought: Json[]): Promise<Json> => {
      const answer = await client.yaml(
        'POST',
        '/v1/game-days',
        [dayDocument('wrong', stages, spec), ...brought].map((one) => stringify(one)).join('---\n'),
      );
      expect(answer.status).toBe(400);
      return answer.body.errors[0] as Json;
    };
    expect(await refused([{ name: 'one', experiments: [experiment({ experiment: 'cutt' })] }])).toMatchObject(
      {
        pointer: '/spec/stages/0/experiments/0/experiment',
        line: 9,
        hint: 'did you mean "cut"?',
      },
    );
    expect(await refused([{ name: 'one', experiments: [experiment({ fabric: 'smal' })] }])).toMatchObject({
      pointer: '/spec/stages/0/experiments/0/fabric',
      hint: 'did you mean "small"?',
    });
    expect(await refused([{ name: 'one', experiments: [experiment()] }], { blind: true })).toMatchObject({
      pointer: '/spec/stages/0/experiments/0/experiment',
      message: expect.stringContaining('brings its experiments along'),
    });
    const inTheLab = [{ name: 'one', experiments: [experiment({ experiment: 'secret' })] }];
    const labelled = fabricDocument('lab');
    Object.assign(labelled.metadata as Json, { labels: { purpose: 'LinkDown drills' } });
    for (const telling of [fabricDocument('link-down-lab'), labelled]) {
      const { name } = telling.metadata as { name: string };
      const brings = [experimentDocument('secret', name), telling];
      expect(await refused(inTheLab, { blind: true }, ...brings)).toMatchObject({
        pointer: '/spec/stages/0/experiments/0/experiment',
        message: expect.stringContaining('everybody sees, says "link-down"'),
      });
    }
    const plan = dayDocument('planned', [{ name: 'one', experiments: [experiment()] }], { pace: '3x' });
    const planned = await client.yaml('POST', '/v1/game-days/plan', stringify(plan));
    expect([planned.status, planned.body]).toEqual([
      200,
      expect.objectContaining({
        pace: '3x',
        hidden: [],
        stages: [
          expect.objectContaining({
            order: 'serial',
            experiments: [
              expect.objectContaining({
                name: 'cut',
                fabric: 'small',
                seed: 11,
                takes_s: expect.any(Number),
                targets: [expect.stringMatching(/^link:leaf/)],
                blastRadius: expect.objectContaining({ exposedJobs: ['exposed'] }),
              }),
            ],
          }),
        ],
      }),
    ]);
    const drawn = dayDocument('planned', [{ name: 'one', experiments: [experiment()] }], { blind: true });
    const text = [drawn, experimentDocument('cut', 'small')].map((one) => stringify(one)).join('---\n');
    const blind = (await client.yaml('POST', '/v1/game-days/plan', text)).body as Json & { stages: Json[] };
    expect(blind.stages[0].experiments).toMatchObject([{ seed: null, targets: null, blastRadius: null }]);
    expect(blind.hidden).not.toEqual([]);
    expect((await client.get('/v1/game-days')).body.data).toEqual([]);
    expect((await client.post('/v1/game-days', experimentDocument('cut', 'small'))).status).toBe(400);
  });

  it('goes through its stages once whoever conducts, with people, and its report says what held, what is to do, and what changed', async () => {
    const stages = [
      { name: 'warm-up', experiments: [experiment()] },
      {
        name: 'harder',
        pause: 'Is the dashboard open?',
        order: 'parallel',
        when: [{ stage: 'warm-up', expression: 'recovery.recovered == 1' }],
        experiments: [
          experiment({
            name: 'hopeless',
            hypothesis: { statement: 'nobody notices', expect: ['recovery.resilience_loss <= 0'] },
          }),
        ],
      },
      {
        name: 'never',
        when: [{ stage: 'harder', experiment: 'hopeless', expression: 'recovery.recovered == 0' }],
        experiments: [experiment()],
      },
    ];
    const document = dayDocument('autumn', stages, { roles: [{ role: 'lead', people: ['Ada'] }] });
    const keyed = (name: string): Promise<Answer> =>
      client.post('/v1/game-days', { ...document, metadata: { name } }, { 'idempotency-key': 'autumn-1' });
    const [begun, again] = await Promise.all([keyed('autumn'), keyed('autumn')]);
    expect([begun.status, again.status, again.body.id]).toEqual([202, 202, begun.body.id]);
    expect([begun, again].map(({ headers }) => headers.get('idempotency-replayed')).sort()).toEqual([
      null,
      'true',
    ]);
    expect((await keyed('spring')).status).toBe(409);
    const address = begun.headers.get('location')!;
    await others[0].close();
    await inState(address, 'waiting');
    expect((await client.get(`${address}/report`)).status).toBe(409);
    const warmUp = (await show(address)).stages[0];
    expect(warmUp).toMatchObject({
      name: 'warm-up',
      state: 'done',
      experiments: [{ name: 'cut', sealed: false }],
    });
    const action = { text: 'alert on the fiber', kind: 'action', author: 'Ada' };
    expect((await client.post(`${address}/notes`, action)).body).toMatchObject(action);
    expect((await client.post(`${address}/continue`, { stage: 'never' })).status).toBe(409);
    expect((await client.post(`${address}/continue`, { stage: 'hardr' })).body.errors[0].hint).toContain(
      'harder',
    );
    expect((await client.post(`${address}/continue`, { by: 'Ada' })).body.stages[1]).toMatchObject({
      continuedBy: 'Ada',
    });
    await inState(address, 'completed');
    expect((await show(address)).stages[2]).toMatchObject({
      state: 'skipped',
      reason: 'harder/hopeless: recovery.recovered == 0 does not hold',
    });
    const report = (await client.get(`${address}/report`)).body as Json;
    expect(report).toMatchObject({ state: 'completed', exitCode: 0, comparison: null });
    expect(report.experiments).toMatchObject([
      { stage: 'warm-up', experiment: 'cut', state: 'passed', hypothesis: { outcome: 'held' } },
      { experiment: 'hopeless', hypothesis: { outcome: 'refuted' } },
      { stage: 'never', state: 'not run', hypothesis: { outcome: 'not run' } },
    ]);
    expect(report.actions).toEqual([
      expect.objectContaining({
        from: 'hypothesis',
        text: 'harder/hopeless refutes "nobody notices"',
        again: false,
      }),
      expect.objectContaining({ from: 'note', of: 'Ada', text: 'alert on the fiber' }),
    ]);
    const markdown = await client.get(`${address}/report?format=markdown`);
    expect(markdown.text).toContain('- \\[ \\] alert on the fiber'.replaceAll('\\', ''));

    const [first] = stages;
    const second = await begin(dayDocument('autumn', [{ ...first, experiments: [experiment({ seed: 3 })] }]));
    await inState(second, 'completed');
    expect((await client.get(`${second}/report`)).body.comparison).toMatchObject({
      with: address.split('/').at(-1),
      differences: expect.arrayContaining([
        expect.objectContaining({ of: 'harder/hopeless', before: 'passed', after: 'not there' }),
      ]),
      actionsGone: ['harder/hopeless refutes "nobody notices"', 'alert on the fiber'],
    });
    const runs = (await client.get(`/v1/runs?gameDay=${address.split('/').at(-1)}`)).body.data as Json[];
    expect(runs).toHaveLength(2);
  });

  it('that is blind tells nobody what is injected until the team has committed its diagnosis', async () => {
    const stages = [{ name: 'one', experiments: [experiment({ experiment: 'secret' })] }];
    const document = dayDocument('blind', stages, { blind: true, description: 'a fiber will be cut' });
    const secret = experimentDocument('secret', 'small', { objectives: ['recovery.recovered == 0'] });
    const address = await begin(document, secret);
    await inState(address, 'waiting');
    const day = await show(address);
    const [hidden] = day.stages[0].experiments as Json[];
    const run = hidden.run as string;
    const seal = hidden.seal as string;
    const [row] = await service.rows<Json>('SELECT state, seed, plan FROM runs WHERE id = $1', [run]);
    expect(row.state).toBe('failed');
    const [target] = ((row.plan as Json).faults as { targets: { id: string }[] }[])[0].targets;

    const words = ['secret', target.id, 'link-down', 'recovered == 0', 'a fiber', String(row.seed)];
    const known: Record<string, string[]> = {
      gameDay: [address.split('/').at(-1)!],
      run: [run],
      fabric: ['small'],
      experiment: [(await client.get('/v1/experiments')).body.data[0].id as string],
    };
    const reached = await everythingReadable(known);
    for (const { path, text } of reached) {
      // what any fabric and any day has: kinds of faults, schemas, descriptions of metrics
      const general = /^\/(v1\/(faults|schemas|metrics)|openapi\.json|docs)/.test(path);
      // the evidence is what the team works from, and tells of the element that failed
      const evidence = path.endsWith('/evidence');
      // another experiment, which anybody could read before
      const others = path === '/v1/experiments' || path.startsWith('/v1/experiments/');
      for (const word of words) {
        if ((general || evidence || others) && [target.id, 'link-down'].includes(word)) continue;
        if (path === '/v1/fabrics/small/topology' && word === target.id) continue;
        expect(`${path}: ${text}`).not.toContain(word);
      }
    }
    expect(reached.map(({ path }) => path)).toEqual(
      expect.arrayContaining([address, `/v1/runs/${run}`, `/v1/runs/${run}/events`, '/metrics', '/v1/gates']),
    );
    expect(hidden).toEqual(expect.objectContaining({ name: null, hypothesis: null, sealed: true }));
    expect(seal).toMatch(/^[0-9a-f]{64}$/);
    expect((await client.get(`/v1/runs/${run}`)).body).toMatchObject({
      state: 'ended',
      exitCode: null,
      seed: null,
      plan: null,
      reason: null,
    });
    for (const path of ['scorecard', 'verdict', 'report']) {
      expect((await client.get(`/v1/runs/${run}/${path}`)).status).toBe(409);
    }
    for (const filter of ['state=failed', 'state=passed', 'experiment=secret']) {
      const found = (await client.get(`/v1/runs?${filter}`)).body.data as Json[];
      expect(found.map(({ id }) => id)).not.toContain(run);
    }
    expect((await client.post(`/v1/diagnose`, { run })).status).toBe(409);
    expect((await client.post(`/v1/runs/${run}/abort`)).text).not.toContain('failed');
    expect((await client.post(`/v1/runs/${run}/clear`, { reason: 'try' })).text).not.toContain(
      'state failed',
    );
    const events = await client.events(run);
    expect(events.map(({ type, data }) => [type, data.state])).toEqual([
      ['state', 'running'],
      ['end', 'ended'],
    ]);
    expect((await client.get(`/v1/runs/${run}/evidence`)).status).toBe(200);
    const guess = await client.post(`/v1/runs/${run}/diagnoses?author=guesser`, noFault);
    expect(guess.body).toMatchObject({ explainability: null });

    const culprit = { kind: 'link-down', element: { type: 'link', id: target.id }, probability: 0.9 };
    const wrong = { ...culprit, element: { type: 'link', id: 'link:none--none' } };
    const commit = (culprits: Json[]) =>
      client.post(`${address}/commit`, {
        run,
        author: 'night shift',
        verdict: { faultFound: true, culprits },
      });
    expect((await commit([wrong])).body.errors[0].pointer).toMatch(/culprits\/0\/element\/id$/);
    expect((await commit([culprit])).body).toMatchObject({ sealed: false, committedBy: 'night shift' });
    expect((await commit([])).status).toBe(409);

    const opened = await client.get(`${address}/seals/${run}`);
    expect(createHash('sha256').update(opened.bytes).digest('hex')).toBe(seal);
    expect(opened.body).toMatchObject({ seed: Number(row.seed), experiment: secret, name: 'secret' });
    expect((await client.get(`/v1/runs/${run}`)).body).toMatchObject({ state: 'failed', sealed: false });
    await inState(address, 'completed');
    const [shown] = (await client.get(`${address}/report`)).body.experiments as Json[];
    expect(shown).toMatchObject({
      experiment: 'secret',
      ours: { author: 'fabricdrill' },
      team: { author: 'night shift', named: [`link-down at ${target.id}`], metrics: { top1: 1 } },
    });
    const scored = (await client.get(`/v1/runs/${run}/diagnoses`)).body.data as Json[];
    expect(scored.every(({ explainability }) => explainability !== null)).toBe(true);
  });

  it('that is aborted starts nothing more, and tells what was begun when the team has committed its diagnosis', async () => {
    const one = { experiments: [experiment({ experiment: 'secret' })] };
    const stages = [
      { name: 'one', ...one },
      { name: 'two', pause: 'Ready?', ...one },
    ];
    const address = await begin(
      dayDocument('stopped', stages, { blind: true }),
      experimentDocument('secret', 'small'),
    );
    await until(async () => (await show(address)).stages[1].state === 'paused', 'the pause', PATIENCE_MS);
    expect((await client.post(`${address}/abort`, { reason: 'fire drill' })).body).toMatchObject({
      state: 'waiting',
      reason: 'fire drill',
      final: false,
    });
    expect((await client.post(`${address}/continue`)).status).toBe(409);
    const sealed = await show(address);
    expect(sealed).toMatchObject({ definition: null, stages: [{ state: 'done' }, { state: 'skipped' }] });
    const [{ run }] = sealed.stages[0].experiments as { run: string }[];
    expect((await client.get(`/v1/runs/${run}/scorecard`)).status).toBe(409);
    expect((await client.get(`${address}/seals/${run}`)).status).toBe(409);
    expect((await client.get(`${address}/report`)).status).toBe(409);

    const verdict = { faultFound: null, culprits: [] };
    expect((await client.post(`${address}/commit`, { run, verdict })).body).toMatchObject({ sealed: false });
    const shown = await show(address);
    expect(shown).toMatchObject({ state: 'aborted', final: true });
    expect(shown.definition).not.toBeNull();
    expect(shown.stages[1].experiments).toMatchObject([{ run: null, sealed: false, name: 'secret' }]);
    const report = (await client.get(`${address}/report`)).body;
    expect(report).toMatchObject({ exitCode: 4, experiments: [{ team: { faultFound: null } }, {}] });
  });
});
