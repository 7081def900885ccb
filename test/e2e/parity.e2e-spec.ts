/**
 * `parity` as a user runs it: two simulated fabrics that should agree, and two that should not. On a lab of real network
 * stacks: linux-lab-parity.e2e-spec.ts; what is refused: src/cli/bad-input.spec.ts.
 */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CliPlace, type CliResult } from '../support/cli.js';
import { experimentDocument, fabricDocument } from '../support/definitions.js';

jest.setTimeout(120_000);

interface Layer {
  layer: string;
  agrees: boolean | null;
  predicted: { is: string; value: number | null; runs: number };
  measured: { is: string; value: number | null };
}

interface StoredRun {
  id: string;
  fabric: string;
  seed: number;
  final: boolean;
}

interface Parity {
  verdict: string;
  trust: { grade: string | null; because: string[]; unknown: string[] };
  targets: { seed: number; elements: string[] }[];
  layers: Layer[];
  predicted: { fabric: string; runs: { id: string; seed: number }[] };
}

let place: CliPlace;

beforeAll(async () => {
  place = await CliPlace.open('parity');
  place.put('drill.yaml', experimentDocument('drill', 'site.yaml', { duration: '14s' }));
  place.put('site.yaml', fabricDocument('site', { settings: { hashSeed: 3 } }));
  place.put('model.yaml', fabricDocument('model', { settings: { hashSeed: 4, sourcePorts: 'spread' } }));
  place.put(
    'slow.yaml',
    fabricDocument('slow', { settings: { carrierDetection: '900ms', sessionRestore: '30s' } }),
  );
});

afterAll(() => place.close());

const parity = (...args: string[]): Promise<CliResult> => place.run('parity', 'drill.yaml', ...args);
const written = (name: string): Parity =>
  JSON.parse(readFileSync(join(place.folder, name), 'utf8')) as Parity;

describe('parity', () => {
  it('gives an A where the model does as the fabric does, whatever its hash chooses, seed for seed', async () => {
    const { exitCode, stdout, stderr } = await parity(
      '--twin',
      'model.yaml',
      '--repeat',
      '2',
      '--output',
      'text',
      '--output',
      'json=same.json',
    );
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    expect(stdout).toMatch(/^parity A: drill, model for site$/m);
    expect(stderr.indexOf('predicting on model')).toBeLessThan(stderr.indexOf('measuring on site'));
    const { verdict, trust, targets, layers, predicted } = written('same.json');
    expect([verdict, trust]).toEqual(['agrees', { grade: 'A', because: [], unknown: [] }]);
    expect(predicted.runs.map(({ seed }) => seed)).toEqual([11, 12]);
    for (const { elements } of targets)
      expect(elements).toEqual([expect.stringMatching(/^link:leaf-.*--spine-/)]);
    for (const layer of layers)
      expect(layer).toMatchObject({ predicted: { is: 'measured', runs: 2 }, agrees: true });
    const stored = JSON.parse((await place.run('runs', 'list', '--output', 'json')).stdout) as StoredRun[];
    expect(stored.map((run) => [run.fabric, run.seed, run.final]).reverse()).toEqual([
      ['model', 11, true],
      ['model', 12, true],
      ['site', 11, true],
      ['site', 12, true],
    ]);
    expect(stored.map(({ id }) => id)).toContain(predicted.runs[0].id);
    const seen = await place.run('diagnose', '--run', predicted.runs[0].id, '--output', 'json');
    expect({ ...seen, stdout: JSON.parse(seen.stdout) as unknown }).toMatchObject({
      exitCode: 0,
      stdout: { faultFound: true },
    });
  });

  it('says in which layers a model is off, and fails as a test does', async () => {
    const { exitCode, stdout } = await parity(
      '--twin',
      'slow.yaml',
      '--output',
      'junit',
      '--output',
      'json=off.json',
    );
    expect(exitCode).toBe(1);
    const { verdict, trust, layers } = written('off.json');
    expect([verdict, trust.grade]).toEqual(['differs', 'D']);
    const off = new Map(layers.map((layer) => [layer.layer, layer]));
    expect(off.get('reroute')).toMatchObject({ agrees: false });
    expect(off.get('reroute')!.predicted.value! - off.get('reroute')!.measured.value!).toBeCloseTo(0.89, 2);
    expect(off.get('routes_back')).toMatchObject({ agrees: false, predicted: { is: 'never' } });
    expect(off.get('throughput_before')).toMatchObject({ agrees: true });
    expect(stdout).toMatch(
      /<testcase classname="fabricdrill.parity.drill.site" name="reroute">\n {6}<failure /,
    );
  });
});
