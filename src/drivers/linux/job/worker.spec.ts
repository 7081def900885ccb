import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lastCommonCheckpoint, readCheckpoint, writeCheckpoint } from './checkpoint-file.js';
import { until } from '../../../../test/support/until.js';
import { jsonLines, WORKER_EXIT, type WorkerConfiguration, type WorkerReport } from './protocol.js';
import { buildPrograms } from './testing/built-programs.js';

let folder: string;
let program: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fabricdrill-worker-'));
  program = (await buildPrograms(join(folder, 'program'))).worker;
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const alone: WorkerConfiguration = {
  job: 'llm',
  rank: 0,
  generation: 1,
  address: '127.77.1.1',
  port: 20_000,
  sends: [],
  receivesFrom: [],
  operations: [{ type: 'compute', name: 'compute', after: [], durationNs: 5e6, bytes: 0, ring: [] }],
  fromStep: 0,
  steps: null,
  checkpoint: null,
  folder: '',
  giveUpNs: 5e9,
  pulseNs: 100e6,
  leaseNs: 700e6,
};

describe('a worker', () => {
  it('ends by itself when nobody renews its lease, even when nobody reads what it says', async () => {
    const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
    const began = performance.now();
    child.stdin.write(`${JSON.stringify({ ...alone, folder })}\n{"order":"connect"}\n`);
    child.stdout.destroy();
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).toBe(WORKER_EXIT.leaseOver);
    expect(performance.now() - began).toBeGreaterThan(600);
  });

  it('says that it was told to end, and goes on until it is ordered to stop, with a checkpoint', async () => {
    const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
    const said: WorkerReport[] = [];
    const read = jsonLines(
      (line) => said.push(line as WorkerReport),
      (line) => said.push({ report: 'failed', rank: 0, atNs: 0, reason: line }),
    );
    child.stdout.setEncoding('utf8').on('data', read);
    const has = (report: WorkerReport['report']): Promise<void> =>
      until(() => said.some((one) => one.report === report), report);
    child.stdin.write(`${JSON.stringify({ ...alone, folder, leaseNs: 60e9 })}\n{"order":"connect"}\n`);
    await has('step');
    child.kill('SIGTERM');
    await has('told-to-end');
    const steps = said.filter(({ report }) => report === 'step').length;
    await until(() => said.filter(({ report }) => report === 'step').length > steps + 1, 'more steps');
    child.stdin.write('{"order":"stop-after","step":1}\n');
    await has('stopped');
    expect(said.slice(-2).map(({ report }) => report)).toEqual(['checkpoint', 'stopped']);
    child.stdin.end();
    expect(await once(child, 'exit')).toEqual([WORKER_EXIT.leaseOver, null]);
  });

  it('says why it can not go on: a checkpoint that is damaged', async () => {
    await writeCheckpoint(folder, 0, 4, new Int32Array(1));
    const file = join(folder, 'rank-0/step-4');
    const content = await readFile(file);
    content[content.length - 1] ^= 1;
    await writeFile(file, content);
    const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
    const said: string[] = [];
    child.stdout.setEncoding('utf8').on('data', (text: string) => said.push(text));
    child.stdin.write(`${JSON.stringify({ ...alone, folder, fromStep: 4 })}\n{"order":"connect"}\n`);
    const [code] = (await once(child, 'exit')) as [number];
    expect(said.join('')).toMatch(/"failed".*the checkpoint of rank 0 after step 4 is damaged/);
    expect(code).toBe(WORKER_EXIT.lostPeer);
  });

  it('does not act on what is no order', async () => {
    const child = spawn(process.execPath, [program], { stdio: ['pipe', 'ignore', 'inherit'] });
    child.stdin.write('hello\n');
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).toBe(WORKER_EXIT.badOrder);
  });
});

describe('checkpoints', () => {
  it('are read as they were written; two are kept, and the last that all ranks have counts', async () => {
    const where = join(folder, 'checkpoints');
    const weights = Int32Array.from([1, -2, 3]);
    for (const step of [10, 20, 30]) await writeCheckpoint(where, 0, step, weights);
    for (const step of [10, 20]) await writeCheckpoint(where, 1, step, weights);
    expect((await readdir(join(where, 'rank-0'))).sort()).toEqual(['step-20', 'step-30']);
    expect(await lastCommonCheckpoint(where, 2)).toBe(20);
    expect(await lastCommonCheckpoint(where, 3)).toBe(0);
    const back = new Int32Array(3);
    await readCheckpoint(where, 0, 30, back);
    expect(back).toEqual(weights);
    await expect(readCheckpoint(where, 0, 30, new Int32Array(4))).rejects.toThrow(/damaged/);
  });
});
