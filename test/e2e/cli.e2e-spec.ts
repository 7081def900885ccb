/**
 * The command line from file to scorecard: outputs, references, exit codes and Ctrl-C. Several processes on one database
 * are in cli-processes.e2e-spec.ts, what is wrong with input in src/cli/bad-input.spec.ts.
 */
import { caseOf, type CorpusCase } from '../../bench/explain/corpus/case.js';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { CHECKOUT, type Cli, CliPlace, type RunningCli } from '../support/cli.js';
import type { TestDatabase } from '../support/database.js';
import { experimentDocument, fabricDocument, yamlOf, type Json } from '../support/definitions.js';

jest.setTimeout(120_000);

interface RunRow {
  id: string;
  state: string;
  experiment: string;
  fabric: string;
  reason: string | null;
}

let place: CliPlace;
let database: TestDatabase;
let cli: Cli;
let folder: string;

beforeAll(async () => {
  place = await CliPlace.open('cli');
  ({ cli, database, folder } = place);
  place.put('drill.yaml', experimentDocument('drill', 'small.yaml'));
  place.put('small.yaml', fabricDocument('small'));
  place.put(
    'several.yaml',
    experimentDocument('first', 'beside'),
    experimentDocument('second', 'beside', { objectives: ['recovery.score > 100'] }),
    fabricDocument('beside'),
  );
  const pauses = ['rx_s', 'tx_s', 'rx_frames', 'tx_frames'].map((what) => `port_pause_${what}`);
  place.put('deaf.yaml', fabricDocument('deaf', { telemetry: { unsupported: pauses } }));
  place.put(
    'unknowable.yaml',
    experimentDocument('unknowable', 'deaf.yaml', { objectives: ['isolation.pause_depth_hops < 3'] }),
  );
  place.put('long.yaml', longExperiment());
});

afterAll(() => place.close());

/** Long enough to be interrupted, whatever else this machine does. */
function longExperiment(): Json {
  const document = experimentDocument('long', 'small.yaml') as { spec: { faults: Json[] } } & Json;
  Object.assign(document.spec.faults[0], { at: '3s', duration: '10h' });
  return document;
}

/** Asks the database itself, which is quicker than a command. */
async function runs(): Promise<RunRow[]> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    const columns = 'id, state, experiment_name AS experiment, fabric_name AS fabric, abort_reason AS reason';
    return (await client.query<RunRow>(`SELECT ${columns} FROM runs ORDER BY created_at DESC`)).rows;
  } finally {
    await client.end();
  }
}

/** Starts the long drill and waits until its fault is in place. */
async function holding(starting = cli): Promise<RunningCli> {
  const running = starting.start(['run', 'long.yaml'], folder);
  await running.says(/^holding/m);
  return running;
}

describe('run', () => {
  it('goes from file to scorecard: result on stdout, progress on stderr, no control characters', async () => {
    const { exitCode, stdout, stderr } = await cli.runApart(['run', 'drill.yaml'], folder);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    expect(stdout).toMatch(/^PASSED: every objective was met\n {2}drill on small \(simulated\), seed 11\n/);
    expect(stdout).toContain('fabricdrill run drill.yaml --seed 11');
    expect(stderr).toMatch(/^run [0-9a-f-]{36}: drill on small, seed 11\n/);
    for (const state of ['baseline', 'injecting', 'reverting', 'diagnosing', 'scoring', 'passed']) {
      expect(stderr).toMatch(new RegExp(`^${state}`, 'm'));
    }
    expect(stderr).toMatch(/next: fabricdrill runs show [0-9a-f-]{36}\n$/);
    expect(stdout + stderr).not.toContain('\r');
    expect(stdout + stderr).not.toContain('\u001b');
  });

  it('goes on to its end when nothing of it can be written, as on a full disk, and is no pass', async () => {
    const readOnly = openSync(join(folder, 'small.yaml'), 'r');
    try {
      const talkative = cli.with({ LOG_LEVEL: 'trace' });
      const { exitCode } = await talkative.start(['run', 'drill.yaml'], folder, readOnly).ended;
      expect({ exitCode, state: (await runs())[0].state }).toEqual({ exitCode: 3, state: 'passed' });
    } finally {
      closeSync(readOnly);
    }
  });

  it('writes JSON alone to stdout and other formats to files, relative to where the user stands', async () => {
    const elsewhere = join(folder, 'elsewhere');
    mkdirSync(elsewhere);
    const args = [
      'run',
      'drill.yaml',
      '--seed',
      '12',
      '--output',
      'json',
      '--output',
      'junit=out/r.xml',
      '--output',
      'markdown=r.md',
    ];
    const { exitCode, stdout, stderr } = await cli.with({ INIT_CWD: folder }).runApart(args, elsewhere);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    expect(JSON.parse(stdout)).toMatchObject({ run: { experiment: 'drill', seed: 12, state: 'passed' } });
    expect(readFileSync(join(folder, 'out/r.xml'), 'utf8')).toContain('<testsuites');
    expect(readFileSync(join(folder, 'r.md'), 'utf8')).toContain('drill');
    expect(existsSync(join(elsewhere, 'out'))).toBe(false);
  });

  it('takes one of several experiments, and ends with 1 when its objective is missed', async () => {
    const { exitCode, stdout, stderr } = await cli.run(['run', 'several.yaml#second'], folder);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 1 });
    expect(stdout).toMatch(/^FAILED/);
    expect(stdout).toContain('fabricdrill run several.yaml#second --seed 11');
  });

  it('ends with 3 when an objective asks for what can not be known', async () => {
    const { exitCode, stdout, stderr } = await cli.run(['run', 'unknowable.yaml'], folder);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 3 });
    expect(stdout).toMatch(/^INCONCLUSIVE/);
  });

  it('runs on a stored fabric, by flag and by the file, and says where an unknown one is named', async () => {
    const links = ['4 0', '5 1', '0 2', '0 3', '1 2', '1 3'].map((ends) => `${ends} 100Gbps 1us 0\n`);
    const topology = `6 4 6\n0 1 2 3\n${links.join('')}`;
    writeFileSync(join(folder, 'tiny.txt'), topology);
    const imported = await cli.run(
      ['fabrics', 'import', 'tiny.txt', '--format', 'ns3', '--name', 'tiny'],
      folder,
    );
    expect(imported).toMatchObject({ exitCode: 0 });
    expect(imported.stdout).toMatch(/^fabric tiny stored\n/);
    const jobs = [
      {
        name: 'exposed',
        gpus: 2,
        step: { compute: '50ms', collectives: [{ collective: 'all-reduce', bytes: '20MB' }] },
      },
    ];
    writeFileSync(
      join(folder, 'on-stored.yaml'),
      yamlOf(experimentDocument('on-stored', 'tiny', { jobs, objectives: [] })),
    );
    const planned = await cli.run(['plan', 'on-stored.yaml'], folder);
    expect(planned).toMatchObject({ exitCode: 0 });
    expect(planned.stdout).toMatch(/^on-stored on tiny \(simulated\)/);
    const run = await cli.run(['run', 'on-stored.yaml', '--output', 'json'], folder);
    expect(JSON.parse(run.stdout)).toMatchObject({ run: { fabric: 'tiny' } });
    const unknown = await cli.run(['run', 'drill.yaml', '--fabric', 'tinny'], folder);
    expect(unknown.exitCode).toBe(2);
    expect(unknown.stderr).toMatch(
      /^error: --fabric: there is no fabric "tinny"; .*\(did you mean "tiny"\?\)\n$/,
    );
  });

  it('leaves nothing behind when the input is wrong', async () => {
    const before = (await runs()).length;
    writeFileSync(join(folder, 'wrong.yaml'), yamlOf(experimentDocument('wrong', 'nowhere')));
    expect(await cli.run(['run', 'wrong.yaml'], folder)).toMatchObject({ exitCode: 2, stdout: '' });
    expect(await runs()).toHaveLength(before);
  });
});

describe('runs', () => {
  it('lists, shows, reports and watches what has ended, and exits as the run did', async () => {
    const failed = (await runs()).find((run) => run.experiment === 'second')!;
    expect(failed.state).toBe('failed');
    const shown = await cli.run(['runs', 'show', failed.id]);
    expect(JSON.parse(shown.stdout)).toMatchObject({
      id: failed.id,
      exitCode: 1,
      plan: { experiment: 'second' },
    });
    const report = await cli.run(['runs', 'report', failed.id, '--output', 'json']);
    expect(JSON.parse(report.stdout)).toMatchObject({ run: { id: failed.id, state: 'failed' } });
    expect(await cli.run(['runs', 'watch', failed.id])).toMatchObject({ exitCode: 1, stdout: '' });
    expect(await cli.run(['runs', 'abort', failed.id])).toMatchObject({ exitCode: 2, stdout: '' });
    const listed = await cli.run(['runs', 'list', '--experiment', 'second']);
    expect(listed.stdout.split('\n')).toHaveLength(3);
    const unknown = await cli.run(['runs', 'show', '00000000-0000-4000-8000-000000000000']);
    expect(unknown).toMatchObject({ exitCode: 2, stdout: '' });
    expect(unknown.stderr).toContain('to see what is there: fabricdrill runs list');
  });
});

describe('Ctrl-C', () => {
  it('reverts, reports and ends with 4', async () => {
    const running = await holding();
    running.process.kill('SIGINT');
    const { exitCode, stdout, stderr } = await running.ended;
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 4 });
    expect(stdout).toMatch(/^ABORTED/);
    expect(stderr).toMatch(/reverting; press Ctrl-C again to leave at once\n/);
    expect(stderr).toMatch(/^aborted/m);
    const run = (await runs()).find(({ experiment }) => experiment === 'long');
    // as of a run that a server was asked to abort
    expect(run).toMatchObject({ state: 'aborted', reason: 'interrupted at the command line' });
  });

  it('leaves at once when pressed again, with 5 and what to look at', async () => {
    const running = await holding();
    running.process.kill('SIGINT');
    await running.says(/press Ctrl-C again/);
    running.process.kill('SIGINT');
    const { exitCode, stderr } = await running.ended;
    // the revert of a simulated fault takes a moment only; when it was faster, the code is that of an aborted run
    expect([4, 5]).toContain(exitCode);
    if (exitCode === 5) expect(stderr).toMatch(/may still be in place\n.*\n.*runs show [0-9a-f-]{36}\n$/);
  });
});

/** A small tuning case with one plain fault. */
const smallCase = (): CorpusCase =>
  Array.from({ length: 1000 }, (_, index) => caseOf(1 + index)).find(
    ({ scene, entries, name }) =>
      scene.gpus === 32 && entries.length === 1 && /^link-down-node-(host|leaf)/.test(name),
  )!;

describe('bench', () => {
  it('prints a table, writes JSON, and says why a case could not be measured', async () => {
    const file = join(folder, 'bench.json');
    const cases = join(CHECKOUT, 'test/accuracy/cases');
    const args = [
      'bench',
      'flow',
      '--cases',
      cases,
      '--only',
      'maxmin_hand',
      '--only',
      'none',
      '--output',
      `json=${file}`,
    ];
    const { exitCode, stdout, stderr } = await cli.run([...args, '--strict']);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    expect(stdout).toMatch(/^case +measure +value .*\nmaxmin_hand +worst_flow_error/);
    const document = JSON.parse(readFileSync(file, 'utf8')) as { rows: Json[] };
    expect(document).toMatchObject({ bench: 'flow', seedRange: null });
    expect(document.rows.find((row) => row.case === 'maxmin_hand')).toMatchObject({ meetsFloor: true });
    expect(document.rows.find((row) => row.case === 'none')).toMatchObject({
      value: null,
      reason: expect.stringContaining('no such case'),
    });
  });

  it('draws one case a seed, grades it beside the baselines, and names the seed that repeats it', async () => {
    const file = join(folder, 'explain.json');
    const { name, seed } = smallCase();
    const seeds = ['--seeds', `${seed}..${seed + 1}`, '--output', 'text', '--output', `json=${file}`];
    const { exitCode, stdout, stderr } = await cli.run(['bench', 'explain', '--only', name, ...seeds]);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    expect(stdout).toMatch(new RegExp(`(^|\\n)${name} +top1 `));
    const document = JSON.parse(readFileSync(file, 'utf8')) as { rows: Json[]; cases: Json[] };
    expect(document).toMatchObject({
      bench: 'explain',
      seedRange: `${seed}..${seed + 1}`,
      purpose: 'tuning',
    });
    expect(document.cases).toMatchObject([{ name, outcome: 'counted' }]);
    expect(document.rows.map((row) => row.measure)).toEqual(
      expect.arrayContaining(['top1_element', 'false_alarms', 'top1_element_link-votes', 'dropped_share']),
    );
  });

  it('ends with 1 for a missed floor with --strict only', async () => {
    const cases = join(folder, 'cases');
    mkdirSync(cases);
    writeFileSync(
      join(cases, 'wrong.json'),
      JSON.stringify([{ name: 'one', links: { l: 10 }, flows: { f: ['l'] }, rates: { f: 5 } }]),
    );
    const strict = await cli.run(['bench', 'flow', '--cases', cases, '--strict']);
    const lax = await cli.run(['bench', 'flow', '--cases', cases]);
    expect([strict.exitCode, lax.exitCode, strict.stdout]).toEqual([1, 0, expect.stringContaining('MISSED')]);
  });
});

describe('what npm ci built', () => {
  it('is there, and a shell can start it', () => {
    const built = join(CHECKOUT, 'dist/src/cli.js');
    if (!existsSync(built)) throw new Error('dist/src/cli.js is missing: run npm run build');
    expect(readFileSync(built, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
  });
});
