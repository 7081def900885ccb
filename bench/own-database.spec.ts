/** What a bench leaves when it is ended: nothing. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import { isRunning, identityOf } from '../src/system/process-identity.js';
import { compileProgram, startProgram, type ChildProgram } from '../test/support/child-program.js';
import { until } from '../test/support/until.js';

const SOURCE = `
import { join } from 'node:path';
import { ownDatabase } from './bench/own-database.js';
import { guardStart } from './src/cli/terminal/early-signals.js';
import { findPostmaster } from './src/store/database/embedded/postmaster.js';

guardStart();
await ownDatabase(async ({ home }) => {
  console.log(JSON.stringify({ home, pid: findPostmaster(join(home, 'postgresql', 'data')).pid }));
  await new Promise(() => setInterval(() => {}, 1000));
});
`;

describe('the database of a bench', () => {
  let program: ChildProgram;
  beforeAll(() => void (program = compileProgram(SOURCE)));
  afterAll(() => program.remove());

  it('is gone, server and files, when a signal ends the bench', async () => {
    const bench = startProgram(program, []);
    const { home, pid } = JSON.parse(await bench.line()) as { home: string; pid: number };
    const server = identityOf(pid)!;
    expect(isRunning(server)).toBe(true);
    bench.process.kill('SIGINT');
    expect(await bench.ended).toBe(3);
    await until(() => !isRunning(server));
    expect(existsSync(home)).toBe(false);
  });
});
