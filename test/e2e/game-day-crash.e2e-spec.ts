/**
 * A game day whose processes are killed in its midst, API and worker alike, twice: what was in place is reverted on the paced
 * simulations that outlive them, every experiment is run or says why not, and nothing is begun twice.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FABRIC_DRIVERS } from '../../src/drivers/catalog.js';
import {
  compileProgram,
  startProgram,
  type ChildProgram,
  type RunningProgram,
} from '../support/child-program.js';
import { experimentDocument, fabricDocument, type Json } from '../support/definitions.js';
import { HttpClient } from '../support/http-client.js';
import { queueBackends } from '../support/queue-backends.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';
import { SHORT_TIMES } from '../support/worker-program.js';

jest.setTimeout(240_000);
const PATIENCE_MS = 120_000;

// the last line is never run: it has the program of paced simulations compiled too
const SERVER = `
  import { serveUntilSignal } from './src/cli/commands/service.js';
  import { loadConfig } from './src/system/config/config.js';
  await serveUntilSignal(loadConfig(), { api: true, worker: JSON.parse(process.argv[2]) }, (url) =>
    process.stdout.write(url + '\\n'),
  );
`;
// what `fabrics running` and `fabrics log` ask, in the surroundings of the servers
const LOOK = `
  import { fabricProcesses } from './src/drivers/catalog.js';
  const [processes] = fabricProcesses();
  const found = await processes.list();
  const logs = found.map(({ instance }) => processes.log(instance).trim().split('\\n').map((line) => JSON.parse(line)));
  process.stdout.write(JSON.stringify(found.map((one, at) => ({ ...one, log: logs[at] }))) + '\\n');
`;

interface Simulation {
  instance: string;
  state: string;
  inPlace: string[] | null;
  log: { did: string; id?: string; by?: string }[];
}

const hypothesis = { statement: 'traffic moves to the other spine', expect: ['recovery.recovered == 1'] };
const cut = (name: string): Json => ({ experiment: 'cut', name, hypothesis });
const stage = (name: string, ...names: string[]): Json => ({
  name,
  order: 'parallel',
  experiments: names.map(cut),
});
const day: Json = {
  apiVersion: 'fabricdrill/v1',
  kind: 'GameDay',
  metadata: { name: 'rough' },
  spec: { pace: '1x', stages: [stage('first', 'a', 'b'), stage('second', 'c'), stage('third', 'd')] },
};

const backend = queueBackends('game days that are killed').at(-1)!;

describe('a game day', () => {
  let service: TestService;
  let server: ChildProgram;
  let look: ChildProgram;
  let folder: string;
  const running: RunningProgram[] = [];

  beforeAll(async () => {
    expect(FABRIC_DRIVERS.filter(({ processes }) => processes !== undefined)).toHaveLength(1);
    folder = mkdtempSync(join(tmpdir(), 'fd-'));
    server = compileProgram(SERVER);
    look = compileProgram(LOOK);
    service = await startService(backend, { api: false, worker: false });
  });

  afterAll(async () => {
    for (const one of running) {
      one.process.kill('SIGKILL');
      await one.ended;
    }
    await service.stop();
    server.remove();
    look.remove();
    rmSync(folder, { recursive: true });
  });

  const environment = (): NodeJS.ProcessEnv => ({
    ...process.env,
    TMPDIR: folder,
    FABRICDRILL_HOME: service.config.home,
    FABRICDRILL_PORT: '0',
    DATABASE_URL: service.databaseUrl,
    REDIS_URL: service.redisUrl ?? '',
    // the parallel stage is one all the same
    FABRICDRILL_WORKER_CONCURRENCY: '1',
    LOG_LEVEL: 'fatal',
  });
  const serve = async (): Promise<{ client: HttpClient; kill(): Promise<void>; pid: number }> => {
    const started = startProgram(server, [JSON.stringify({ ...SHORT_TIMES, leaseMs: 4000 })], {
      env: environment(),
    });
    running.push(started);
    const client = new HttpClient(await started.line(), service.config.token);
    const kill = async (): Promise<void> => {
      started.process.kill('SIGKILL');
      await started.ended;
    };
    return { client, kill, pid: started.process.pid! };
  };
  const simulations = async (): Promise<Map<string, Simulation>> => {
    const looking = startProgram(look, [], { env: environment() });
    const found = JSON.parse(await looking.line()) as Simulation[];
    await looking.ended;
    return new Map(found.map((one) => [one.instance, one]));
  };
  const runsIn = async (state: string): Promise<string[]> =>
    (await service.rows<{ id: string }>('SELECT id FROM runs WHERE state = $1', [state])).map(({ id }) => id);

  it('goes on where it was, and leaves nothing in place', async () => {
    const first = await serve();
    expect((await first.client.post('/v1/fabrics', fabricDocument('small'))).status).toBe(201);
    expect((await first.client.post('/v1/experiments', experimentDocument('cut', 'small'))).status).toBe(201);
    const begun = await first.client.post('/v1/game-days', day);
    expect(begun.status).toBe(202);
    const lookedAt = (): Promise<{ id: string }[]> =>
      service.rows(`SELECT id FROM runs JOIN run_live_evidence ON run_id = id WHERE ended_at IS NULL`);
    const together = async (): Promise<boolean> =>
      (await runsIn('holding')).length > 0 &&
      (await lookedAt()).length > 0 &&
      (await service.rows(`SELECT id FROM runs WHERE state <> 'pending' AND ended_at IS NULL`)).length === 2;
    await until(together, 'a run in its fault beside another', PATIENCE_MS);
    await first.kill();
    const held = await runsIn('holding');
    const begunBefore = (await service.rows<{ id: string }>('SELECT id FROM runs')).map(({ id }) => id);
    const looked = await lookedAt();
    expect(held.length).toBeGreaterThan(0);
    const orphans = await simulations();
    for (const id of held)
      expect(orphans.get(id)).toMatchObject({ state: 'up', inPlace: [expect.any(String)] });

    const second = await serve();
    // people can look at a run while it is under way, and at what there was of one that was cut short
    const live = await second.client.get(`/v1/runs/${looked[0].id}/evidence/live`);
    expect([live.status, live.bytes.subarray(0, 6).toString()]).toEqual([200, 'ARROW1']);
    expect(Number(live.headers.get('evidence-until'))).toBeGreaterThan(0);
    const address = `/v1/game-days/${begun.body.id as string}`;
    const isNext = async (): Promise<boolean> =>
      (await runsIn('baseline')).some((id) => !begunBefore.includes(id));
    await until(isNext, 'the second stage', PATIENCE_MS);
    await second.kill();

    const third = await serve();
    const isOver = async (): Promise<boolean> => (await third.client.get(address)).body.state === 'completed';
    await until(isOver, 'the end of the day', PATIENCE_MS);

    const report = (await third.client.get(`${address}/report`)).body as { experiments: Json[] };
    const states = Object.fromEntries(report.experiments.map(({ experiment, state }) => [experiment, state]));
    expect(states).toEqual({
      a: expect.stringMatching('error|passed'),
      b: expect.stringMatching('error|passed'),
      c: 'error',
      d: 'passed',
    });
    const lost = report.experiments.filter(({ run }) => held.includes(run as string));
    expect(lost.map(({ injected }) => injected)).toEqual(
      held.map(() => [expect.stringMatching(/^link-down at link:/)]),
    );
    const rows = await service.rows<{ id: string; state: string; reason: string | null }>(
      'SELECT id, state, reason FROM runs ORDER BY created_at',
    );
    expect(rows).toHaveLength(4);
    for (const { id, state, reason } of rows) {
      if (held.includes(id))
        expect(reason).toBe('the worker was lost in state holding; one impairment was reverted');
      else if (state === 'error')
        expect(reason).toMatch(/^the worker was lost in state \w+; (nothing|one imp)/);
    }
    const entries = await service.rows<{ status: string }>('SELECT status FROM undo_entries');
    expect(entries.length).toBeGreaterThanOrEqual(held.length + 1);
    expect(entries.filter(({ status }) => status !== 'verified')).toEqual([]);
    const begins = await service.rows<{ run_id: string }>(
      `SELECT run_id FROM run_events WHERE type = 'state' AND data ->> 'state' = 'preflight'`,
    );
    expect(begins.map(({ run_id: id }) => id).sort()).toEqual(rows.map(({ id }) => id).sort());

    const all = [...(await simulations()).values()];
    expect(all.map(({ instance }) => instance).sort()).toEqual(rows.map(({ id }) => id).sort());
    for (const { instance, inPlace, log } of all) {
      expect(inPlace ?? []).toEqual([]);
      const did = log.map((line) => line.did);
      expect(did.filter((one) => one === 'started')).toHaveLength(1);
      expect(did.filter((one) => one === 'applied').length).toBeLessThanOrEqual(1);
      if (!held.includes(instance)) continue;
      // undone by the second worker, on the simulation that the first had left; by its own lease where that took long
      expect(log.find((line) => line.did === 'reverted')!.by).toMatch(new RegExp(`^(${second.pid}-|lease$)`));
      expect(did.at(-1)).toBe('ended');
    }
  });
});
