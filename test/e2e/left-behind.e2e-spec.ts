/**
 * What processes leave behind when they have ended: nothing, however they ended.
 */
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { preparePlace } from '../../src/store/database/embedded/place.js';
import { Cli, type RunningCli } from '../support/cli.js';
import { experimentDocument, fabricDocument, yamlOf } from '../support/definitions.js';
import { HttpClient } from '../support/http-client.js';
import { ownHome, type OwnHome } from '../support/own-home.js';
import { until } from '../support/until.js';

jest.setTimeout(180_000);

let home: OwnHome;
let cli: Cli;
beforeEach(() => {
  home = ownHome();
  cli = Cli.compile({ FABRICDRILL_HOME: home.folder });
});
afterEach(async () => {
  cli.remove();
  await home.remove();
});

/** Processes that were started with this home, by environment or arguments; only they could listen for it. */
function left(): string[] {
  const marks = [`FABRICDRILL_HOME=${home.folder}`, preparePlace(home.folder).data];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const [told, given] = ['cmdline', 'environ'].map((file) =>
          readFileSync(`/proc/${pid}/${file}`, 'utf8'),
        );
        return marks.some((mark) => told.includes(mark) || given.includes(mark)) ? [`${pid} ${told}`] : [];
      } catch {
        // it ended meanwhile, or is somebody else's
        return [];
      }
    });
}

it('commands leave no process behind, and so no socket', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fabricdrill-left-'));
  try {
    writeFileSync(join(folder, 'fabric.yaml'), yamlOf(fabricDocument('small')));
    writeFileSync(join(folder, 'drill.yaml'), yamlOf(experimentDocument('drill', 'fabric.yaml')));
    const run = cli.start(['run', 'drill.yaml'], folder);
    await run.says(/run [0-9a-f-]{36}:/);
    expect(left()).not.toEqual([]);
    expect((await run.ended).exitCode).toBe(0);
    expect(left()).toEqual([]);
    for (const args of [
      ['runs', 'list'],
      ['fabrics', 'list'],
    ]) {
      const { exitCode, stderr } = await cli.runApart(args, folder);
      expect([args, exitCode, stderr, left()]).toEqual([args, 0, expect.anything(), []]);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** Takes a while to compute: everybody sends to everybody over uplinks that are too few. */
const long = {
  topology: { builder: 'leaf-spine', leaves: 2, spines: 2, hostsPerLeaf: 4, gpusPerHost: 2 },
  jobs: [
    {
      name: 'exposed',
      gpus: 16,
      placement: { strategy: 'packed' },
      step: { compute: '60ms', collectives: [{ collective: 'all-to-all', bytes: '20MB' }] },
    },
  ],
};

it('a server that is killed takes what computes with it, one that is told to go leaves nothing, and both runs end in truth', async () => {
  const started = async (): Promise<{ server: RunningCli; client: HttpClient }> => {
    const server = cli.start(['serve', '--port', '0']);
    return { server, client: new HttpClient((await server.says(/fabricdrill is at (\S+);/))[1]) };
  };
  const begun = async (client: HttpClient, name: string): Promise<string> => {
    const id = await client.run(fabricDocument(name, long), experimentDocument(name, name));
    await until(
      async () => (await client.get(`/v1/runs/${id}`)).body.state === 'baseline',
      'the baseline',
      60_000,
    );
    return id;
  };
  const computing = (): string[] => left().filter((one) => one.includes('compute/program.js'));
  const first = await started();
  const killed = await begun(first.client, 'killed');
  expect(computing()).toHaveLength(1);
  first.server.process.kill('SIGKILL');
  await first.server.ended;
  await until(() => computing().length === 0, 'the end of what computed');

  const second = await started();
  const run = await second.client.ended(killed);
  expect([run.state, run.exitCode]).toEqual(['error', 3]);
  expect(run.reason).toMatch(
    /^the worker was lost in state baseline; nothing of a simulated fabric outlives it$/,
  );
  const told = await begun(second.client, 'told');
  second.server.process.kill('SIGTERM');
  expect((await second.server.ended).exitCode).toBe(0);
  expect(left()).toEqual([]);
  const { stdout } = await cli.runApart(['runs', 'show', told]);
  const { state, exitCode, reason } = JSON.parse(stdout) as Record<string, unknown>;
  expect([state, exitCode, reason]).toEqual(['aborted', 4, expect.stringContaining('shutting down')]);
});
