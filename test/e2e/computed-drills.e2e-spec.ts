/**
 * Drills on simulated fabrics are computed beside the server: it answers, renews and aborts meanwhile, and what ends
 * their process ends them in truth.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { experimentDocument, fabricDocument, type Json } from '../support/definitions.js';
import { queueBackends } from '../support/queue-backends.js';
import { startService, type TestService } from '../support/service.js';
import { until } from '../support/until.js';

jest.setTimeout(180_000);

/** Takes seconds to compute: everybody sends to everybody over uplinks that are too few. */
const large: Json = {
  topology: { builder: 'leaf-spine', leaves: 2, spines: 2, hostsPerLeaf: 4, gpusPerHost: 2 },
  jobs: [
    {
      name: 'exposed',
      gpus: 16,
      placement: { strategy: 'packed' },
      step: { compute: '60ms', collectives: [{ collective: 'all-to-all', bytes: '20MB' }] },
    },
  ],
};

let service: TestService;
const worker = { leaseMs: 1500, heartbeatMs: 100, sweepMs: 200, programs: { abortAfterMs: 500 } };
beforeAll(async () => {
  service = await startService(queueBackends('computed drills')[0], { api: true, worker });
});
afterAll(() => service.stop());
const others: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of others.splice(0)) await one.close();
});

/** Processes that compute for this one. */
function programs(): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0)
    .filter((pid) => {
      try {
        const parent = /\nPPid:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
        return (
          Number(parent) === process.pid &&
          readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('compute/program.js')
        );
      } catch {
        return false;
      }
    });
}

async function begun(name: string): Promise<{ id: string; pid: number }> {
  const before = programs();
  const id = await service.client.run(fabricDocument(name, large), experimentDocument(name, name));
  await until(
    async () => {
      const { body } = await service.client.get(`/v1/runs/${id}`);
      return ['baseline', 'injecting', 'holding'].includes(body.state as string);
    },
    'the baseline',
    90_000,
  );
  const now = programs();
  return { id, pid: now.find((pid) => !before.includes(pid)) ?? now[0] };
}

const openEntries = (id: string): Promise<unknown[]> =>
  service.rows(`SELECT id FROM undo_entries WHERE run_id = $1 AND status <> 'verified'`, [id]);

describe('a drill that takes long to compute', () => {
  it('holds up neither answers nor its lease, and ends by itself', async () => {
    const { id, pid } = await begun('long');
    expect(getPriority(pid)).toBeGreaterThan(0);
    const answersMs: number[] = [];
    const leases = new Set<number>();
    for (let final = false; !final;) {
      const beganMs = performance.now();
      expect((await service.client.get('/health/live')).status).toBe(200);
      answersMs.push(performance.now() - beganMs);
      const [row] = await service.rows<{ lease_until: Date | null }>(
        'SELECT lease_until FROM runs WHERE id = $1',
        [id],
      );
      if (row.lease_until !== null) leases.add(row.lease_until.getTime());
      final = (await service.client.get(`/v1/runs/${id}`)).body.final as boolean;
    }
    const run = await service.client.ended(id);
    expect([run.state, run.reason]).not.toEqual(['error', expect.anything()]);
    answersMs.sort((a, b) => a - b);
    expect(answersMs[Math.floor(answersMs.length / 2)]).toBeLessThan(100);
    expect(leases.size).toBeGreaterThan(1);
  });

  it('ends as error, with nothing in place, when its process is killed', async () => {
    const { id, pid } = await begun('killed');
    process.kill(pid, 'SIGKILL');
    const run = await service.client.ended(id);
    expect([run.state, run.exitCode]).toEqual(['error', 3]);
    expect(run.reason).toMatch(/process that computed it was lost .*SIGKILL/);
    expect(await openEntries(id)).toEqual([]);
  });

  it('ends as aborted when it is aborted', async () => {
    const { id } = await begun('aborted');
    await service.client.post(`/v1/runs/${id}/abort`, { reason: 'enough' });
    const run = await service.client.ended(id);
    expect([run.state, run.exitCode, run.reason]).toEqual(['aborted', 4, expect.stringContaining('enough')]);
    expect(await openEntries(id)).toEqual([]);
  });

  it('ends as our bug when its process says nothing any more', async () => {
    const deaf = await startService(queueBackends('computed drills')[0], {
      api: true,
      worker: { ...worker, programs: { silentAfterS: 15 } },
    });
    try {
      const before = programs();
      const id = await deaf.client.run(fabricDocument('deaf', large), experimentDocument('deaf', 'deaf'));
      await until(
        async () => (await deaf.client.get(`/v1/runs/${id}`)).body.state === 'baseline',
        'the baseline',
        90_000,
      );
      const [pid] = programs().filter((one) => !before.includes(one));
      process.kill(pid, 'SIGSTOP');
      const run = await deaf.client.ended(id);
      expect([run.state, run.exitCode, run.reason]).toEqual([
        'error',
        70,
        expect.stringContaining('said nothing'),
      ]);
      await until(() => !programs().includes(pid), 'the end of the process');
    } finally {
      await deaf.stop();
    }
  });

  it('ends with its server, whose programs end as well', async () => {
    const leaving = await startService(queueBackends('computed drills')[0], { api: true, worker });
    const before = programs();
    const id = await leaving.client.run(fabricDocument('left', large), experimentDocument('left', 'left'));
    await until(
      async () => (await leaving.client.get(`/v1/runs/${id}`)).body.state === 'baseline',
      'the baseline',
      90_000,
    );
    const own = programs().filter((one) => !before.includes(one));
    expect(own).toHaveLength(1);
    await leaving.stop();
    expect(programs().filter((one) => own.includes(one))).toEqual([]);
  });
});

describe('what a large fabric is asked for before anything is run', () => {
  const wide = {
    topology: { builder: 'leaf-spine', leaves: 32, spines: 8, hostsPerLeaf: 8, gpusPerHost: 8 },
    jobs: [
      {
        name: 'exposed',
        gpus: 1024,
        placement: { strategy: 'packed' },
        step: { compute: '60ms', collectives: [{ collective: 'all-reduce', bytes: '200MB' }] },
      },
    ],
  };
  const fabric = fabricDocument('wide', wide);

  /** Answers to others while this one is awaited, which are few where they wait for it. */
  async function answeredMeanwhile(asked: Promise<{ status: number }>): Promise<[number, number]> {
    let done = false;
    const status = asked.then((answer) => answer.status).finally(() => (done = true));
    for (let answers = 0; ; answers++) {
      expect((await service.client.get('/health/live')).status).toBe(200);
      if (done) return [await status, answers];
    }
  }

  it('is planned beside the answers to others', async () => {
    const { body } = await service.client.post('/v1/experiments', experimentDocument('wide', 'wide'));
    const plan = service.client.post(`/v1/experiments/${String(body.id)}/plan`, { fabric });
    const [status, answers] = await answeredMeanwhile(plan);
    expect([status, answers]).toEqual([200, expect.any(Number)]);
    expect(answers).toBeGreaterThan(50);
  });

  it('is compared with another beside them', async () => {
    const suite = {
      apiVersion: 'fabricdrill/v1',
      kind: 'Suite',
      metadata: { name: 'wide' },
      spec: {
        experiments: ['wide'],
        seeds: 5,
        objectives: [{ metric: 'training.step_time_s', margin: '5%' }],
      },
    };
    const gate = service.client.post('/v1/gates', { suite, baseline: fabric, candidate: fabric });
    const [status, answers] = await answeredMeanwhile(gate);
    expect([status, answers]).toEqual([202, expect.any(Number)]);
    expect(answers).toBeGreaterThan(50);
  });
});
