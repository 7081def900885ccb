/**
 * Gates on a server: asked for over REST, made by workers in processes of their own, one of which is killed. Reports,
 * repeated requests, what is kept, and what is refused before anything is stored.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { execFile } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiClient } from '../../src/cli/client/api-client.js';
import { createContext } from '../../src/cli/context.js';
import { GateDrills } from '../../src/cli/commands/gate/gate-drills.js';
import { Interrupts } from '../../src/cli/terminal/interrupts.js';
import { refuseFiles } from '../../src/documents/fabric-document.js';
import { loadExperiment, loadFabric, loadSuite } from '../../src/documents/load.js';
import { runSide } from '../../src/drill/gate/side-run.js';
import {
  compileProgram,
  startProgram,
  type ChildProgram,
  type RunningProgram,
} from '../support/child-program.js';
import { experimentDocument, fabricDocument, yamlOf, type Json } from '../support/definitions.js';
import { oneQueue } from '../support/queue-backends.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

jest.setTimeout(240_000);

const WORKER = `
  import { serveUntilSignal } from './src/cli/commands/service.js';
  import { loadConfig } from './src/system/config/config.js';
  const gates = { lockMs: 2000, sweepMs: 300, quietS: 1 };
  await serveUntilSignal(loadConfig(), { api: false, worker: true, gates }, () => process.stdout.write('ready\\n'));
`;

const slower = (name: string): Json =>
  fabricDocument(name, {
    topology: {
      ...{ builder: 'leaf-spine', leaves: 2, spines: 2, hostsPerLeaf: 3, gpusPerHost: 2 },
      ...{ hostRate: '10Gbps', fabricRate: '10Gbps' },
    },
  });
const reseeded = (hashSeed: number): Json => fabricDocument(`seed-${hashSeed}`, { settings: { hashSeed } });
const suiteOf = (spec: Json = {}): Json => ({
  apiVersion: 'fabricdrill/v1',
  kind: 'Suite',
  metadata: { name: 'check' },
  spec: {
    experiments: ['cut'],
    seeds: 5,
    objectives: [{ metric: 'training.step_time_s', margin: '5%' }],
    ...spec,
  },
});
const gateOf = (candidate: unknown, suite: Json = {}): Json => ({
  suite: suiteOf(suite),
  experiments: [experimentDocument('cut', 'today')],
  baseline: fabricDocument('today'),
  candidate,
});

/** A gate as REST shows it, as far as the tests read it by name. */
interface Shown {
  id: string;
  final: boolean;
  progress: { done: number; planned: number; made: number };
  result: { run: { runs: number; fromCache: number } };
}

let program: ChildProgram;
let commandLine: ChildProgram;
beforeAll(() => {
  program = compileProgram(WORKER);
  commandLine = compileProgram(`import './src/cli.js';`);
});
afterAll(() => {
  program.remove();
  commandLine.remove();
});

/** The server is in this process, which must not wait for the command. */
const commanded = (
  args: string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<{ code: unknown; stdout: string; stderr: string }> =>
  new Promise((resolve) => {
    execFile(process.execPath, [commandLine.entry, ...args], { cwd, env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : error.code, stdout, stderr }),
    );
  });

describe.each(oneQueue('gates on a server'))('gates over a queue in $name', (backend) => {
  let service: TestService;
  const workers: RunningProgram[] = [];

  beforeAll(async () => {
    service = await startService(backend);
  });
  afterAll(async () => {
    for (const worker of workers.splice(0)) {
      worker.process.kill('SIGKILL');
      await worker.ended;
    }
    await service.stop();
  });

  const startWorker = async (): Promise<RunningProgram> => {
    const worker = startProgram(program, [], {
      env: {
        ...{ ...process.env, LOG_LEVEL: 'warn', FABRICDRILL_HOME: service.config.home },
        ...{ DATABASE_URL: service.databaseUrl, REDIS_URL: service.redisUrl ?? '' },
      },
    });
    workers.push(worker);
    expect(await worker.line()).toBe('ready');
    return worker;
  };
  const show = async (address: string): Promise<Shown> => (await service.client.get(address)).body as Shown;
  const start = async (body: Json): Promise<string> => {
    const answer = await service.client.post('/v1/gates', body);
    expect(answer).toMatchObject({ status: 202, body: { state: 'pending' } });
    expect(answer.headers.get('location')).toBe(`/v1/gates/${answer.body.id}`);
    return `/v1/gates/${answer.body.id}`;
  };
  const ended = async (address: string): Promise<Shown> => {
    await until(async () => (await show(address)).final, 'the end of the gate', 120_000);
    return show(address);
  };

  it('refuses what could not decide anything, with the valid choice, and stores nothing', async () => {
    const refused = async (body: Json): Promise<string> => {
      const answer = await service.client.post('/v1/gates', body);
      expect(answer.status).toBe(400);
      const errors = answer.body.errors as { pointer: string; message: string }[];
      return errors.map(({ pointer, message }) => `${pointer} ${message}`).join('\n');
    };
    expect(await refused(gateOf('tomorow'))).toMatch(/^\/candidate there is no fabric "tomorow"/);
    expect(await refused(gateOf(slower('s'), { objectives: [] }))).toMatch(/^\/suite.*without an objective/);
    expect(await refused(gateOf(slower('s'), { seeds: 0 }))).toMatch(
      /^\/suite\/spec\/seeds .*at least one seed/,
    );
    expect(await refused({ ...gateOf(slower('s')), seeds: 0 })).toMatch(/^\/seeds /);
    expect(await refused({ ...gateOf(slower('s')), seeds: 3 })).toMatch(/^\/seeds .*at least 5/);
    expect(await refused(gateOf(slower('s'), { experiments: ['cot'] }))).toMatch(
      /^\/suite\/spec\/experiments\/0 there is no stored experiment "cot"/,
    );
    const [cut] = gateOf(null).experiments as Json[];
    const sending = (...experiments: Json[]): Json => ({ ...gateOf(slower('s')), experiments });
    expect(await refused(sending(cut, cut))).toMatch(
      /^\/experiments\/1\/metadata\/name there are two .*"cut"/,
    );
    expect(await refused(sending(cut, experimentDocument('cat', 'today')))).toMatch(
      /^\/experiments\/1\/metadata\/name the suite names no experiment "cat"; it names cut/,
    );
    expect(await refused({})).toMatch(/^\/suite "suite" is missing/);
    const { candidate: _, ...without } = gateOf(slower('s'));
    expect(await refused(without)).toMatch(/^\/candidate neither the request nor the suite/);
    const real = fabricDocument('lab', { driver: 'linux', lab: { prefix: 'lab' } });
    const confirm = { candidate: 'lab' };
    const unconfirmed = await service.client.post('/v1/gates', gateOf(real));
    expect([unconfirmed.status, unconfirmed.body]).toEqual([
      409,
      expect.objectContaining({ code: 'confirmation-required', params: { fabric: 'lab' } }),
    ]);
    expect(await refused({ ...gateOf(real), confirm })).toMatch(
      /^\/candidate "lab" is a real fabric and "today" a simulated/,
    );
    const both = { ...gateOf(real), baseline: real, confirm: { ...confirm, baseline: 'lab' } };
    expect(await refused(both)).toMatch(/^\/candidate "lab": .*takes simulated/);
    // a fabric on which no experiment finds what it is about
    expect(await refused(gateOf(fabricDocument('idle', { jobs: [] })))).toMatch(
      /^\/suite\/spec\/experiments\/0 "cut" can’t be compared: it can not be run on the candidate/,
    );
    expect((await service.client.get('/v1/gates')).body).toEqual({ data: [] });
  });

  it('is resumed when its worker is killed with -9, and makes no run twice', async () => {
    const first = await startWorker();
    const address = await start(gateOf(reseeded(3), { seeds: 6 }));
    await until(async () => (await show(address)).progress.made >= 3, 'a few runs', 120_000);
    first.process.kill('SIGKILL');
    await first.ended;
    const { progress: left } = await show(address);
    await startWorker();
    const gate = await ended(address);
    expect(gate).toMatchObject({ state: 'passed', exitCode: 0, result: { verdict: 'none' } });
    const { made, done, planned } = gate.progress;
    expect(left.made).toBeLessThan(made);
    const [{ kept }] = await service.rows<{ kept: number }>('SELECT count(*)::int AS kept FROM gate_runs');
    expect({ done, made, fromCache: gate.result.run.fromCache }).toEqual({
      done: planned,
      made: kept,
      fromCache: 0,
    });
  });

  it('finds a slower candidate with two workers, reports it in each format, and knows its runs afterwards', async () => {
    await startWorker();
    const address = await start(gateOf(slower('slow')));
    const gate = await ended(address);
    expect(gate).toMatchObject({ state: 'failed', exitCode: 1, suite: 'check', candidate: 'slow' });
    // the baseline's five seeds were run for the gate before
    expect(gate.result).toMatchObject({ verdict: 'regression', run: { runs: 10, fromCache: 5 } });
    const report = (query: string, accept = '*/*') => service.client.get(`${address}${query}`, { accept });
    expect((await report('?format=junit')).text).toMatch(/<failure type="regression"/);
    expect((await report('', 'text/markdown')).text).toMatch(/^## fabricdrill gate failed/);
    const { command, ...json } = (await report('?format=json')).body as { command: string };
    expect(json).toMatchObject(gate.result);
    const id = address.split('/').at(-1)!;
    expect(command).toBe(`FABRICDRILL_URL=${service.url} fabricdrill gate ${id}`);
    expect((await report('?format=pdf')).body.errors[0].message).toMatch(/unknown format "pdf".*junit/);
    const again = await ended(await start(gateOf(slower('slow'))));
    expect(again).toMatchObject({ state: 'failed', progress: { made: 0, done: 10 } });
    expect(again.result).toEqual({ ...gate.result, run: { runs: 10, fromCache: 10 } });
    const listed = (await service.client.get('/v1/gates?state=failed&candidate=slow&limit=1')).body.data;
    expect(listed).toMatchObject([{ id: again.id }]);
  });

  it('is asked for by the command line, which names the lines and the commands of its own files', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'fabricdrill-suite-'));
    try {
      const { baseline, candidate, experiments } = gateOf(slower('slow')) as Record<string, Json & Json[]>;
      const write = (name: string, ...documents: Json[]): void =>
        writeFileSync(join(folder, name), documents.map(yamlOf).join('---\n'));
      write('cut.yaml', experiments[0]);
      write('suite.yaml', suiteOf({ experiments: ['cut.yaml'] }), baseline, candidate);
      const flags = ['--baseline', 'today', '--candidate', 'slow', '--output', 'github'];
      const environment = { PATH: process.env.PATH, FABRICDRILL_URL: service.url, FABRICDRILL_HOME: folder };
      const asked = await commanded(['gate', 'suite.yaml', ...flags], folder, environment);
      expect(asked.stderr).toMatch(/^gate [0-9a-f-]{36} on http/);
      expect(asked.stdout).toMatch(/^::error file=suite.yaml,line=\d+,title=regression/);
      expect(asked.stdout).toContain('gate suite.yaml --baseline today --candidate slow --only cut --seed');
      expect(asked.code).toBe(1);
      // a report of the server names a command, too, which needs none of these files
      const id = /^gate ([0-9a-f-]{36}) /.exec(asked.stderr)![1];
      const text = (await service.client.get(`/v1/gates/${id}?format=junit`)).text;
      const again = new RegExp(
        `FABRICDRILL_URL=${service.url} fabricdrill (gate ${id} --only cut --seed \\d+)`,
      );
      const replayed = await commanded(again.exec(text)![1].split(' '), tmpdir(), environment);
      expect([replayed.code, replayed.stderr]).toEqual([0, '']);
      expect(replayed.stdout).toMatch(/cut +training.step_time_s +\S+ +\S+ +s +differs/);
      const other = await commanded(['gate', id, '--candidate', 'today'], folder, environment);
      expect([other.code, other.stderr]).toEqual([2, expect.stringMatching(/--candidate.*own fabrics/)]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('makes the drills of a gate between real fabrics by ordinary runs, with the same figures', async () => {
    const { suite, experiments, baseline } = gateOf(null) as Record<string, Json> & { experiments: Json[] };
    const fabric = loadFabric(baseline, refuseFiles);
    const experiment = loadExperiment(experiments[0], refuseFiles);
    const notes: string[] = [];
    const silent = new EventEmitter() as unknown as NodeJS.Process;
    const drills = new GateDrills(new ApiClient(service.url, service.config.token), {
      source: { reference: 'suite.yaml', suite: loadSuite(suite, refuseFiles), experiments: [experiment] },
      sides: { baseline: fabric, candidate: fabric },
      up: false,
      confirm: [],
      interrupts: new Interrupts({ first: () => undefined, second: () => undefined }, 0, silent),
      context: { ...createContext(service.config), note: (text) => void notes.push(text) },
    });
    const task = (seed: number) => ({ experiment: 0, side: 'candidate', seed }) as const;
    // asked for at once, made one after another
    const [third, fourth] = await Promise.all([drills.execute(task(3)), drills.execute(task(4))]);
    expect(notes.map((note) => /seed \d$/.exec(note)?.[0])).toEqual(['seed 3', 'seed 4']);
    const simulated = await runSide({
      experiment: experiment.value,
      fabric: fabric.value,
      seed: 3,
      needs: { diagnosis: true, twin: true },
    });
    expect(Object.keys(third.outcome)).toEqual(['figures']);
    // evidence is stored in whole nanoseconds
    for (const [path, value] of Object.entries(simulated.figures!)) {
      const found = third.outcome.figures![path];
      expect([path, found === null]).toEqual([path, value === null]);
      expect(Math.abs(Number(found) - Number(value))).toBeLessThan(1e-8);
    }
    expect(fourth.outcome.figures).not.toEqual(third.outcome.figures);
  });

  it('gives the first gate back for a repeated key, and takes stored fabrics and experiments', async () => {
    await service.client.post('/v1/fabrics', fabricDocument('today'));
    await service.client.post('/v1/experiments', experimentDocument('cut', 'today'));
    const body = { suite: suiteOf({ baseline: 'today' }), candidate: 'today' };
    const key = { 'idempotency-key': 'once' };
    const [one, two] = await Promise.all([
      service.client.post('/v1/gates', body, key),
      service.client.post('/v1/gates', body, key),
    ]);
    expect(two.body.id).toBe(one.body.id);
    expect((await service.client.post('/v1/gates', { ...body, seeds: 6 }, key)).status).toBe(409);
    expect(await ended(`/v1/gates/${one.body.id}`)).toMatchObject({ state: 'passed', progress: { made: 0 } });
  });

  it('ends when it is told to, and has no report then', async () => {
    const address = await start(gateOf(reseeded(77), { seeds: 200 }));
    const aborted = await service.client.post(`${address}/abort`, { reason: 'seen enough' });
    expect(aborted).toMatchObject({
      status: 200,
      body: { state: 'aborted', exitCode: 4, reason: 'seen enough' },
    });
    expect((await service.client.get(`${address}?format=text`)).status).toBe(404);
    expect((await service.client.post(`${address}/abort`)).status).toBe(200);
    const [failed] = (await service.client.get('/v1/gates?state=failed')).body.data;
    expect((await service.client.post(`/v1/gates/${failed.id}/abort`)).status).toBe(409);
  });
});
