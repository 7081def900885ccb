/**
 * Workers that die, freeze or are told to leave in the middle of a drill: whatever they had in place is undone by
 * another, and nothing is injected twice.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ChildProgram, type RunningProgram } from '../support/child-program.js';
import { experimentDocument, fabricDocument } from '../support/definitions.js';
import { actionsOn, outsideFabrics, settingsOf, STEPS } from '../support/outside-fabric.js';
import { oneQueue } from '../support/queue-backends.js';
import { lockResults } from '../support/results-lock.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';
import { compileWorker, SHORT_TIMES, startWorker } from '../support/worker-program.js';

jest.setTimeout(90_000);

let program: ChildProgram;
beforeAll(() => {
  program = compileWorker();
});
afterAll(() => program.remove());

describe.each(oneQueue('workers that die'))('a worker of a queue in $name', (backend) => {
  let world: string;
  let service: TestService;
  let workers: RunningProgram[];

  beforeAll(async () => {
    world = mkdtempSync(join(tmpdir(), 'fabricdrill-world-'));
    workers = [];
    service = await startService(backend);
  });

  afterAll(async () => {
    for (const worker of workers) {
      worker.process.kill('SIGKILL');
      await worker.ended;
    }
    await service.stop();
    rmSync(world, { recursive: true });
  });

  const worker = async (concurrency = 1): Promise<RunningProgram> => {
    const started = await startWorker(program, world, {
      FABRICDRILL_HOME: service.config.home,
      DATABASE_URL: service.databaseUrl,
      REDIS_URL: service.redisUrl ?? '',
      FABRICDRILL_WORKER_CONCURRENCY: String(concurrency),
    });
    workers.push(started);
    return started;
  };
  const another = (): Promise<{ close(): Promise<void> }> =>
    service.join({ api: false, worker: { ...SHORT_TIMES, openFabric: outsideFabrics({ world }) } });
  const start = (name: string): Promise<string> =>
    service.client.run(fabricDocument(name), experimentDocument(name, name));
  const stateOf = async (id: string): Promise<string> =>
    (await service.client.get(`/v1/runs/${id}`)).body.state as string;
  const impaired = (name: string): unknown[] =>
    Object.values(settingsOf(world, name)).filter((settings) => settings.cable !== 'connected');
  const applies = (name: string): number[] =>
    actionsOn(world, name)
      .filter(({ action }) => action === 'apply')
      .map(({ pid }) => pid);

  it('killed at any step leaves nothing behind: another one undoes it and ends the runs as error', async () => {
    const first = await worker(STEPS.length + 1);
    const lock = await lockResults(service.databaseUrl);
    const runs = new Map<string, string>();
    try {
      for (const step of STEPS) runs.set(`at-${step}`, await start(`at-${step}`));
      runs.set('diagnosing', await start('diagnosing'));
      const reached = new Set<string>();
      while (reached.size < STEPS.length) reached.add(await first.line());
      expect([...reached].sort()).toEqual([...STEPS].sort());
      await until(async () => (await stateOf(runs.get('diagnosing')!)) === 'diagnosing', 'the diagnosis');
      first.process.kill('SIGKILL');
      expect(await first.ended).toBe('SIGKILL');
    } finally {
      await lock.release();
    }
    expect(impaired('at-injecting')).toHaveLength(1);
    const states = new Map<string, string>();
    for (const [name, id] of runs) states.set(name, await stateOf(id));
    const second = await another();
    for (const [name, id] of runs) {
      const run = await service.client.ended(id);
      expect([name, run.state, run.exitCode, run.reason]).toEqual([
        name,
        'error',
        3,
        expect.stringMatching(`the worker was lost in state ${states.get(name)}`),
      ]);
      expect([name, impaired(name)]).toEqual([name, []]);
      // Whatever was injected was injected once, and by the worker that is dead.
      expect([name, ...applies(name).filter((pid) => pid !== first.process.pid)]).toEqual([name]);
      expect(applies(name).length).toBeLessThanOrEqual(1);
      const open = await service.rows(
        `SELECT id FROM undo_entries WHERE run_id = $1 AND status <> 'verified'`,
        [id],
      );
      expect([name, open]).toEqual([name, []]);
    }
    expect([...states.values()]).toEqual(
      expect.arrayContaining(['preflight', 'baseline', 'injecting', 'holding', 'reverting', 'observing']),
    );
    await second.close();
  });

  it('frozen past its lease can write and inject nothing once it wakes up', async () => {
    const frozen = await worker();
    const id = await start('at-baseline');
    expect(await frozen.line()).toBe('baseline');
    const actions = actionsOn(world, 'at-baseline').length;
    frozen.process.kill('SIGSTOP');
    const second = await another();
    const run = await service.client.ended(id);
    expect(run).toMatchObject({ state: 'error', reason: expect.stringContaining('lost in state baseline') });
    const rows = (): Promise<unknown[]> =>
      service.rows(
        `SELECT run.*, (SELECT max(seq) FROM run_events WHERE run_id = $1) AS events FROM runs run WHERE id = $1`,
        [id],
      );
    const ended = await rows();
    await second.close();
    frozen.process.kill('SIGCONT');
    frozen.say('go on');
    // The worker is done with the run when it takes the next one.
    const next = await start('next');
    expect(await service.client.ended(next)).toMatchObject({ state: 'passed' });
    expect(applies('next')).toEqual([frozen.process.pid]);
    expect(actionsOn(world, 'at-baseline')).toHaveLength(actions);
    expect(await rows()).toEqual(ended);
    frozen.process.kill('SIGTERM');
    expect(await frozen.ended).toBe(0);
  });

  it('told to leave reverts first, ends its run as aborted and goes in time', async () => {
    const leaving = await worker();
    const id = await start('slow-drill');
    const queued = await start('not-begun');
    await service.client.events(id, undefined, ({ data }) => data.state === 'holding');
    expect(impaired('slow-drill')).toHaveLength(1);
    const sentMs = Date.now();
    leaving.process.kill('SIGTERM');
    expect(await leaving.ended).toBe(0);
    expect(Date.now() - sentMs).toBeLessThan(10_000);
    expect((await service.client.get(`/v1/runs/${id}`)).body).toMatchObject({
      state: 'aborted',
      exitCode: 4,
      reason: 'the worker is shutting down',
    });
    expect(impaired('slow-drill')).toEqual([]);
    // What it had not begun waits for another worker.
    expect(await stateOf(queued)).toBe('pending');
    const second = await another();
    expect(await service.client.ended(queued)).toMatchObject({ state: 'passed' });
    await second.close();
  });
});
