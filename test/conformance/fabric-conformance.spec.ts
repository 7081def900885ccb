/**
 * What every fabric must do, looped over the catalogue: the drill relies on each of these when something goes wrong.
 */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { FABRIC_DRIVERS, openFabric } from '../../src/fabrics/catalog.js';
import { DRIVER_NAMES, fabricSpecSchema } from '../../src/fabrics/contract/definition.js';
import { advancesTime, runsWorkload, type Fabric } from '../../src/fabrics/contract/fabric.js';
import {
  impairedElement,
  impairmentSchema,
  type Impairment,
  type ImpairmentType,
} from '../../src/fabrics/contract/impairment.js';
import { InputError } from '../../src/kernel/problem.js';
import { METRICS } from '../../src/telemetry/catalog.js';

/** A fabric small enough for any driver. */
const SPEC = {
  topology: { builder: 'leaf-spine', leaves: 2, spines: 2, hostsPerLeaf: 1, gpusPerHost: 1 },
  jobs: [
    {
      name: 'job',
      gpus: 2,
      step: { compute: '10ms', collectives: [{ collective: 'all-reduce', bytes: '1MB' }] },
    },
  ],
} as const;

const LINK = 'link:leaf-1/p2--spine-1/p1';
const ERRORS = {
  type: 'bit-errors',
  link: LINK,
  bitErrorRatio: 1e-3,
  laneShare: 0.5,
  cause: 'connector',
} as const;
const LOAD = { type: 'traffic', name: 'load', rateGbps: 50, priority: 3, queuePairs: 2 } as const;
const MARKING = { type: 'ecn-marking', kminBytes: 5000, kmaxBytes: 20_000, pmax: 1 } as const;
const MOVE = { type: 'job-move', mode: 'after-loss' } as const;
const SAMPLES: Record<ImpairmentType, { known: Impairment; unknown: Impairment[] }> = {
  'link-admin-down': {
    known: { type: 'link-admin-down', link: LINK, port: 'port:spine-1/p1' },
    unknown: [
      { type: 'link-admin-down', link: 'link:leaf-9/p1--spine-1/p1', port: 'port:spine-1/p1' },
      { type: 'link-admin-down', link: LINK, port: 'port:spine-2/p1' },
    ],
  },
  'link-cut': {
    known: { type: 'link-cut', link: LINK },
    unknown: [{ type: 'link-cut', link: 'link:leaf-1/p2--spine-9/p1' }],
  },
  blackhole: {
    known: { type: 'blackhole', link: LINK, fromPort: 'port:leaf-1/p2' },
    unknown: [{ type: 'blackhole', link: LINK, fromPort: 'port:leaf-2/p2' }],
  },
  'node-down': {
    known: { type: 'node-down', device: 'device:spine-1' },
    unknown: [{ type: 'node-down', device: 'device:spine-7' }],
  },
  'link-rate': {
    known: { type: 'link-rate', link: LINK, rateGbps: 100 },
    unknown: [{ type: 'link-rate', link: 'link:leaf-1/p2--spine-9/p1', rateGbps: 100 }],
  },
  'bit-errors': {
    known: { ...ERRORS, fromPort: 'port:leaf-1/p2' },
    unknown: [
      { ...ERRORS, fromPort: 'port:leaf-2/p2' },
      { ...ERRORS, link: 'link:leaf-1/p2--spine-9/p1', fromPort: 'port:leaf-1/p2' },
    ],
  },
  'compute-slowdown': {
    known: { type: 'compute-slowdown', device: 'device:host-1', gpu: 0, factor: 2 },
    unknown: [
      { type: 'compute-slowdown', device: 'device:host-9', factor: 2 },
      { type: 'compute-slowdown', device: 'device:host-1', gpu: 5, factor: 2 },
      { type: 'compute-slowdown', device: 'device:leaf-1', factor: 2 },
    ],
  },
  'nic-host-rate': {
    known: { type: 'nic-host-rate', nic: 'nic:host-1/nic-0', rateGbps: 100 },
    unknown: [{ type: 'nic-host-rate', nic: 'nic:host-9/nic-0', rateGbps: 100 }],
  },
  traffic: {
    known: { ...LOAD, fromNics: ['nic:host-2/nic-0'], toNic: 'nic:host-1/nic-0' },
    unknown: [
      { ...LOAD, fromNics: ['nic:host-9/nic-0'], toNic: 'nic:host-1/nic-0' },
      { ...LOAD, fromNics: ['nic:host-2/nic-0'], toNic: 'nic:host-1/nic-7' },
    ],
  },
  'pause-storm': {
    known: { type: 'pause-storm', nic: 'nic:host-1/nic-0', priority: 3 },
    unknown: [{ type: 'pause-storm', nic: 'nic:host-1/nic-1', priority: 3 }],
  },
  'hash-seed': {
    known: { type: 'hash-seed', device: 'device:leaf-1', seed: 0 },
    unknown: [
      { type: 'hash-seed', device: 'device:leaf-9', seed: 0 },
      { type: 'hash-seed', device: 'device:host-1', seed: 0 },
    ],
  },
  'ecn-marking': {
    known: { ...MARKING, device: 'device:leaf-1' },
    unknown: [
      { ...MARKING, device: 'device:leaf-9' },
      { ...MARKING, device: 'device:host-1' },
    ],
  },
  'pfc-buffer': {
    known: { type: 'pfc-buffer', device: 'device:spine-1', pfc: false },
    unknown: [
      { type: 'pfc-buffer', device: 'device:spine-9', pfc: false },
      { type: 'pfc-buffer', device: 'device:host-2', pfc: false },
    ],
  },
  'host-drain': {
    known: { type: 'host-drain', device: 'device:host-1' },
    unknown: [
      { type: 'host-drain', device: 'device:host-9' },
      { type: 'host-drain', device: 'device:leaf-1' },
    ],
  },
  'job-move': {
    known: { ...MOVE, job: 'job:job', fromHost: 'device:host-1' },
    unknown: [
      { ...MOVE, job: 'job:other', fromHost: 'device:host-1' },
      { ...MOVE, job: 'job:job', fromHost: 'device:host-9' },
      { ...MOVE, job: 'job:job', fromHost: 'device:host-1', toHost: 'device:host-1' },
      { ...MOVE, job: 'job:job', fromHost: 'device:host-1', toHost: 'device:leaf-1' },
    ],
  },
};

it('the sample impairments cover the contract, and the catalogue its driver names', () => {
  const types = impairmentSchema.options.map((option) => option.shape.type.value);
  expect(Object.keys(SAMPLES).sort()).toEqual([...types].sort());
  expect(FABRIC_DRIVERS.map(({ name }) => name).sort()).toEqual([...DRIVER_NAMES].sort());
});

describe.each(FABRIC_DRIVERS.map(({ name }) => name))('fabric driver %s', (driver) => {
  let fabric: Fabric;

  const open = (): Promise<Fabric> =>
    openFabric({ metadata: { name: 'conformance' }, spec: fabricSpecSchema.parse({ ...SPEC, driver }) }, 1);

  beforeEach(async () => {
    fabric = await open();
  });

  afterEach(async () => {
    await fabric.close();
  });

  it('describes itself', () => {
    const description = fabric.describe();
    expect(description.driver).toBe(driver);
    expect(description.name).toBe('conformance');
    expect(description.topology.links).toHaveLength(6);
    expect(description.jobs.map(({ name }) => name)).toEqual(['job']);
    expect(description.capabilities.size).toBeGreaterThan(0);
  });

  it('can be closed twice', async () => {
    await fabric.close();
    await expect(fabric.close()).resolves.toBeUndefined();
  });

  it('observes catalogue metrics only, with rising times inside the window', async () => {
    if (runsWorkload(fabric)) await fabric.startJobs();
    if (advancesTime(fabric)) await fabric.advance(3e9);
    const evidence = await fabric.observe({ fromNs: 1e9, toNs: 2e9 });
    const names = new Set<string>(METRICS.map(({ name }) => name));
    expect(evidence.series.length).toBeGreaterThan(0);
    for (const { metric, timesNs, values, quality } of evidence.series) {
      expect(names.has(metric)).toBe(true);
      expect(values).toHaveLength(timesNs.length);
      expect(quality).toHaveLength(timesNs.length);
      const wrong = timesNs.filter(
        (timeNs, index) => timeNs < 1e9 || timeNs > 2e9 || (index > 0 && timeNs <= timesNs[index - 1]),
      );
      expect(wrong).toHaveLength(0);
    }
  });

  it.each(Object.entries(SAMPLES))(
    '%s is applied, read back and reverted, each as often as one likes',
    async (type, sample) => {
      if (!fabric.describe().capabilities.has(type as ImpairmentType)) {
        await expect(fabric.apply('no', sample.known)).rejects.toThrow(InputError);
        return;
      }
      const before = await fabric.readBack(sample.known);
      expect(Object.keys(before)).not.toHaveLength(0);
      await fabric.apply('one', sample.known);
      const during = await fabric.readBack(sample.known);
      expect(during).not.toEqual(before);
      await fabric.apply('one', sample.known);
      expect(await fabric.readBack(sample.known)).toEqual(during);
      await fabric.revert('one', sample.known, before);
      expect(await fabric.readBack(sample.known)).toEqual(before);
      await fabric.revert('one', sample.known, before);
      expect(await fabric.readBack(sample.known)).toEqual(before);
    },
  );

  it.each(Object.entries(SAMPLES))(
    '%s by an id it never saw is reverted to the saved state',
    async (type, sample) => {
      if (!fabric.describe().capabilities.has(type as ImpairmentType)) {
        await expect(fabric.revert('no', sample.known, {})).rejects.toThrow(InputError);
        return;
      }
      const saved = await fabric.readBack(sample.known);
      await fabric.revert('of another process', sample.known, saved);
      expect(await fabric.readBack(sample.known)).toEqual(saved);
      await fabric.apply('crashed', sample.known);
      const impaired = await fabric.readBack(sample.known);
      // What was saved may itself be the impaired state, if an operator had set it before the drill.
      await fabric.revert('crashed', sample.known, saved);
      await fabric.revert('of another process again', sample.known, impaired);
      expect(await fabric.readBack(sample.known)).toEqual(impaired);
      await fabric.revert('of a third process', sample.known, saved);
      expect(await fabric.readBack(sample.known)).toEqual(saved);
    },
  );

  it.each(Object.entries(SAMPLES))(
    '%s on an element that is not there is refused and changes nothing',
    async (type, sample) => {
      if (!fabric.describe().capabilities.has(type as ImpairmentType)) {
        for (const unknown of sample.unknown) {
          await expect(fabric.apply('wrong', unknown)).rejects.toThrow(InputError);
        }
        return;
      }
      const everything = (): Promise<unknown> =>
        Promise.all(
          Object.values(SAMPLES)
            .filter(({ known }) => fabric.describe().capabilities.has(known.type))
            .map(({ known }) => fabric.readBack(known)),
        );
      const before = await everything();
      for (const unknown of sample.unknown) {
        await expect(fabric.apply('wrong', unknown)).rejects.toThrow(InputError);
        await expect(fabric.readBack(unknown)).rejects.toThrow(InputError);
        await expect(fabric.apply('wrong', unknown)).rejects.toThrow(/is no end of|has no|to be left/);
      }
      expect(await everything()).toEqual(before);
    },
  );

  it('names an element when it acts on one', () => {
    for (const { known } of Object.values(SAMPLES))
      expect(impairedElement(known)).toMatch(/^(link|device|nic):/);
  });
});
