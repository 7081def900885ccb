/** Timers that outlive who armed them, in a namespace of the suite's own; skipped, with the reason, where there is none. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { EnvironmentError } from '../../../core/problem.js';
import { ownIdentity } from '../../../system/process-identity.js';
import type { LabNode } from '../lab/parts.js';
import { until } from '../../../../test/support/until.js';
import { NamespacePlace } from '../transport/place.js';
import { requireUndoOutlivesUs } from './container.js';
import { quoteCommand, script, type Step } from './shell.js';
import { RemoteUndoTimers } from './remote-timers.js';
import { TimerActedError, UndoTimers, type UndoKeeper, type UndoTimer } from './timers.js';

const namespace = `tu${process.pid.toString(36)}`;
const made = spawnSync('ip', ['netns', 'add', namespace], { encoding: 'utf8' });
const why = made.error?.message ?? (made.status === 0 ? undefined : made.stderr.trim());
if (why !== undefined) process.stderr.write(`skipped: undo timers: no network namespace: ${why}\n`);

describe('words for a shell', () => {
  it('come out as they went in, whatever is in them', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 4 }), (words) => {
        const clean = words.map((word) => word.replaceAll('\0', ''));
        const printed = execFileSync('sh', ['-c', quoteCommand(['printf', '%s\\0', ...clean])], {
          encoding: 'utf8',
        });
        expect(printed.split('\0').slice(0, -1)).toEqual(clean);
      }),
      { numRuns: 25 },
    );
  });

  it('can’t hold a NUL byte', () => {
    expect(() => quoteCommand(['echo', 'a\0b'])).toThrow(RangeError);
  });
});

const root = mkdtempSync(join(tmpdir(), 'fabricdrill-undo-'));
// what waits on a device over SSH waits by the same commands in a namespace, whose files are those of this host
const keepers: [string, (folder: string) => UndoKeeper][] = [
  ['kept by this process', (folder) => new UndoTimers(folder)],
  ['kept by commands on the device', (folder) => new RemoteUndoTimers(folder)],
];

afterAll(() => {
  rmSync(root, { recursive: true });
  if (why === undefined) execFileSync('ip', ['netns', 'del', namespace]);
});

(why === undefined ? describe : describe.skip).each(keepers)('an undo timer %s', (_, keeper) => {
  const folder = mkdtempSync(join(root, 'timers-'));
  const node = {
    name: 'leaf-1',
    namespace,
    place: new NamespacePlace(namespace),
  } as Partial<LabNode> as LabNode;
  const timers = keeper(join(folder, 'timers'));
  const proof = join(folder, 'it’s undone');
  const undo = { setting: 'port:leaf-1/p4 admin-status', node, steps: [] };
  const touch = { ...undo, steps: [{ command: ['cp', '/dev/stdin', proof], input: "that's all\n" }] };
  const armed = async (of = timers): Promise<UndoTimer[]> => of.armed([node]);
  const untilActed = (): Promise<void> =>
    until(async () => (await armed()).length === 0, 'the end of the lease');

  const pids = (): string[] =>
    execFileSync('ip', ['netns', 'pids', namespace], { encoding: 'utf8' })
      .split('\n')
      .filter((pid) => pid !== '');

  beforeAll(() => {
    execFileSync('ip', ['-n', namespace, 'link', 'set', 'lo', 'up']);
  });

  afterEach(async () => {
    await timers.disarm(undo.setting, node);
    rmSync(proof, { force: true });
  });

  afterAll(() => {
    for (const pid of pids()) process.kill(Number(pid), 'SIGKILL');
  });

  it('does its steps when the lease ends, and says that it did', async () => {
    // its lease runs while it is still being proven
    const armedMs = performance.now();
    await timers.arm(touch, 1, ownIdentity());
    await untilActed();
    expect(readFileSync(proof, 'utf8')).toBe("that's all\n");
    expect(performance.now() - armedMs).toBeGreaterThan(1000);
    expect(await timers.disarm(undo.setting, node)).toBe(true);
    expect(await timers.disarm(undo.setting, node)).toBe(false);
  });

  it('does nothing any more when it is disarmed, and leaves no process', async () => {
    await timers.arm(touch, 1, ownIdentity());
    expect(await timers.disarm(undo.setting, node)).toBe(false);
    await sleep(1300);
    expect(existsSync(proof)).toBe(false);
    expect(pids()).toEqual([]);
  });

  it('lives in a session of its own, so that the end of all of ours does not end it', async () => {
    await timers.arm(touch, 30, ownIdentity());
    const [{ process: identity }] = await armed();
    const pid = identity.split('-')[0];
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    const [group, session] = fields.slice(2, 4);
    expect(group).toBe(pid);
    expect(session).toBe(pid);
  });

  it('is one for a setting: a longer lease replaces it, a shorter one is covered by it', async () => {
    const identity = async (): Promise<string> => (await armed())[0].process;
    await timers.arm(touch, 20, ownIdentity());
    const first = await identity();
    await timers.arm(touch, 10, ownIdentity());
    expect(await identity()).toBe(first);
    await timers.arm(touch, 40, ownIdentity());
    expect(await identity()).not.toBe(first);
    const [killed] = first.split('-');
    await until(() => !pids().includes(killed), 'the end of the shorter one');
    expect(await armed()).toHaveLength(1);
  });

  it('is known to another process by its file', async () => {
    await timers.arm(touch, 30, ownIdentity());
    expect(await armed(keeper(join(folder, 'timers')))).toMatchObject([
      { setting: undo.setting, node: 'leaf-1', owner: ownIdentity() },
    ]);
  });

  it('that can’t run where it should is an error, and nothing is armed', async () => {
    const nowhere = { ...node, namespace: 'no-such-place', place: new NamespacePlace('no-such-place') };
    await expect(timers.arm({ ...undo, node: nowhere }, 30, ownIdentity())).rejects.toThrow();
    expect(await armed()).toHaveLength(0);
  });

  describe('over a setting that is turned', () => {
    const setting = join(folder, 'setting');
    const to = (value: string): Step => ({ command: ['cp', '/dev/stdin', setting], input: value });
    const give = { ...undo, steps: [to('up')] };
    const down = to('down');
    const found = (): string => readFileSync(setting, 'utf8');

    beforeEach(() => writeFileSync(setting, 'up'));

    it('gives it back when the lease ends', async () => {
      await timers.arm(give, 2, ownIdentity());
      await timers.turn(give, [down]);
      expect(found()).toBe('down');
      await untilActed();
      expect(found()).toBe('up');
    });

    it('lets nothing be turned once it has acted, or where there is none', async () => {
      await timers.arm(give, 1, ownIdentity());
      await untilActed();
      await expect(timers.turn(give, [down])).rejects.toThrow(TimerActedError);
      await timers.disarm(undo.setting, node);
      await expect(timers.turn(give, [down])).rejects.toThrow(TimerActedError);
      expect(found()).toBe('up');
    });

    it('takes back what was still being turned when it acted', async () => {
      await timers.arm(give, 1, ownIdentity());
      const slowly = { command: ['sleep', '1.3'] };
      await expect(timers.turn(give, [slowly, down])).rejects.toThrow(TimerActedError);
      expect(found()).toBe('up');
    });

    it('tells that a step failed, and does none after it', async () => {
      await timers.arm(give, 30, ownIdentity());
      const fails = { command: ['sh', '-c', 'echo no such port >&2; exit 3'] };
      await expect(timers.turn(give, [fails, down])).rejects.toThrow('no such port');
      expect(found()).toBe('up');
    });
  });
});

describe('a container', () => {
  it('of its own pids is no place for undo timers', () => {
    expect(() => requireUndoOutlivesUs('pid:[4026532501]')).toThrow(EnvironmentError);
    expect(() => requireUndoOutlivesUs('pid:[4026531836]')).not.toThrow();
  });
});

describe('steps', () => {
  it('go on past one that fails', () => {
    const text = script([{ command: ['false'] }, { command: ['cat'], input: "it's" }]);
    expect(execFileSync('sh', ['-c', text], { encoding: 'utf8' })).toBe("it's");
  });
});
