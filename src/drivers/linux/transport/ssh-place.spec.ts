/** Commands over a real sshd on loopback; skipped, with the reason, where there is none. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { LineCommand } from '../telemetry/line-command.js';
import { CommandError } from './place.js';
import { SshPlace, type SshTarget } from './ssh-place.js';
import { RealSshd, whyNoSshd } from './testing/real-sshd.js';

const why = whyNoSshd();
if (why !== undefined) process.stderr.write(`skipped: commands over SSH: ${why}\n`);

(why === undefined ? describe : describe.skip)('commands over SSH', () => {
  let sshd: RealSshd;
  let port: number;
  let sockets: string;
  const places: SshPlace[] = [];

  const placeOf = (change: Partial<SshTarget> = {}): SshPlace => {
    const { key, knownHosts } = sshd;
    const login = { host: '127.0.0.1', port, user: 'root', key, knownHosts };
    const place = new SshPlace({
      name: 'leaf-1',
      ...login,
      sudo: false,
      connectTimeoutS: 2,
      socketFolder: sockets,
      node: process.execPath,
      install: (program) => program,
      ...change,
    });
    places.push(place);
    return place;
  };

  beforeAll(async () => {
    sshd = new RealSshd();
    port = await sshd.listen();
    sockets = mkdtempSync(join(tmpdir(), 'fdssh-'));
  });

  afterEach(() => {
    for (const place of places.splice(0)) place.close();
  });

  afterAll(() => {
    if (why !== undefined) return;
    sshd.stop();
    rmSync(sockets, { recursive: true, force: true });
  });

  const refused = async (place: SshPlace): Promise<CommandError> =>
    place.run(['true']).then(
      () => Promise.reject(new Error('was let in')),
      (error: CommandError) => error,
    );

  it('hands on every word as it is, whatever is in it', async () => {
    const place = placeOf();
    const word = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 12 }),
      fc.constantFrom(
        '',
        ' ',
        "'",
        '"',
        '$(id)',
        '`id`',
        '; rm -rf x',
        '~',
        '*',
        '-n',
        '\\',
        '\n',
        '!!',
        '%h',
        '#',
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(word, { minLength: 1, maxLength: 6 }), async (words) => {
        const clean = words.map((one) => one.replaceAll('\0', ''));
        const { stdout } = await place.run(['printf', '%s\\0', ...clean]);
        expect(stdout.split('\0').slice(0, -1)).toEqual(clean);
      }),
      { numRuns: 20 },
    );
  });

  it('hands on input, exit codes and what the command complains of', async () => {
    const place = placeOf();
    const input = 'a\0b\n'.repeat(20_000);
    expect((await place.run(['cat'], { input })).stdout).toBe(input);
    expect(await place.run(['sh', '-c', 'echo no >&2; exit 7'], { anyExit: true })).toMatchObject({
      code: 7,
      stderr: 'no\n',
    });
    await expect(place.run(['sh', '-c', 'echo no >&2; exit 7'])).rejects.toMatchObject({
      code: 7,
      why: 'no',
    });
  });

  it('takes one connection for many commands, and more of them at once than sshd lets in', async () => {
    const place = placeOf();
    await place.run(['true']);
    const before = sshd.connections;
    const said = await Promise.all(Array.from({ length: 24 }, (_, one) => place.run(['echo', String(one)])));
    expect(said.map(({ stdout }) => Number(stdout))).toEqual(Array.from({ length: 24 }, (_, one) => one));
    expect(sshd.connections).toBe(before);
  });

  it('keeps a program that answers line by line', async () => {
    const place = placeOf();
    const program = new LineCommand(
      place.lane('watch').argv(['sh', '-c', 'while read -r l; do echo "<$l>"; done']),
    );
    expect(await program.ask('one', 2000)).toBe('<one>');
    expect(await program.ask('two', 2000)).toBe('<two>');
    program.close();
    place.lane('watch').close();
  });

  it('refuses a host whose key is not the known one, and says so', async () => {
    const knownHosts = join(sockets, 'others');
    writeFileSync(knownHosts, '');
    const error = await refused(placeOf({ knownHosts }));
    expect(error).toBeInstanceOf(CommandError);
    expect(error.code).toBeUndefined();
    expect(error.message).toMatch(/no SSH connection to root@127\.0\.0\.1:\d+: .*[Hh]ost key/);
  });

  it('says that a key is not accepted, and that nobody listens', async () => {
    expect((await refused(placeOf({ key: sshd.strangersKey }))).message).toMatch(/Permission denied/);
    expect((await refused(placeOf({ port: 1 }))).message).toMatch(/no SSH connection to .*:1: .*refused/);
  });

  it('ends a command that does not answer in time', async () => {
    await expect(placeOf().run(['sleep', '20'], { timeoutMs: 400 })).rejects.toThrow(
      /no answer within 400 ms/,
    );
  });

  it('goes over a jump host with the same strictness', async () => {
    const { key, knownHosts } = sshd;
    const jump = { host: '127.0.0.1', port: await sshd.listen(), user: 'root', key, knownHosts };
    const before = sshd.connections;
    expect((await placeOf({ jump }).run(['echo', 'a b'])).stdout).toBe('a b\n');
    expect(sshd.connections).toBe(before + 2);
    const strange = { ...jump, key: sshd.strangersKey };
    expect((await refused(placeOf({ jump: strange }))).message).toMatch(
      /by way of 127\.0\.0\.1:\d+: .*(Permission denied|closed)/,
    );
  });

  it('connects anew after the connection was lost', async () => {
    const place = placeOf();
    await place.run(['true']);
    sshd.cut();
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect((await place.run(['echo', 'back'])).stdout).toBe('back\n');
  });
});
