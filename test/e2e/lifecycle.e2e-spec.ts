/**
 * The life of a run over HTTP, queue and database: states in order, undo before injection, abort wherever it comes.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { experimentDocument, fabricDocument, type Json } from '../support/definitions.js';
import type { Answer } from '../support/http-client.js';
import { Gates } from '../support/gates.js';
import { actionsOn, outsideFabrics, settingsOf, STEPS, type Step } from '../support/outside-fabric.js';
import { oneQueue } from '../support/queue-backends.js';
import { lockResults } from '../support/results-lock.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

jest.setTimeout(60_000);

/** Steps before anything is in place. */
const BEFORE: readonly Step[] = ['preflight', 'baseline', 'intended'];

describe.each(oneQueue('the life of a run'))('the life of a run, queued in $name', (backend) => {
  const gates = new Gates();
  const undo = new Map<string, 'works' | 'fails' | 'lies'>();
  let world: string;
  let service: TestService;

  beforeAll(async () => {
    world = mkdtempSync(join(tmpdir(), 'fabricdrill-world-'));
    const openFabric = outsideFabrics({ world, hold: gates.hold, undo: (name) => undo.get(name) ?? 'works' });
    service = await startService(backend, { api: true, worker: { heartbeatMs: 50, openFabric } });
  });

  afterAll(async () => {
    gates.openAll();
    await service.stop();
    rmSync(world, { recursive: true });
  });

  const start = (name: string, experiment: Json = {}): Promise<string> =>
    service.client.run(fabricDocument(name), experimentDocument(name, name, experiment));

  const impaired = (name: string): string[] =>
    Object.values(settingsOf(world, name)).flatMap((settings) =>
      Object.values(settings).filter((value) => value === 'cut'),
    );

  it('walks through the states in order and stores every transition with its event', async () => {
    const id = await start('in-order');
    const run = await service.client.ended(id);
    expect(run).toMatchObject({ state: 'passed', final: true, exitCode: 0, reason: null });
    const transitions = await service.rows<{ seq: number; state: string; at: Date }>(
      'SELECT seq, state, at FROM run_transitions WHERE run_id = $1 ORDER BY seq',
      [id],
    );
    expect(transitions.map(({ state }) => state)).toEqual([
      'pending',
      'preflight',
      'baseline',
      'injecting',
      'holding',
      'reverting',
      'observing',
      'diagnosing',
      'scoring',
      'passed',
    ]);
    expect(transitions.map(({ seq }) => seq)).toEqual(transitions.map((_, index) => index + 1));
    const times = transitions.map(({ at }) => at.getTime());
    expect(times).toEqual([...times].sort((a, b) => a - b));
    const events = await service.client.events(id);
    expect(events.filter(({ type }) => type === 'state').map(({ data }) => data.state)).toEqual(
      transitions.map(({ state }) => state),
    );
  });

  it('writes the undo before it injects, and proves it after', async () => {
    gates.close('undo-first', 'intended');
    const id = await start('undo-first');
    await gates.reached('undo-first');
    const entries = (): Promise<Json[]> =>
      service.rows<Json>('SELECT * FROM undo_entries WHERE run_id = $1 ORDER BY ordinal', [id]);
    const [intended] = await entries();
    expect(intended).toMatchObject({ status: 'intended', applied_at: null, verified_at: null });
    expect(Object.values(intended.saved as Json)).toEqual([{ cable: 'connected' }]);
    expect(actionsOn(world, 'undo-first')).toEqual([]);
    gates.open('undo-first');
    await service.client.ended(id);
    const done = await entries();
    expect(done).toHaveLength(1);
    const { status, intended_at, applied_at, reverted_at, verified_at } = done[0];
    expect(status).toBe('verified');
    const times = [intended_at, applied_at, reverted_at, verified_at].map((time) => (time as Date).getTime());
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(actionsOn(world, 'undo-first').map(({ action }) => action)).toEqual(['apply', 'revert']);
    expect(impaired('undo-first')).toEqual([]);
  });

  it('tells the truth on no route before the verdict is sealed', async () => {
    gates.close('sealed', 'observing');
    const id = await start('sealed');
    await gates.reached('sealed');
    const { experimentId } = (await service.client.get(`/v1/runs/${id}`)).body;
    const before = [
      await service.client.get('/v1/runs'),
      await service.client.get(`/v1/runs/${id}`),
      await service.client.post(`/v1/experiments/${experimentId}/plan`),
      ...(await Promise.all(
        ['scorecard', 'verdict', 'evidence', 'report'].map((what) =>
          service.client.get(`/v1/runs/${id}/${what}`),
        ),
      )),
    ];
    expect(before.map(({ status }) => status)).toEqual([200, 200, 200, 409, 409, 409, 409]);
    const events = await service.client.events(id, undefined, ({ data }) => data.state === 'observing');
    for (const text of [...before.map((answer) => answer.text), JSON.stringify(events)]) {
      expect(text).not.toMatch(/"truth"|"side"/);
    }
    expect(await service.rows('SELECT 1 FROM run_truth WHERE run_id = $1', [id])).toEqual([]);
    gates.open('sealed');
    await service.client.ended(id);
    const [sealed] = await service.rows<{ sealed: boolean }>(
      `SELECT result.sealed_at <= transition.at AS sealed FROM run_results result JOIN run_transitions transition
         ON transition.run_id = result.run_id AND transition.state = 'scoring' WHERE result.run_id = $1`,
      [id],
    );
    expect(sealed).toEqual({ sealed: true });
    const { truth } = (await service.client.get(`/v1/runs/${id}/scorecard`)).body;
    expect(truth).toHaveLength(1);
  });

  it.each(STEPS)('aborts at the step %s: reverted, nothing more injected, no scores', async (step) => {
    const name = `abort-${step}`;
    gates.close(name, step);
    const id = await start(name);
    await gates.reached(name);
    const first = await service.client.post(`/v1/runs/${id}/abort`, { reason: 'a real outage' });
    expect([first.status, first.body.final]).toEqual([202, false]);
    const again = await service.client.post(`/v1/runs/${id}/abort`, { reason: 'once more' });
    expect([again.status, again.body.abortReason]).toEqual([202, 'a real outage']);
    const applies = (): number => actionsOn(world, name).filter(({ action }) => action === 'apply').length;
    const appliedBefore = applies();
    gates.open(name);
    const run = await service.client.ended(id);
    expect(run).toMatchObject({ state: 'aborted', exitCode: 4, reason: 'a real outage' });
    // An injection that was under way when the abort came is undone like any other.
    expect(applies()).toBe(step === 'intended' ? 1 : appliedBefore);
    if (step === 'preflight' || step === 'baseline') expect(applies()).toBe(0);
    if (!BEFORE.includes(step)) expect(applies()).toBe(1);
    expect(impaired(name)).toEqual([]);
    const open = await service.rows(
      `SELECT status FROM undo_entries WHERE run_id = $1 AND status <> 'verified'`,
      [id],
    );
    expect(open).toEqual([]);
    const { scores, truth, reasons } = (await service.client.get(`/v1/runs/${id}/scorecard`)).body;
    expect([scores.recovery.score, truth, reasons]).toEqual([null, [], ['a real outage']]);
  });

  it('aborts while it diagnoses', async () => {
    gates.close('abort-diagnosing', 'observing');
    const id = await start('abort-diagnosing');
    await gates.reached('abort-diagnosing');
    const lock = await lockResults(service.databaseUrl);
    gates.open('abort-diagnosing');
    const waiting = async (like: string): Promise<number> => {
      const rows = await service.rows(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE $1`,
        [like],
      );
      return rows.length;
    };
    let asked: Promise<Answer>;
    try {
      await until(async () => (await waiting('INSERT INTO run_results%')) === 1, 'the verdict that waits');
      const others = await waiting('SELECT "RunEntity"%');
      asked = service.client.post(`/v1/runs/${id}/abort`);
      await until(async () => (await waiting('SELECT "RunEntity"%')) > others, 'the abort that waits');
    } finally {
      await lock.release();
    }
    expect((await asked).status).toBe(202);
    expect(await service.client.ended(id)).toMatchObject({ state: 'aborted', exitCode: 4 });
  });

  it('ends at once when it is aborted before a worker has it, and never injects', async () => {
    gates.close('busy', 'baseline');
    await start('busy');
    await gates.reached('busy');
    const id = await start('queued');
    const aborted = await service.client.post(`/v1/runs/${id}/abort`, { reason: 'changed my mind' });
    expect([aborted.status, aborted.body.state]).toEqual([202, 'aborted']);
    gates.open('busy');
    const after = await start('after-queued');
    await service.client.ended(after);
    expect(actionsOn(world, 'queued')).toEqual([]);
    expect((await service.client.get(`/v1/runs/${id}`)).body.state).toBe('aborted');
    expect((await service.client.get(`/v1/runs/${id}/report`)).text).toMatch(/changed my mind/);
  });

  it('refuses to abort what has ended', async () => {
    const id = await start('ended');
    await service.client.ended(id);
    const refused = await service.client.post(`/v1/runs/${id}/abort`);
    expect([refused.status, refused.headers.get('content-type')]).toEqual([
      409,
      expect.stringMatching(/^application\/problem\+json/),
    ]);
    expect((await service.client.post(`/v1/runs/${id}/clear`, { reason: 'x' })).status).toBe(409);
  });

  it.each(['lies', 'fails'] as const)(
    'blocks a fabric whose undo %s until a person clears it',
    async (how) => {
      const name = `undo-${how}`;
      undo.set(name, how);
      gates.close(name, 'reverting');
      const id = await start(name);
      await gates.reached(name);
      const { body: waiting } = await service.client.post(
        `/v1/experiments/${(await service.client.get(`/v1/runs/${id}`)).body.experimentId}/runs`,
        { seed: 12 },
      );
      // of a simulated fabric without a pace nothing is left that could block it
      await service.rows(`UPDATE runs SET driver = 'linux' WHERE fabric_name = $1`, [name]);
      gates.open(name);
      expect(await service.client.ended(id)).toMatchObject({ state: 'rollback-failed', exitCode: 5 });
      expect(impaired(name)).toEqual(['cut']);
      const events = await service.client.events(id);
      expect(events.filter(({ type }) => type === 'revert-failed').length).toBeGreaterThan(0);
      expect(events.at(-1)).toMatchObject({ type: 'end', data: { state: 'rollback-failed' } });
      expect(await service.client.ended(waiting.id as string)).toMatchObject({
        state: 'inconclusive',
        reason: expect.stringContaining(id),
      });
      expect(actionsOn(world, name).filter(({ action }) => action === 'apply')).toHaveLength(1);

      const again = `/v1/experiments/${waiting.experimentId}/runs`;
      const refused = await service.client.post(again, { pace: '10x' });
      expect(refused.status).toBe(409);
      expect(refused.body.hint).toContain('runs clear');
      expect((await service.client.post(`/v1/runs/${id}/clear`)).status).toBe(400);
      const reason = 'pulled the cable and put it back';
      const cleared = await service.client.post(`/v1/runs/${id}/clear`, { reason });
      expect([cleared.status, cleared.body.state, cleared.body.clearedReason]).toEqual([
        200,
        'rollback-failed',
        reason,
      ]);
      undo.set(name, 'works');
    },
  );
});
