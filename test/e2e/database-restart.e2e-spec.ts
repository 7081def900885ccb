/**
 * The embedded database is killed under a server: the server starts it again at its old address, and what was under way
 * ends in truth.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { joinEmbeddedServer } from '../../src/store/database/embedded/embedded-server.js';
import { preparePlace, type EmbeddedPlace } from '../../src/store/database/embedded/place.js';
import { findPostmaster, type Postmaster } from '../../src/store/database/embedded/postmaster.js';
import { withTicketLock } from '../../src/store/database/embedded/ticket-lock.js';
import { argumentsOf, identityOf } from '../../src/system/process-identity.js';
import { Cli, type RunningCli } from '../support/cli.js';
import { experimentDocument, fabricDocument, type Json } from '../support/definitions.js';
import { HttpClient } from '../support/http-client.js';
import { ownHome, type OwnHome } from '../support/own-home.js';
import { until } from '../support/until.js';

jest.setTimeout(180_000);

/** Takes a while to compute: everybody sends to everybody over uplinks that are too few. */
const long: Json = {
  topology: { builder: 'leaf-spine', leaves: 2, spines: 2, hostsPerLeaf: 4, gpusPerHost: 2 },
  jobs: [
    {
      name: 'exposed',
      gpus: 16,
      placement: { strategy: 'packed' },
      step: { compute: '200ms', collectives: [{ collective: 'all-to-all', bytes: '20MB' }] },
    },
  ],
};

let home: OwnHome;
let place: EmbeddedPlace;
let cli: Cli;
let server: RunningCli;
let client: HttpClient;

beforeAll(async () => {
  home = ownHome();
  place = preparePlace(home.folder);
  cli = Cli.compile({ FABRICDRILL_HOME: home.folder });
  // started by somebody who leaves, so that the database is no child of the server
  const starter = await joinEmbeddedServer(home.folder);
  server = cli.start(['serve', '--port', '0']);
  client = new HttpClient((await server.says(/fabricdrill is at (\S+);/))[1]);
  await starter.leave();
});
afterAll(async () => {
  cli.remove();
  await server.ended;
  await home.remove();
});

async function killed(): Promise<Postmaster> {
  const postmaster = findPostmaster(place.data)!;
  process.kill(postmaster.pid, 'SIGKILL');
  await until(() => identityOf(postmaster.pid) === undefined, 'the end of the database');
  return postmaster;
}

const ready = async (): Promise<number> => (await client.get('/health/ready')).status;

/** Processes that compute for the server. */
const programs = (): number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && argumentsOf(pid).includes('compute/program.js'))
    .filter((pid) => {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      return status.includes(`\nPPid:\t${server.process.pid}\n`);
    });

/** Asked again and again: a stream of events ends with the database. */
async function ended(id: string): Promise<Json> {
  let run: Json = {};
  await until(
    async () => (run = (await client.get(`/v1/runs/${id}`)).body).final === true,
    `the end of ${id}`,
    60_000,
  );
  return run;
}

describe('a server whose embedded database is killed', () => {
  it('is not ready, starts it again at the same address, is ready, and runs', async () => {
    const before = await killed();
    const seen = new Set<number>();
    await until(async () => seen.add(await ready()).has(503), 'a probe that fails');
    await until(async () => (await ready()) === 200, 'a probe that succeeds');
    const now = findPostmaster(place.data)!;
    expect([now.port, now.pid === before.pid]).toEqual([before.port, false]);
    const id = await client.run(fabricDocument('after'), experimentDocument('after', 'after'));
    expect(await ended(id)).toMatchObject({ state: 'passed', exitCode: 0 });
  });

  it('ends a run that it was computing, and takes the next', async () => {
    const id = await client.run(fabricDocument('long', long), experimentDocument('long', 'long'));
    await until(async () => (await client.get(`/v1/runs/${id}`)).body.state === 'baseline', 'the baseline');
    await withTicketLock(place.lock, async () => {
      await killed();
      await until(() => programs().length === 0, 'the end of what computes in vain', 90_000);
    });
    const run = await ended(id);
    expect([run.state, run.exitCode]).toEqual(['error', 3]);
    expect(run.reason).toMatch(/^the connection to the database is lost: .*; nothing of a simulated fabric/);
    const next = await client.run(fabricDocument('next'), experimentDocument('next', 'next'));
    expect(await ended(next)).toMatchObject({ state: 'passed' });
  });

  it('reverts what a paced run had in place while it could write nothing', async () => {
    const experiment = experimentDocument('paced', 'paced');
    const id = await client.run(fabricDocument('paced'), experiment, { pace: '2x' });
    await until(async () => (await client.get(`/v1/runs/${id}`)).body.state === 'holding', 'the fault');
    // gone for longer than the fault is to stay: its undo can't be written down when it is due
    await withTicketLock(place.lock, async () => {
      await killed();
      await sleep(3_000);
    });
    const run = await ended(id);
    expect([run.state, run.exitCode]).toEqual(['error', 3]);
    expect(run.reason).toMatch(/^the connection to the database is lost: .*; one impairment was reverted$/);
  });

  it('leaves no port, lock or process behind when it is told to go', async () => {
    const { pid } = findPostmaster(place.data)!;
    const { port } = new URL(client.url);
    server.process.kill('SIGTERM');
    expect((await server.ended).exitCode).toBe(0);
    expect(identityOf(pid)).toBeUndefined();
    expect([readdirSync(place.lock), readdirSync(place.leases)]).toEqual([[], []]);
    await expect(fetch(`http://127.0.0.1:${port}/health/live`)).rejects.toThrow();
    expect(findPostmaster(place.data)).toBeUndefined();
  });
});
