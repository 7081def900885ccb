/**
 * Ctrl-C ends what only computes, at once and with 4, although it computes for minutes: nothing is in place meanwhile.
 */
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { CliPlace } from '../support/cli.js';
import { experimentDocument, fabricDocument } from '../support/definitions.js';
import { until } from '../support/until.js';

jest.setTimeout(180_000);

/** Everybody sends to everybody: more flows than can be routed, let alone simulated, in a minute. */
const wide = {
  topology: { builder: 'leaf-spine', leaves: 32, spines: 8, hostsPerLeaf: 8, gpusPerHost: 8 },
  jobs: [
    {
      name: 'exposed',
      gpus: 1024,
      placement: { strategy: 'packed' },
      step: { compute: '60ms', collectives: [{ collective: 'all-to-all', bytes: '20MB' }] },
    },
  ],
};

let place: CliPlace;
beforeAll(async () => {
  place = await CliPlace.open('stops');
  place.put('wide.yaml', fabricDocument('wide', wide));
  place.put('drill.yaml', experimentDocument('drill', 'wide.yaml'));
});
afterAll(() => place.close());

/** CPU time of a process with all its threads, in hundredths of a second. */
function spent(pid: number): number {
  const [, fields] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  return Number(fields.split(' ')[11]);
}

it.each([
  ['plan', ['plan', 'drill.yaml']],
  ['validate', ['validate', 'drill.yaml']],
  ['diagnose', ['diagnose', '--fabric', 'wide.yaml', '--to', '30s']],
])('%s', async (_, args) => {
  const running = place.cli.start(args, place.folder);
  await until(() => spent(running.process.pid!) > 500, 'seconds of computing', 90_000);
  running.process.kill('SIGINT');
  expect(await running.ended).toMatchObject({ exitCode: 4, stdout: '' });
});
