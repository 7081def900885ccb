import { describe, expect, test } from '@jest/globals';
import { FAULT_KINDS } from '../../../src/faults/catalog.js';
import { fabricSpecSchema } from '../../../src/fabric-api/definition.js';
import { InputError } from '../../../src/core/problem.js';
import { Prng } from '../../../src/core/prng.js';
import { buildTopology } from '../../../src/model/topology/topology-spec.js';
import { buildJobs } from '../../../src/model/workload/build-jobs.js';
import { caseOf, experimentOf } from './case.js';
import { STRAGGLER } from './control.js';
import { FAULT_ENTRIES } from './entries.js';
import { degrade } from './quality.js';
import { caseRandom, FIRST_REPORTING_SEED, purposeOfAll } from './seeds.js';

const SEEDS = Array.from({ length: 600 }, (_, index) => 20_000 + index);
const CASES = SEEDS.map((seed) => caseOf(seed));
const FAULTS = CASES.filter(({ control }) => control === null);

const share = (count: number, all: readonly unknown[]): number => count / all.length;

describe('the corpus of the explainability bench', () => {
  // straggler is a control here, and none is what a control without one is
  test.each(FAULT_KINDS.filter(({ name }) => name !== 'none').map((kind) => [kind.name, kind] as const))(
    'asks about every variant of %s',
    (name, kind) => {
      const entries = [...FAULT_ENTRIES, STRAGGLER].filter((entry) => entry.kind === name);
      const drawn = new Set(
        entries.flatMap((entry) =>
          CASES.slice(0, 20).map(({ scene, seed }) => entry.parameters(new Prng(seed), scene).variant),
        ),
      );
      expect(entries.length).toBeGreaterThan(0);
      expect([...drawn].sort()).toEqual(Object.keys(kind.allSymptoms()).sort());
    },
  );

  test('gives the same case for the same seed', () => {
    const bytes = (seed: number): string => JSON.stringify(caseOf(seed));
    for (const seed of SEEDS.slice(0, 40)) expect(bytes(seed)).toBe(bytes(seed));
    expect(new Set(SEEDS.map(bytes)).size).toBe(SEEDS.length);
  });

  test('draws fabrics and jobs that can be built, of every family and size', () => {
    for (const { scene } of CASES.slice(0, 150)) {
      const spec = fabricSpecSchema.parse(scene.spec);
      const topology = buildTopology(spec.topology);
      expect(spec.jobs.length).toBeGreaterThan(0);
      expect(topology.gpus).toHaveLength(scene.gpus);
      expect(buildJobs(spec.jobs, topology, '/jobs')).toHaveLength(spec.jobs.length);
    }
    expect(new Set(CASES.map(({ scene }) => scene.family)).size).toBe(4);
    expect([...new Set(CASES.map(({ scene }) => scene.gpus))].sort((a, b) => a - b)).toEqual([
      32, 64, 128, 256, 512,
    ]);
  });

  test('states experiments that a file could state', () => {
    for (const { attempts } of CASES.slice(0, 150)) {
      expect(() => experimentOf(attempts.map(([first]) => first))).not.toThrow();
    }
  });

  test('has a fifth of controls and more, of every sort', () => {
    expect(share(CASES.length - FAULTS.length, CASES)).toBeGreaterThanOrEqual(0.2);
    expect(new Set(CASES.map(({ control }) => control)).size).toBe(4);
  });

  test('has two faults at once, of different kinds', () => {
    const two = FAULTS.filter(({ entries }) => entries.length === 2);
    expect(share(two.length, FAULTS)).toBeGreaterThan(0.08);
    for (const { entries } of two) expect(entries[0].kind).not.toBe(entries[1].kind);
  });

  test('watches some cases badly in every way', () => {
    expect(new Set(FAULTS.map(({ quality }) => quality)).size).toBe(5);
  });

  test('holds every fault, every quality and enough controls within the usual seeds', () => {
    const usual = Array.from({ length: 380 }, (_, index) => caseOf(10_001 + index));
    const names = new Set(usual.flatMap(({ entries }) => entries.map(({ name }) => name)));
    for (const { name } of FAULT_ENTRIES) expect(names).toContain(name);
    expect(new Set(usual.map(({ quality }) => quality)).size).toBe(5);
    expect(usual.filter(({ control }) => control !== null).length).toBeGreaterThanOrEqual(150);
  });

  test('keeps the names of jobs free of hints', () => {
    const names = CASES.flatMap(({ scene }) => (scene.spec.jobs ?? []).map(({ name }) => name));
    for (const name of new Set(names)) expect(name).toMatch(/^job-[a-c]$/);
  });
});

describe('seeds', () => {
  test('to tune and to report are never mixed', () => {
    expect(purposeOfAll([1, FIRST_REPORTING_SEED - 1])).toBe('tuning');
    expect(purposeOfAll([FIRST_REPORTING_SEED, 2 * FIRST_REPORTING_SEED])).toBe('reporting');
    expect(() => purposeOfAll([FIRST_REPORTING_SEED - 1, FIRST_REPORTING_SEED])).toThrow(InputError);
  });

  test('draw from streams that differ by purpose, not only by seed', () => {
    expect(caseRandom(7).uniform()).not.toBe(new Prng(7).stream('explain reporting').uniform());
  });
});

describe('bad telemetry', () => {
  const topology = buildTopology(
    fabricSpecSchema.parse({ topology: { builder: 'leaf-spine', leaves: 4, spines: 4, hostsPerLeaf: 8 } })
      .topology,
  );
  const evidence = {
    fromNs: 0,
    toNs: 10e9,
    series: topology.ports.map(({ name }) => ({
      metric: 'port_tx_bytes',
      element: `port:${name}`,
      timesNs: Float64Array.from([0, 1e9, 2e9, 9.9e9]),
      values: Float64Array.from([1, 2, 3, 4]),
      quality: new Uint8Array(4),
    })),
  };
  const ownerOf = (element: string): string => element.slice('port:'.length).split('/')[0];

  test('silences whole devices, about a third of them', () => {
    const left = new Set(
      degrade(evidence, topology, 'mute-third', new Prng(1)).series.map((one) => ownerOf(one.element)),
    );
    expect(share(left.size, topology.devices)).toBeGreaterThan(0.5);
    expect(share(left.size, topology.devices)).toBeLessThan(0.85);
  });

  test('sets the clock of a device off as a whole, and keeps times rising and within the window', () => {
    const shifts = new Map<string, number>();
    for (const one of degrade(evidence, topology, 'clocks-off', new Prng(2)).series) {
      const at = one.values.indexOf(3);
      const shift = one.timesNs[at] - 2e9;
      expect(Math.abs(shift)).toBeLessThanOrEqual(0.5e9);
      const known = shifts.get(ownerOf(one.element));
      if (known !== undefined) expect(shift).toBe(known);
      shifts.set(ownerOf(one.element), shift);
      for (let index = 1; index < one.timesNs.length; index++) {
        expect(one.timesNs[index]).toBeGreaterThan(one.timesNs[index - 1]);
      }
      expect(one.timesNs.at(-1)).toBeLessThanOrEqual(evidence.toNs);
    }
    expect(new Set(shifts.values()).size).toBeGreaterThan(5);
  });
});
