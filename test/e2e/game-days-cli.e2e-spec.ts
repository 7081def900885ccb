/**
 * Game days and schedules as people type them: the real command line against a server with a worker. Short commands go
 * through one process that runs them all; a blind day is begun by a process of its own, as a person would.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cli, type CliResult } from '../support/cli.js';
import { experimentDocument, fabricDocument, yamlOf, type Json } from '../support/definitions.js';
import { queueBackends } from '../support/queue-backends.js';
import { startService, type TestService } from '../support/service.js';

jest.setTimeout(240_000);

const document = (kind: string, name: string, spec: Json): Json => ({
  ...{ apiVersion: 'fabricdrill/v1', kind, metadata: { name } },
  spec,
});
const hypothesis = { statement: 'traffic moves on', expect: ['recovery.recovered == 1'] };
const stage = (name: string, more: Json = {}): Json => ({
  ...{ name, experiments: [{ experiment: 'cut.yaml', hypothesis }] },
  ...more,
});
const openDay = document('GameDay', 'autumn', {
  roles: [{ role: 'leads', people: ['ada'] }],
  stages: [stage('warm-up'), stage('harder', { pause: 'Ready?' })],
});
const blindDay = document('GameDay', 'night', { blind: true, stages: [stage('one')] });

/** What a paced simulation of a sealed run leaves behind. @returns the folder of all */
function leavePacedLog(base: string, instance: string): string {
  const all = join(base, `fabricdrill-paced-${process.getuid!()}`);
  const own = join(all, instance);
  mkdirSync(own, { recursive: true, mode: 0o700 });
  const startedAt = new Date().toISOString();
  const record = {
    instance,
    sealed: true,
    fabric: 'small',
    pace: 10,
    process: '1-0',
    startedAt,
    state: 'ended',
  };
  writeFileSync(join(own, 'record.json'), JSON.stringify(record));
  writeFileSync(join(own, 'journal.jsonl'), '{"at":"","nowNs":0,"did":"applied","id":"link-down/0"}\n');
  return all;
}

const [backend] = queueBackends('game days at the command line');

describe('the command line', () => {
  let service: TestService;
  let cli: Cli;
  let folder: string;

  beforeAll(async () => {
    service = await startService(backend, { api: true, worker: true });
    folder = mkdtempSync(join(tmpdir(), 'fabricdrill-e2e-days-'));
    cli = Cli.compile({ FABRICDRILL_URL: service.url, TMPDIR: folder });
    const put = (file: string, ...documents: Json[]): void =>
      writeFileSync(join(folder, file), documents.map(yamlOf).join('---\n'));
    put('cut.yaml', experimentDocument('cut', 'small'), fabricDocument('small'));
    put('autumn.yaml', openDay);
    put('night.yaml', blindDay);
    put('wrong.yaml', document('GameDay', 'wrong', { stages: [stage('one', { after: ['on'] })] }));
    const when = { cron: '0 14 * * 4', timeZone: 'Europe/Berlin' };
    put('weekly.yaml', document('Schedule', 'weekly', { gameDayRef: 'autumn.yaml', ...when }));
    put('lost.yaml', document('Schedule', 'lost', { gameDayRef: 'atumn', ...when }), openDay);
  });
  afterAll(async () => {
    cli.remove();
    await service.stop();
    rmSync(folder, { recursive: true });
  });

  const run = (...args: string[]): Promise<CliResult> => cli.run(args, folder);
  const ok = async (...args: string[]): Promise<string> => {
    const { exitCode, stdout, stderr } = await run(...args);
    expect([args.join(' '), exitCode, stderr]).toEqual([args.join(' '), 0, expect.any(String)]);
    return stdout;
  };
  const idIn = (text: string): string => /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(text)![0];

  it('plans, begins, continues, notes, reports and compares a game day', async () => {
    const plan = await ok('plan', 'autumn.yaml');
    expect(plan).toMatch(
      /leads: ada[^]*harder: after warm-up[^]*waits for people: Ready\?[^]*exposed jobs {2}exposed/,
    );
    expect(await ok('plan', 'night.yaml')).toMatch(/blind[^]*seed drawn[^]*hidden until the team/);
    const wrong = await run('plan', 'wrong.yaml');
    expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringMatching(/wrong\.yaml:\d+.*"on"/)]);

    const begun = await run('game-days', 'start', 'autumn.yaml');
    expect([begun.exitCode, begun.stderr]).toEqual([0, expect.stringContaining('Ready?')]);
    const id = idIn(begun.stdout);
    expect(await ok('game-days', 'list', '--state', 'waiting')).toMatch(new RegExp(`${id} +autumn +waiting`));
    expect(await ok('game-days', 'list', '--state', 'aborted')).toBe('');
    expect(JSON.parse(await ok('game-days', 'show', id))).toMatchObject({ state: 'waiting' });
    expect(await ok('game-days', 'note', id, 'order a fiber', '--author', 'ada', '--action')).toContain(
      'action',
    );
    expect((await run('game-days', 'report', id)).exitCode).not.toBe(0);
    const continued = await run('game-days', 'continue', id, '--by', 'ada');
    expect([continued.exitCode, continued.stderr]).toEqual([
      0,
      expect.stringContaining('stage harder: done'),
    ]);
    expect(await ok('game-days', 'report', id)).toMatch(/# autumn: completed[^]*order a fiber \(ada\)/);
    expect((await run('game-days', 'compare', id)).exitCode).toBe(3);

    const other = idIn((await run('game-days', 'start', 'autumn.yaml')).stdout);
    const aborted = await run('game-days', 'abort', other, '--reason', 'fire drill');
    expect([aborted.exitCode, aborted.stderr]).toEqual([0, expect.stringContaining('aborted, fire drill')]);
    expect(await ok('game-days', 'compare', other, id)).toMatch(/harder\/cut +state +passed +not run/);
    expect((await run('game-days', 'watch', other)).exitCode).toBe(4);
  });

  it('commits to a blind day and verifies its seal', async () => {
    const begun = await cli.run(['game-days', 'start', 'night.yaml'], folder);
    const id = idIn(begun.stdout);
    const runId = /commit \S+ --run (\S+)/.exec(begun.stderr)![1];
    const early = await run('game-days', 'verify', id);
    expect([early.exitCode, early.stdout]).toEqual([3, expect.stringContaining(`sealed  ${runId}`)]);
    const refused = await run('runs', 'report', runId);
    expect([refused.exitCode, refused.stderr]).toEqual([
      2,
      expect.stringContaining(`game-days commit ${id} --run ${runId} --verdict FILE breaks the seal`),
    ]);
    expect(await ok('runs', 'list')).toMatch(new RegExp(`${runId} +sealed +small +ended`));
    expect((await run('runs', 'evidence', runId, '--to', 'seen.arrow')).stderr).toContain('seen.arrow');
    expect(await ok('diagnose', '--evidence', 'seen.arrow')).toContain('FAULT FOUND');
    const pacedFolder = leavePacedLog(folder, runId);
    const log = await run('fabrics', 'log', runId);
    expect([log.exitCode, log.stdout, log.stderr]).toEqual([
      2,
      '',
      expect.stringContaining('is sealed until'),
    ]);
    writeFileSync(join(folder, 'broken.yaml'), 'faultFound: true\nculprits: [\n');
    writeFileSync(join(folder, 'wrong.verdict.yaml'), 'faultFound: true\nculprits:\n  - kind: link-dwn\n');
    for (const [file, complaint] of [
      ['broken.yaml', /^error: broken\.yaml:3:1: this is no valid YAML/],
      ['wrong.verdict.yaml', /^error: wrong\.verdict\.yaml:3:11 \/culprits\/0\/kind: .*"link-down"\?\)$/m],
    ] as const) {
      const wrong = await run('game-days', 'commit', id, '--run', runId, '--verdict', file);
      expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringMatching(complaint)]);
    }
    writeFileSync(join(folder, 'verdict.yaml'), yamlOf({ faultFound: false, culprits: [] }));
    const commit = [
      'game-days',
      'commit',
      id,
      '--run',
      runId,
      '--verdict',
      'verdict.yaml',
      '--author',
      'night shift',
    ];
    expect((await run(...commit)).exitCode).toBe(0);
    expect(await ok('game-days', 'verify', id)).toMatch(new RegExp(`^ok +${runId} [0-9a-f]{64}`));
    expect(await ok('game-days', 'report', id, '--output', 'json')).toContain('"night shift"');
    await ok('game-days', 'report', id, '--output', 'html=day.html');
    const page = readFileSync(join(folder, 'day.html'), 'utf8');
    expect(page).toMatch(
      /<svg [^]*the team committed its diagnosis at[^]*no fault \(night shift, .* after the injection\)/,
    );
    expect(await ok('fabrics', 'log', runId)).toContain('"did":"applied"');
    rmSync(pacedFolder, { recursive: true });
  });

  it('stores a schedule of game days, shows, suspends, resumes and deletes it', async () => {
    expect(await ok('validate', 'weekly.yaml')).toContain('Schedule weekly');
    expect(await ok('plan', 'weekly.yaml')).toMatch(/weekly: game day autumn\.yaml[^]*14:00/);
    const lost = await run('schedules', 'create', 'lost.yaml');
    expect([lost.exitCode, lost.stderr]).toEqual([
      2,
      expect.stringMatching(/lost\.yaml:6.*did you mean "autumn"/),
    ]);
    for (const asked of [
      ['schedules', 'create', 'weekly.yaml'],
      ['game-days', 'start', 'autumn.yaml'],
    ]) {
      const taken = await run(...asked, '--confirm', 'lab');
      expect([taken.exitCode, taken.stderr]).toEqual([
        2,
        expect.stringMatching(/--confirm.*"lab" is not what .* simulated/),
      ]);
    }
    await ok('schedules', 'create', 'weekly.yaml');
    expect(await ok('schedules', 'list')).toMatch(/weekly +game day autumn +0 14 \* \* 4/);
    expect(JSON.parse(await ok('schedules', 'show', 'weekly'))).toMatchObject({ gameDayRef: 'autumn' });
    expect(await ok('schedules', 'next', 'weekly')).toMatch(/14:00 \+0[12]:00/);
    await ok('schedules', 'suspend', 'weekly', '--reason', 'upgrade');
    expect(await ok('schedules', 'list')).toContain('suspended');
    await ok('schedules', 'resume', 'weekly');
    expect((await run('schedules', 'ticks', 'weekly')).stderr).toContain('no tick yet');
    expect(await ok('schedules', 'delete', 'weekly')).toContain('deleted');
  });

  it('says of paced simulations what there is', async () => {
    expect(await ok('fabrics', 'running', '--output', 'json')).toBe('[]\n');
    expect((await run('fabrics', 'log', 'nobody')).exitCode).toBe(2);
    const paced = await run('run', 'cut.yaml', '--pace', '0.5x');
    expect([paced.exitCode, paced.stderr]).toEqual([2, expect.stringContaining('write 1x to 1000x')]);
  });
});
