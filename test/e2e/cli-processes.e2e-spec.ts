/**
 * Several processes of the command line on one database: their own, a server's, and the embedded one.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHECKOUT, type Cli, CliPlace } from '../support/cli.js';
import { experimentDocument, fabricDocument } from '../support/definitions.js';

jest.setTimeout(120_000);

const UNREACHABLE = 'postgres://nobody:nothing@127.0.0.1:9/none';

let place: CliPlace;
let cli: Cli;
let folder: string;

beforeAll(async () => {
  place = await CliPlace.open('cli-processes');
  ({ cli, folder } = place);
  place.put('drill.yaml', experimentDocument('drill', 'small.yaml'));
  place.put('small.yaml', fabricDocument('small'));
});

afterAll(() => place.close());

describe('several processes on one database', () => {
  it('each get their own run through, whoever executes it', async () => {
    const results = await Promise.all(
      ['21', '22', '23'].map((seed) =>
        cli.runApart(['run', 'drill.yaml', '--seed', seed, '--output', 'json'], folder),
      ),
    );
    for (const [index, { exitCode, stdout, stderr }] of results.entries()) {
      expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
      expect(JSON.parse(stdout)).toMatchObject({ run: { seed: 21 + index, state: 'passed' } });
    }
  });

  it('work through a server that FABRICDRILL_URL names, and tell when it is gone', async () => {
    const server = cli.start(['serve', '--port', '0']);
    const [, url] = await server.says(/fabricdrill is at (http:\/\/127\.0\.0\.1:\d+);/);
    const client = cli.with({ DATABASE_URL: UNREACHABLE, FABRICDRILL_URL: `${url}/` });
    const [remote, local, taken] = await Promise.all([
      client.run(['run', 'drill.yaml', '--seed', '31', '--output', 'json'], folder),
      cli.runApart(['run', 'drill.yaml', '--seed', '32', '--output', 'json'], folder),
      cli.runApart(['serve', '--port', new URL(url).port]),
    ]);
    expect(JSON.parse(remote.stdout)).toMatchObject({ run: { seed: 31, state: 'passed' } });
    expect(JSON.parse(local.stdout)).toMatchObject({ run: { seed: 32, state: 'passed' } });
    expect(taken).toMatchObject({ exitCode: 3, stdout: '' });
    expect(taken.stderr).toMatch(
      /^error: port \d+ on 127\.0\.0\.1 is taken by another program\n {2}choose another/,
    );
    server.process.kill('SIGTERM');
    expect(await server.ended).toMatchObject({ exitCode: 0, stdout: '' });
    const gone = await client.run(['runs', 'list']);
    expect(gone.exitCode).toBe(3);
    expect(gone.stderr).toMatch(/^error: no answer from http:\/\/127\.0\.0\.1:\d+: ECONNREFUSED\n/);
  });
});

describe('the embedded database', () => {
  it('starts with the first process, is shared by a second, and stops with the last', async () => {
    const home = mkdtempSync(join(tmpdir(), 'fabricdrill-e2e-home-'));
    const own = cli.with({ DATABASE_URL: '', FABRICDRILL_HOME: home });
    const results = await Promise.all([
      own.runApart(['run', 'experiments/link-down.yaml', '--output', 'json'], CHECKOUT),
      own.runApart(['run', 'drill.yaml', '--output', 'json'], folder),
    ]);
    for (const { exitCode, stderr } of results) expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    const listed = await own.runApart(['runs', 'list', '--output', 'json']);
    expect(
      (JSON.parse(listed.stdout) as { experiment: string }[]).map((run) => run.experiment).sort(),
    ).toEqual(['drill', 'link-down']);
    expect(results.map(({ stderr }) => stderr).join()).not.toMatch(/"level":/);
    rmSync(home, { recursive: true, force: true });
  });
});
