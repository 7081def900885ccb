/**
 * What every fabric must do, looped over the catalogue: the drill relies on each of these when something goes wrong.
 *
 * A driver that builds labs gets one of its own for the suite. Broken adapters come last: the checks must catch them.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { FABRIC_DRIVERS, openFabric } from '../../src/drivers/catalog.js';
import { DRIVER_NAMES, fabricSpecSchema, type FabricDefinition } from '../../src/fabric-api/definition.js';
import type { Fabric } from '../../src/fabric-api/fabric.js';
import {
  impairedElement,
  impairmentSchema,
  levelsOf,
  type ImpairmentType,
} from '../../src/fabric-api/impairment.js';
import { InputError } from '../../src/core/problem.js';
import { labDefinition, labDown, labUp, whyNoLab } from '../support/linux-lab.js';
import {
  checkForeignRevert,
  checkObservation,
  checkProfile,
  checkProfileCutShort,
  checkRoundTrip,
  everything,
  inTime,
  timeOf,
  type PassTime,
} from './checks.js';
import { brokenDevices } from './broken-devices.js';
import { PROFILE, SAMPLES, SMALLEST } from './samples.js';

interface Subject {
  driver: string;
  definition: FabricDefinition;
  /** Builds what is to be drilled, and removes it. */
  up(): Promise<unknown>;
  down(): Promise<unknown>;
  why?: string;
}

// what can only be watched has nothing of this to keep
const subjects = FABRIC_DRIVERS.filter(({ watchOnly }) => watchOnly !== true).map(
  ({ name: driver, labs }): Subject => {
    if (labs === undefined) {
      const spec = fabricSpecSchema.parse({ ...SMALLEST, driver });
      const nothing = (): Promise<void> => Promise.resolve();
      return { driver, definition: { name: 'conformance', spec }, up: nothing, down: nothing };
    }
    const definition = labDefinition(SMALLEST);
    const why = whyNoLab(`conformance of the driver ${driver}`);
    const lab = { driver, definition, up: () => labUp(definition), down: () => labDown(definition) };
    return why === undefined ? lab : { ...lab, why };
  },
);

const open = ({ name, spec }: FabricDefinition): Promise<Fabric> =>
  openFabric({ metadata: { name }, spec }, 1);

it('the sample impairments cover the contract, and the catalogue its driver names', () => {
  const types = impairmentSchema.options.map((option) => option.shape.type.value);
  expect(Object.keys(SAMPLES).sort()).toEqual([...types].sort());
  expect(FABRIC_DRIVERS.map(({ name }) => name).sort()).toEqual([...DRIVER_NAMES].sort());
});

describe.each(subjects)('fabric driver $driver', ({ driver, definition, up, down, why }) => {
  const here = why === undefined ? it : it.skip;
  let fabric: Fabric;
  const can = (type: string): boolean => fabric.describe().capabilities.has(type as ImpairmentType);

  beforeAll(async () => {
    if (why === undefined) await up();
  });

  afterAll(async () => {
    if (why === undefined) await down();
  });

  beforeEach(async () => {
    if (why === undefined) fabric = await open(definition);
  });

  afterEach(async () => {
    if (why === undefined) await fabric.close();
  });

  here('describes itself', () => {
    const description = fabric.describe();
    expect(description.driver).toBe(driver);
    expect(description.name).toBe(definition.name);
    expect(description.topology.links).toHaveLength(6);
    expect(description.jobs.map(({ name }) => name)).toEqual(['job']);
    expect(description.capabilities.size).toBeGreaterThan(0);
  });

  here('can be closed twice', async () => {
    await fabric.close();
    await expect(fabric.close()).resolves.toBeUndefined();
  });

  here('observes catalogue metrics only, with rising times inside the window', () =>
    checkObservation(fabric),
  );

  here.each(Object.entries(SAMPLES))(
    '%s is applied, read back and reverted, each as often as one likes',
    async (type, { known }) => {
      if (can(type)) await checkRoundTrip(inTime(fabric), known);
      else await expect(fabric.apply('no', known)).rejects.toThrow(InputError);
    },
  );

  here.each(Object.entries(SAMPLES))(
    '%s by an id it never saw is reverted to the saved state',
    async (type, { known }) => {
      if (can(type)) await checkForeignRevert(inTime(fabric), known);
      else await expect(fabric.revert('no', known, {})).rejects.toThrow(InputError);
    },
  );

  here.each(Object.entries(SAMPLES))(
    '%s on an element that is not there is refused and changes nothing',
    async (type, { unknown }) => {
      const samples = Object.values(SAMPLES).map(({ known }) => known);
      const before = await everything(fabric, samples);
      for (const wrong of unknown) {
        await expect(fabric.apply('wrong', wrong)).rejects.toThrow(InputError);
        if (!can(type)) continue;
        await expect(fabric.readBack(wrong)).rejects.toThrow(InputError);
        await expect(fabric.apply('wrong', wrong)).rejects.toThrow(/is no end of|has no|to be left/);
      }
      expect(await everything(fabric, samples)).toEqual(before);
    },
  );

  here('a profile is gone through level by level, as one impairment', async () => {
    if (can(PROFILE.type)) await checkProfile(inTime(fabric), PROFILE, timeOf(fabric));
  });

  here('a profile that is cut short leaves nothing that comes later', async () => {
    if (can(PROFILE.type)) await checkProfileCutShort(inTime(fabric), PROFILE, timeOf(fabric));
  });

  // the devices of a lab can be told in another way than the fabric believes; a simulated one has none
  if (driver === 'linux') {
    describe('on devices that are broken', () => brokenDevices(definition, here));
  }

  it('names an element when it acts on one', () => {
    for (const { known } of Object.values(SAMPLES))
      expect(impairedElement(known)).toMatch(/^(link|device|nic):/);
  });
});

describe('the checks catch an adapter', () => {
  const { known } = SAMPLES['link-cut'];
  let real: Fabric;

  beforeEach(async () => {
    real = await open({
      name: 'conformance',
      spec: fabricSpecSchema.parse({ ...SMALLEST, driver: 'simulated' }),
    });
  });

  const broken = (change: Partial<Fabric>): Fabric => ({ ...inTime(real), ...change });
  const nothing = (): Promise<void> => Promise.resolve();
  const never = (): Promise<never> => new Promise(() => undefined);

  it('that says it has applied and does nothing', async () => {
    await expect(checkRoundTrip(broken({ apply: nothing }), known)).rejects.toThrow(/not\.toEqual|toEqual/);
  });

  it('that says it has reverted and does nothing', async () => {
    await expect(checkRoundTrip(broken({ revert: nothing }), known)).rejects.toThrow(/toEqual/);
  });

  it('that leaves what another process had applied', async () => {
    await expect(checkForeignRevert(broken({ revert: nothing }), known)).rejects.toThrow(/toEqual/);
  });

  it('that forgets the later levels of a profile', async () => {
    const apply: Fabric['apply'] = (id, impairment) => real.apply(id, levelsOf(impairment)[0].impairment);
    await expect(checkProfile(broken({ apply }), PROFILE, timeOf(real))).rejects.toThrow(
      'no later level came',
    );
  });

  it('that begins a profile anew when it is told twice', async () => {
    const apply: Fabric['apply'] = async (id, impairment, holdNs) => {
      await real.revert(id, impairment, { [PROFILE.fromPort]: { signal: 'clean' } });
      await real.apply(id, impairment, holdNs);
    };
    await expect(checkProfile(broken({ apply }), PROFILE, timeOf(real))).rejects.toThrow(/not\.toEqual/);
  });

  it('that lets later levels come after a revert', async () => {
    const reverted: string[] = [];
    const revert: Fabric['revert'] = async (id, impairment, saved) => {
      await real.revert(id, impairment, saved);
      reverted.push(id);
    };
    const pass: PassTime = async (ns) => {
      if (reverted.includes('aborted')) await real.apply('a level that was under way', PROFILE);
      await timeOf(real)(ns);
    };
    await expect(checkProfileCutShort(broken({ revert }), PROFILE, pass)).rejects.toThrow(/toEqual/);
  });

  it('that reverts only what it remembers to have applied', async () => {
    const seen = new Set<string>();
    const forgetful = broken({
      apply: async (id, impairment) => {
        seen.add(id);
        await real.apply(id, impairment);
      },
      revert: async (id, impairment, saved) => {
        if (seen.has(id)) await real.revert(id, impairment, saved);
      },
    });
    await expect(checkForeignRevert(forgetful, known)).rejects.toThrow(/toEqual/);
  });

  it.each(['readBack', 'apply', 'revert'] as const)('whose %s never answers', async (call) => {
    const slow = inTime(broken({ [call]: never }), 50);
    await expect(checkRoundTrip(slow, known)).rejects.toThrow(`${call} gave no answer within 50 ms`);
  });
});
