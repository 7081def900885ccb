/** A real Slurm: controller, four node daemons and munge on this machine; skipped, with the reason, where there is none. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../../../test/support/until.js';
import { InputError } from '../../../core/problem.js';
import { serverSettingsSchema } from '../../../fabric-api/server-settings.js';
import { loginPlace } from '../site/reach.js';
import { RealSshd, whyNoSshd } from '../transport/testing/real-sshd.js';
import { LocalPlace } from '../transport/place.js';
import { script, type Step } from '../undo/shell.js';
import { endJob } from './slurm-allocation.js';
import { SlurmClient } from './slurm-client.js';
import { SlurmScheduler } from './slurm-scheduler.js';
import { StepPlace } from './step-place.js';
import { startSlurm, whyNoSlurm, type Slurm } from './testing/small-slurm.js';

const why = whyNoSlurm();
if (why !== undefined) console.warn(`skipped: moves by a real Slurm: ${why}`);

const PATIENCE_MS = 30_000;

(why === undefined ? describe : describe.skip)('Slurm as the scheduler', () => {
  let slurm: Slurm;
  let client: SlurmClient;
  let scheduler: SlurmScheduler;
  /** A job of two nodes that counts on where it was when it is started again. @returns its number */
  const submit = (name: string, ...more: string[]): number => {
    const script = join(slurm.folder, `${name}.sh`);
    const log = join(slurm.folder, `${name}.log`);
    writeFileSync(script, `#!/bin/sh\necho "start $SLURM_RESTART_COUNT" >> ${log}\nsleep 120 & wait\n`);
    const options = ['-N2', '-n2', '-J', name, '-o', '/dev/null', '--requeue', '--parsable', ...more, script];
    const run = spawnSync('sbatch', options, {
      encoding: 'utf8',
      env: { ...process.env, ...slurm.environment },
    });
    if (run.status !== 0) throw new Error(run.stderr);
    return Number(run.stdout);
  };
  const untilRunning = async (id: number): Promise<string[]> => {
    let nodes: string[] = [];
    const runs = async (): Promise<boolean> => (nodes = (await scheduler.look(id))!.nodes).length > 0;
    await until(runs, `job ${id} running`, PATIENCE_MS);
    return nodes;
  };
  let train: number;

  beforeAll(async () => {
    slurm = await startSlurm();
    client = new SlurmClient(new LocalPlace(), slurm.environment.SLURM_CONF);
    scheduler = new SlurmScheduler(client, 'rack');
  });
  afterAll(() => slurm?.stop());

  it('drains a node with a reason, and takes back only a drain of its own', async () => {
    await scheduler.drain('h4', 'optic of port 3');
    expect(await client.node('h4')).toMatchObject({
      drained: true,
      reason: 'fabricdrill drill on rack: optic of port 3',
    });
    await scheduler.resume('h4');
    expect(await scheduler.isDrained('h4')).toBe(false);
    await client.drain('h4', 'somebody else’s');
    await scheduler.drain('h4', 'ours');
    await scheduler.resume('h4');
    expect(await client.node('h4')).toMatchObject({ drained: true, reason: 'somebody else’s' });
    await client.resume('h4');
    await expect(scheduler.isDrained('h44')).rejects.toThrow(InputError);
  });

  it('moves a job off a drained node, within seconds, to the node it is sent to', async () => {
    train = submit('train', '--nodelist=h1,h2');
    const before = await untilRunning(train);
    const order = { job: 'train', fromNode: before[0], toNode: 'h4' };
    await scheduler.drain(order.fromNode, 'test');
    const beganMs = performance.now();
    await scheduler.order(order, train);
    const after = await untilRunning(train);
    console.log(`Slurm: requeue to running again in ${Math.round(performance.now() - beganMs)} ms`);
    expect(after.sort()).toEqual(['h2', 'h4']);
    expect(await scheduler.isOrdered(order)).toBe(true);
    expect((await client.reservations())[0].nodes).toEqual(['h1', 'h3']);
    await scheduler.arrived(order);
    expect((await client.reservations())[0].nodes).toEqual(['h1']);
    await scheduler.withdraw(order);
    await scheduler.withdraw(order);
    await scheduler.resume(order.fromNode);
    expect(await scheduler.isOrdered(order)).toBe(false);
    expect(await client.reservations()).toEqual([]);
    expect(await untilRunning(train)).toEqual(after);
    const log = join(slurm.folder, 'train.log');
    await until(() => /start\s*0?\nstart 1\n/.test(readFileSync(log, 'utf8')), 'the second start');
  });

  it('refuses moves that can not be, and says what a job waits for that finds no place', async () => {
    const order = { job: 'train', fromNode: 'h2' };
    await expect(scheduler.order({ job: 'train', fromNode: 'h3' }, train)).rejects.toThrow(/not on h3/);
    await expect(scheduler.order(order, 4711)).rejects.toThrow(/no job 4711/);
    await expect(scheduler.order({ ...order, toNode: 'h4' }, train)).rejects.toThrow(/not idle/);
    expect(await client.reservations()).toEqual([]);
    for (const node of ['h1', 'h3']) await scheduler.drain(node, 'full');
    await scheduler.order(order, train);
    await until(
      async () => /PENDING \(.*(Reserv|Resources|Avail)/.test((await scheduler.look(train))!.why),
      'the wait',
    );
    expect(await scheduler.isOrdered(order)).toBe(true);
    await scheduler.withdraw(order);
    for (const node of ['h1', 'h3']) await scheduler.resume(node);
    expect(await untilRunning(train)).toHaveLength(2);
    await endJob(client, train);
    expect(await scheduler.look(train)).toBeUndefined();
  });

  it('does not requeue what may not be', async () => {
    const fixed = submit('fixed', '--no-requeue');
    const [fromNode] = await untilRunning(fixed);
    await expect(scheduler.order({ job: 'fixed', fromNode }, fixed)).rejects.toThrow(/may not be requeued/);
    await endJob(client, fixed);
  });

  it('has steps for timers that take back its own drain and order, and nobody else’s', async () => {
    const run = (steps: readonly Step[]): Promise<unknown> =>
      new LocalPlace().run(['sh', '-c', script(steps)]);
    const order = { job: 'train', fromNode: 'h1' };
    await scheduler.drain('h1', 'test');
    await client.drain('h2', 'somebody else’s');
    await client.reserve('fabricdrill-rack-train-h1', ['h1'], 5);
    expect(await scheduler.isOrdered(order)).toBe(true);
    const waits = submit('train', '--begin=now+1hour');
    const lift = scheduler.undoOrder(order, waits);
    const undo = [...scheduler.undoDrain('h1'), ...scheduler.undoDrain('h2'), ...lift];
    await run(undo);
    await run(undo);
    expect(await scheduler.isDrained('h1')).toBe(false);
    expect(await scheduler.isDrained('h2')).toBe(true);
    expect(await scheduler.isOrdered(order)).toBe(false);
    expect(await client.job(waits)).toBeUndefined();
    await client.resume('h2');
  });

  const noSshd = whyNoSshd();
  if (noSshd !== undefined) process.stderr.write(`skipped: Slurm over SSH: ${noSshd}\n`);

  (noSshd === undefined ? it : it.skip)(
    'is told on a login host over SSH, steps and their input included',
    async () => {
      const sshd = new RealSshd();
      const { key, knownHosts } = sshd;
      const port = await sshd.listen();
      const { ssh } = serverSettingsSchema.parse({ ssh: { rack: { key, knownHosts, hosts: {} } } });
      const transport = { ...ssh.rack, nodes: {} };
      const login = loginPlace(transport, { host: '127.0.0.1', port });
      const there = new SlurmClient(login, slurm.environment.SLURM_CONF);
      try {
        const script = '#!/bin/sh\nsleep 120\n';
        const job = await there.submit({ name: 'far', comment: 'fabricdrill:rack', nodes: ['h3'], script });
        expect(await untilRunning(job)).toEqual(['h3']);
        const place = new StepPlace(there, login.lane('ranks-0'), { job, node: 'h3' }, login);
        const said = await place.run(['sh', '-c', 'cat; echo "$SLURMD_NODENAME $SLURM_JOB_ID"'], {
          input: 'what it’s told\n',
          timeoutMs: PATIENCE_MS,
        });
        expect(said.stdout).toBe(`what it’s told\nh3 ${job}\n`);
        await endJob(there, job);
        await expect(
          there.wouldTake({ name: 'far', comment: '', nodes: ['h3'], partition: 'gpu', script }),
        ).rejects.toThrow(/partition/);
      } finally {
        login.close();
        sshd.stop();
      }
    },
  );

  it('takes no list for a name', async () => {
    await expect(client.drain('h[1-4]', 'all')).rejects.toThrow(InputError);
    await expect(client.idsOf('a,b')).rejects.toThrow(InputError);
  });
});
