import { afterEach, beforeEach, expect, test } from '@jest/globals';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { compileProgram, startProgram } from '../../../../test/support/child-program.js';
import { withTicketLock } from './ticket-lock.js';

let folder: string;
beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'fabricdrill-lock-'));
});
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));

/** Enters the lock many times; says so when somebody else is inside. */
const CONTENDER = `
import { closeSync, openSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { withTicketLock } from './src/store/database/embedded/ticket-lock.js';
const [folder, rounds] = [process.argv[2]!, Number(process.argv[3])];
for (let round = 0; round < rounds; round++) {
  await withTicketLock(folder + '/lock', async () => {
    closeSync(openSync(folder + '/inside', 'wx'));
    await sleep(2);
    rmSync(folder + '/inside');
  });
}
console.log('done');
`;

const HOLDER = `
import { withTicketLock } from './src/store/database/embedded/ticket-lock.js';
await withTicketLock(process.argv[2]!, async () => {
  console.log('in');
  await new Promise((resolve) => setTimeout(resolve, 60_000));
});
`;

test('never lets two processes in at once', async () => {
  const program = compileProgram(CONTENDER);
  try {
    const all = Array.from({ length: 4 }, () => startProgram(program, [folder, '25']));
    // `inside` is made with O_EXCL: a second process in the lock would end with EEXIST instead of "done".
    expect(await Promise.all(all.map((one) => one.line()))).toEqual(['done', 'done', 'done', 'done']);
    expect(fs.readdirSync(join(folder, 'lock'))).toEqual([]);
  } finally {
    program.remove();
  }
}, 60_000);

test('passes on when its holder is killed with -9', async () => {
  const program = compileProgram(HOLDER);
  try {
    const holder = startProgram(program, [folder]);
    expect(await holder.line()).toBe('in');
    let entered = false;
    const waiting = withTicketLock(folder, async () => {
      entered = true;
    });
    await sleep(100);
    expect(entered).toBe(false);
    holder.process.kill('SIGKILL');
    await waiting;
    expect(entered).toBe(true);
  } finally {
    program.remove();
  }
}, 60_000);

test('serialises work within one process, and frees itself when work throws', async () => {
  const order: string[] = [];
  const work = (name: string) => async () => {
    order.push(`${name} in`);
    await sleep(5);
    order.push(`${name} out`);
    if (name === 'a') throw new Error('a failed');
  };
  const results = await Promise.allSettled(['a', 'b', 'c'].map((name) => withTicketLock(folder, work(name))));
  expect(results.map((result) => result.status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  for (let index = 0; index < order.length; index += 2) {
    expect(order[index + 1]).toBe(order[index].replace('in', 'out'));
  }
});

test('gives up with the pid of the process in its way', async () => {
  await withTicketLock(folder, async () => {
    await expect(withTicketLock(folder, async () => 1, 50)).rejects.toThrow(
      `process ${process.pid} has been`,
    );
  });
  expect(await withTicketLock(folder, async () => 2)).toBe(2);
});
