/** A real Slurm: controller, four node daemons and munge on this machine; skipped, with the reason, where there is none. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { InputError } from '../../../kernel/problem.js';
import { LocalPlace } from '../transport/place.js';
import { SlurmClient } from './slurm-client.js';
import { SlurmScheduler } from './slurm-scheduler.js';
import { startSlurm, whyNoSlurm, type Slurm } from './testing/small-slurm.js';

const why = whyNoSlurm();
if (why !== undefined) console.warn(`skipped: moves by a real Slurm: ${why}`);

const PATIENCE_MS = 30_000;

(why === undefined ? describe : describe.skip)('Slurm as the scheduler', () => {
  let slurm: Slurm;
  let client: SlurmClient;
  let scheduler: SlurmScheduler;
  /** A job of two nodes that counts on where it was when it is started again. */
  const submit = (name: string): void => {
    const script = join(slurm.folder, `${name}.sh`);
    const log = join(slurm.folder, `${name}.log`);
    writeFileSync(script, `#!/bin/sh\necho "start $SLURM_RESTART_COUNT" >> ${log}\nsleep 120 & wait\n`);
    const options = ['-N2', '-n2', '-J', name, '-o', '/dev/null', '--requeue', '--parsable', script];
    const run = spawnSync('sbatch', options, {
      encoding: 'utf8',
      env: { ...process.env, ...slurm.environment },
    });
    if (run.status !== 0) throw new Error(run.stderr);
  };
  const untilRunning = async (name: string): Promise<string[]> => {
    for (let waited = 0; ; waited += 100) {
      const nodes = await scheduler.placement(name);
      if (nodes.length > 0) return nodes;
      if (waited > PATIENCE_MS) throw new Error(`${name} does not run`);
      await sleep(100);
    }
  };

  beforeAll(async () => {
    slurm = await startSlurm();
    client = new SlurmClient(new LocalPlace(), slurm.environment.SLURM_CONF);
    scheduler = new SlurmScheduler(client, 5);
  });
  afterAll(() => slurm?.stop());

  it('drains a node with a reason, and takes back only a drain of its own', async () => {
    await scheduler.drain('h4', 'optic of port 3');
    expect(await client.node('h4')).toMatchObject({
      drained: true,
      reason: 'fabricdrill drill: optic of port 3',
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
    submit('train');
    const before = await untilRunning('train');
    const [fromNode] = before;
    const toNode = ['h4', 'h3'].find((node) => !before.includes(node))!;
    const order = { job: 'train', fromNode, toNode };
    await scheduler.drain(fromNode, 'test');
    const move = await scheduler.move(order, PATIENCE_MS);
    console.log(`Slurm: requeue to running again in ${Math.round(move.tookMs)} ms`);
    expect(move.before).toEqual(before);
    expect(move.after).toContain(toNode);
    expect(move.after).not.toContain(fromNode);
    expect(await scheduler.isOrdered(order)).toBe(true);
    const [reservation] = await client.reservations();
    expect(reservation.nodes).toEqual([fromNode]);
    await scheduler.withdraw(order);
    await scheduler.withdraw(order);
    await scheduler.resume(fromNode);
    expect(await scheduler.isOrdered(order)).toBe(false);
    expect(await client.reservations()).toEqual([]);
    expect(await scheduler.placement('train')).toEqual(move.after);
    for (
      let tries = 0;
      tries < 50 && !/start 1/.test(readFileSync(join(slurm.folder, 'train.log'), 'utf8'));
      tries++
    ) {
      await sleep(100);
    }
    expect(readFileSync(join(slurm.folder, 'train.log'), 'utf8')).toMatch(/start\s*0?\nstart 1\n/);
  });

  it('refuses moves that can not be, and says what a job waits for that finds no place', async () => {
    const nodes = await untilRunning('train');
    const idle = ['h1', 'h2', 'h3', 'h4'].filter((node) => !nodes.includes(node));
    await expect(scheduler.move({ job: 'train', fromNode: idle[0] }, 1000)).rejects.toThrow(/not on/);
    await expect(scheduler.move({ job: 'other', fromNode: 'h1' }, 1000)).rejects.toThrow(/no job "other"/);
    const order = { job: 'train', fromNode: nodes[0] };
    await expect(scheduler.move({ ...order, toNode: nodes[1] }, 1000)).rejects.toThrow(/not idle/);
    expect(await client.reservations()).toEqual([]);
    for (const node of idle) await scheduler.drain(node, 'full');
    await expect(scheduler.move(order, 2500)).rejects.toThrow(/is PENDING \(.+\) after its move/);
    expect(await scheduler.isOrdered(order)).toBe(true);
    await scheduler.withdraw(order);
    for (const node of idle) await scheduler.resume(node);
    expect(await untilRunning('train')).toHaveLength(2);
  });

  it('takes no list for a name', async () => {
    await expect(client.drain('h[1-4]', 'all')).rejects.toThrow(InputError);
    await expect(client.jobs('a,b')).rejects.toThrow(InputError);
  });
});
