import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { simulatedFabric, twoJobs } from '../../../test/support/simulated-fabric.js';
import { experimentSpecSchema, type ExperimentSpec } from '../../documents/experiment.js';
import { InputError } from '../../core/problem.js';
import { planDrill, planView, unsupportedError, type Plan } from './plan.js';
import { FakeFabric } from '../testing/fake-fabric.js';

const FAULT = {
  kind: 'link-down',
  params: { variant: 'cut' },
  target: { type: 'link', tier: 'leaf-spine', usedBy: 'llm-a', order: 'random' },
  at: '10s',
  duration: '20s',
};

const specOf = (spec: Record<string, unknown> = {}): ExperimentSpec =>
  experimentSpecSchema.parse({ fabric: 'test', faults: [FAULT], ...spec });

const plan = (spec: Record<string, unknown> = {}, seed = 1): Promise<Plan> =>
  planDrill({ name: 'drill', spec: specOf(spec), fabric: simulatedFabric(twoJobs), seed });

async function issuesOf(promise: Promise<unknown>): Promise<InputError['issues']> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(InputError);
  return (error as InputError).issues;
}

describe('a plan', () => {
  it('is plain JSON that comes back as it was stored', async () => {
    const made = await plan();
    expect(JSON.parse(JSON.stringify(made))).toEqual(made);
  });

  it('is the same for the same seed, and random targets depend on it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), async (seed) => {
        expect(await plan({}, seed)).toEqual(await plan({}, seed));
      }),
      { numRuns: 5 },
    );
    const targets = await Promise.all(
      [1, 2, 3, 4, 5, 6].map(async (seed) => (await plan({}, seed)).faults[0].targets),
    );
    expect(new Set(targets.map((one) => one[0].id)).size).toBeGreaterThan(1);
  });

  it('has one impairment and one undo for errors that grow', async () => {
    const params = { variant: 'ramped' };
    const target = { type: 'link', tier: 'host-leaf', mode: 'one' };
    const made = await plan({ faults: [{ ...FAULT, kind: 'optic-error', params, target }] });
    expect(made.faults[0].impairments).toMatchObject([
      { id: 'optic-error/0', atNs: 10e9, untilNs: 30e9, impairment: { type: 'bit-errors' } },
    ]);
    expect(made.undo).toHaveLength(1);
  });

  it('ends as long after the last fault as it began before the first, unless it is told', async () => {
    expect((await plan()).durationNs).toBe(40e9);
    expect((await plan({ duration: '35s' })).durationNs).toBe(35e9);
    const [issue] = await issuesOf(plan({ duration: '30s' }));
    expect(issue).toMatchObject({ pointer: '/spec/duration', message: expect.stringContaining('30 s') });
  });

  it('times impairments within their fault and says how each is undone, in order', async () => {
    const made = await plan({
      faults: [
        { ...FAULT, name: 'late', at: '20s', duration: '5s', params: { variant: 'flap' } },
        { ...FAULT, name: 'early' },
      ],
    });
    for (const fault of made.faults) {
      expect(fault.impairments.length).toBeGreaterThan(0);
      for (const one of fault.impairments) {
        expect(one.atNs).toBeGreaterThanOrEqual(fault.atNs);
        expect(one.untilNs).toBeLessThanOrEqual(fault.atNs + fault.durationNs);
        expect(one.untilNs).toBeGreaterThan(one.atNs);
        expect(one.id.startsWith(`${fault.name}/`)).toBe(true);
      }
    }
    const ids = made.faults.flatMap((fault) => fault.impairments.map(({ id }) => id));
    expect(new Set(ids).size).toBe(ids.length);
    expect(made.undo).toHaveLength(ids.length);
    expect(made.undo.at(-1)).toContain('at 30 s');
  });

  it('tells whom it exposes and whom it does not', async () => {
    const { blastRadius } = await plan();
    expect(blastRadius.links).toHaveLength(1);
    expect(blastRadius.exposedJobs).toContain('llm-a');
    expect([...blastRadius.exposedJobs!, ...blastRadius.bystanderJobs!].sort()).toEqual(['llm-a', 'llm-b']);
  });

  it.each([
    [{ maxLinks: 0 }, '/spec/limits/maxLinks'],
    [{ maxJobsAffected: 0 }, '/spec/limits/maxJobsAffected'],
  ])('beyond the limits %j is refused', async (limits, pointer) => {
    expect((await issuesOf(plan({ limits }))).map((issue) => issue.pointer)).toEqual([pointer]);
  });

  it('within its limits is not refused', async () => {
    await expect(plan({ limits: { maxLinks: 1, maxDevices: 0, maxJobsAffected: 2 } })).resolves.toBeDefined();
  });

  it('with a limit that can not be known here is refused', async () => {
    const spec = specOf({
      faults: [{ ...FAULT, target: { type: 'link', tier: 'leaf-spine' } }],
      limits: { maxJobsAffected: 1 },
    });
    const [issue] = await issuesOf(planDrill({ name: 'drill', spec, fabric: new FakeFabric(), seed: 1 }));
    expect(issue.message).toContain("can't be known");
  });

  it('refuses what the fabric could not do with these settings, at the fault, with the choices', async () => {
    const burst = (priority: number) => ({
      kind: 'incast',
      params: { variant: 'burst', senders: 2, priority },
      target: { type: 'nic', usedBy: 'llm-a' },
      at: '10s',
      duration: '5s',
    });
    await expect(plan({ faults: [burst(3)] })).resolves.toBeDefined();
    const [issue] = await issuesOf(plan({ faults: [{ ...FAULT, name: 'first' }, burst(5)] }));
    expect(issue.pointer).toBe('/spec/faults/1/params/priority');
    expect(issue.message).toContain('no queue serves priority 5');
  });

  it('refuses two faults of one name', async () => {
    const [issue] = await issuesOf(
      plan({
        faults: [
          { ...FAULT, name: 'x' },
          { ...FAULT, name: 'x' },
        ],
      }),
    );
    expect(issue.pointer).toBe('/spec/faults/1/name');
  });

  it('lists what the fabric can not apply, and what it could', async () => {
    const spec = specOf({
      faults: [{ ...FAULT, params: { variant: 'one-way' }, target: { type: 'link', tier: 'leaf-spine' } }],
    });
    const made = await planDrill({ name: 'drill', spec, fabric: new FakeFabric(), seed: 1 });
    expect(made.unsupported).toEqual([
      { fault: 'link-down', impairment: 'blackhole', supported: ['link-cut'] },
    ]);
    expect(unsupportedError(made).issues[0]).toMatchObject({ hint: 'it can apply link-cut' });
  });

  it('shown to others has no truth in it', async () => {
    const made = await plan();
    expect(made.faults[0].truth).toHaveLength(1);
    expect(JSON.stringify(planView(made))).not.toContain('truth');
  });
});
