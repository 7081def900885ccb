/**
 * `parity` on a lab: its simulated twin predicts a blackhole that BFD has to find, and the lab is left as it was.
 *
 * Whether the prediction is good is a matter of figures, which a busy machine moves (docs/parity.md has them); here every
 * layer must be known on both sides.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CliPlace } from '../support/cli.js';
import { experimentDocument, type Json } from '../support/definitions.js';
import { whyNoLab } from '../support/linux-lab.js';

// a limit for what hangs; a drill takes its time
jest.setTimeout(240_000);
const why = whyNoLab('parity with a lab of Linux namespaces');

const name = `tp${process.pid.toString(36)}`;
const job = (own: string, hosts: string[]): Json => ({
  ...{ name: own, hosts, queuePairs: 1 },
  step: { compute: '250ms', collectives: [{ collective: 'all-reduce', bytes: '1MB' }] },
});
const lab: Json = {
  ...{ apiVersion: 'fabricdrill/v1', kind: 'Fabric', metadata: { name } },
  spec: {
    driver: 'linux',
    topology: {
      ...{ builder: 'leaf-spine', leaves: 2, spines: 2, hostsPerLeaf: 3 },
      ...{ hostRate: '50Mbps', fabricRate: '50Mbps' },
    },
    settings: { mtu: '1448B', headerBytes: 66, ackBytes: 66, bfdInterval: '100ms' },
    telemetry: { switchInterval: '500ms', nicInterval: '500ms', jobInterval: '500ms' },
    lab: { prefix: name },
    jobs: [job('exposed', ['host-1', 'host-4', 'host-2', 'host-5']), job('bystander', ['host-3', 'host-6'])],
  },
};
const drill = experimentDocument('hole', 'lab.yaml', {
  duration: '17s',
  faults: [
    {
      ...{ kind: 'link-down', params: { variant: 'one-way' }, at: '4s', duration: '6s' },
      target: { type: 'link', tier: 'leaf-spine', usedBy: 'exposed', mode: 'one', order: 'random' },
    },
  ],
});
const storm = experimentDocument('storm', 'lab.yaml', {
  faults: [
    {
      ...{ kind: 'pause-storm', params: { variant: 'continuous' }, at: '3s', duration: '3s' },
      target: { type: 'nic', usedBy: 'exposed', mode: 'one' },
    },
  ],
});

(why === undefined ? describe : describe.skip)('parity with a lab', () => {
  let place: CliPlace;

  beforeAll(async () => {
    place = await CliPlace.open('lab-parity');
    place.put('lab.yaml', lab);
    place.put('hole.yaml', drill);
    place.put('storm.yaml', storm);
    const { exitCode, stderr } = await place.runApart('fabrics', 'up', 'lab.yaml');
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  });

  afterAll(async () => {
    await place.runApart('fabrics', 'down', name);
    await place.close();
  });

  it('refuses what only the twin could have', async () => {
    const { exitCode, stderr } = await place.runApart('parity', 'storm.yaml', '--confirm', name);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/storm.yaml:\d+:\d+ .*\(linux\) can't apply pause-storm/);
    expect(stderr).not.toMatch(/^run /m);
  });

  it('knows every layer on both sides, at the same link', async () => {
    const args = ['parity', 'hole.yaml', '--confirm', name, '--output', 'json=parity.json'];
    const { exitCode, stderr, stdout } = await place.runApart(...args);
    // 3: a busy machine makes the pace before the fault too uneven to prove anything; what was read is there all the same
    expect({ told: [0, 1, 3].includes(exitCode ?? -1), stderr, stdout }).toMatchObject({ told: true });
    const result = JSON.parse(readFileSync(join(place.folder, 'parity.json'), 'utf8')) as {
      predicted: { fabric: string; driver: string };
      trust: { unknown: string[] };
      layers: {
        layer: string;
        predicted: { is: string; value: number };
        measured: { is: string; value: number };
      }[];
    };
    expect(result.predicted).toMatchObject({ fabric: `${name}-twin`, driver: 'simulated' });
    expect(result.trust.unknown).toEqual([]);
    // whether the pace is steady enough again to count as back is the machine's business, too
    for (const { layer, predicted, measured } of result.layers.filter((one) => one.layer !== 'failback')) {
      expect([layer, predicted.is, measured.is]).toEqual([layer, 'measured', 'measured']);
    }
    const reroute = result.layers.find(({ layer }) => layer === 'reroute')!;
    // BFD: 100 ms × 3, and the news once passed on
    expect(reroute.predicted.value).toBeGreaterThan(0.3);
    expect(reroute.measured.value).toBeGreaterThan(0.2);
  });
});
