/**
 * Faults that begin with something that a job begins: in files, in plans, and in the walk of a drill.
 */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { oneWire, samplesOf, simulatedFabric } from '../../../test/support/simulated-fabric.js';
import { experimentSpecSchema } from '../../documents/experiment.js';
import { InputError } from '../../core/problem.js';
import type { Evidence } from '../../model/telemetry/series.js';
import { planDrill, type Plan } from './plan.js';
import { FakeFabric } from '../testing/fake-fabric.js';
import { runDrill, type DrillRecord } from '../walk.js';
import type { Judgement } from '../judge.js';

/** Steps of 100 ms of compute and some 20 ms of sending, and a checkpoint of 300 ms every 20 steps. */
const FABRIC = {
  ...oneWire,
  jobs: [
    {
      ...oneWire.jobs[0],
      step: { ...oneWire.jobs[0].step, compute: '100ms' },
      checkpoint: { every: 20, duration: '300ms' },
    },
  ],
};
const PLAIN = { ...oneWire, jobs: [{ ...oneWire.jobs[0], name: 'plain' }] };

const FAULT = {
  kind: 'slow-receiver',
  params: { variant: 'share', share: 0.5 },
  target: { type: 'nic', names: ['host-2/nic-0'] },
  duration: '2s',
};

const specOf = (fault: object, rest: object = {}) =>
  experimentSpecSchema.parse({ fabric: 'test', faults: [{ ...FAULT, ...fault }], ...rest });

const planOf = (fault: object, rest: object = {}, fabric = simulatedFabric(FABRIC)): Promise<Plan> =>
  planDrill({ name: 'drill', spec: specOf(fault, rest), fabric, seed: 1 });

interface Walked {
  judgement: Judgement;
  record?: DrillRecord;
  evidence?: Evidence;
}

async function walk(
  fault: object,
  rest: object = {},
  signal = new AbortController().signal,
): Promise<Walked> {
  const fabric = simulatedFabric(FABRIC);
  const plan = await planOf(fault, rest, fabric);
  const done = () => Promise.resolve();
  const walked: Partial<Walked> = {};
  walked.judgement = await runDrill({
    plan,
    fabric,
    objectives: [],
    signal,
    journal: { intend: done, applied: done, verified: done, failed: done },
    hooks: {
      state: done,
      progress: () => undefined,
      evidence: async (evidence) => void (walked.evidence = evidence),
      verdict: done,
      truth: async (_, record) => void (walked.record = record),
    },
  });
  return walked as Walked;
}

const refusal = async (promise: Promise<unknown>) => {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof InputError)) throw new Error(`was not refused: ${String(error)}`);
  return error.issues[0];
};

describe('a trigger in a file', () => {
  const accepts = (fault: object): boolean =>
    experimentSpecSchema.safeParse({ fabric: 'test', faults: [{ ...FAULT, ...fault }] }).success;

  it('says when in one way: a number, after, or the at of its fault', () => {
    const trigger = { at: 'step', job: 'sender' };
    expect(accepts({ trigger: { ...trigger, number: 3 } })).toBe(true);
    expect(accepts({ trigger: { ...trigger, after: '5s' } })).toBe(true);
    expect(accepts({ trigger, at: '5s' })).toBe(true);
    expect(accepts({ trigger })).toBe(false);
    expect(accepts({ trigger: { ...trigger, number: 3, after: '5s' } })).toBe(false);
    expect(accepts({ trigger: { ...trigger, number: 3 }, at: '5s' })).toBe(false);
  });

  it('is not needed, but then at is, and what is unknown is refused', () => {
    expect(accepts({ at: '5s' })).toBe(true);
    expect(accepts({})).toBe(false);
    expect(accepts({ trigger: { at: 'epoch', job: 'sender', number: 1 } })).toBe(false);
    expect(accepts({ trigger: { at: 'step', number: 1 } })).toBe(false);
    expect(accepts({ trigger: { at: 'step', job: 'sender', number: 0 } })).toBe(false);
  });
});

describe('a plan with a trigger', () => {
  it('says from when to when it is waited for, and undoes so long after it', async () => {
    const plan = await planOf({ at: '3s', trigger: { at: 'step', job: 'sender', within: '4s' } });
    expect(plan.faults[0].trigger).toEqual({
      boundary: { job: 'sender', kind: 'step' },
      fromNs: 3e9,
      untilNs: 7e9,
    });
    expect(plan.durationNs).toBe(12e9);
    expect(plan.undo[0]).toMatch(/^2 s after the trigger: restore/);
    expect(JSON.parse(JSON.stringify(plan))).toEqual(plan);
  });

  it('expects a numbered boundary no later than it can come', async () => {
    for (const [at, number] of [
      ['step', 30],
      ['collective', 30],
      ['checkpoint', 2],
    ] as const) {
      const { faults } = await planOf({ trigger: { at, job: 'sender', number } }, { duration: '60s' });
      const simulator = simulatedFabric(FABRIC);
      await simulator.startJobs();
      const found = await simulator.untilBoundary([{ job: 'sender', kind: at, number }], 60e9);
      expect(faults[0].atNs).toBeGreaterThan(0);
      expect(faults[0].atNs).toBeLessThanOrEqual(found!.beganNs);
      expect(faults[0].trigger!.fromNs).toBe(0);
    }
  });

  it('of a job that is not there is refused with the names, of a checkpoint that nobody writes with the jobs', async () => {
    const nobody = await refusal(planOf({ at: '3s', trigger: { at: 'step', job: 'sendr' } }));
    expect(nobody.pointer).toBe('/spec/faults/0/trigger/job');
    expect(nobody.message).toContain('the jobs are sender');
    expect(nobody.hint).toContain('sender');
    const checkpoint = await refusal(
      planOf({ at: '3s', trigger: { at: 'checkpoint', job: 'plain' } }, {}, simulatedFabric(PLAIN)),
    );
    expect(checkpoint.message).toContain('writes no checkpoints');
  });

  it('is refused on a fabric that does not tell', async () => {
    const fault = {
      kind: 'link-down',
      params: { variant: 'cut' },
      target: { type: 'link', tier: 'leaf-spine' },
      at: '3s',
      trigger: { at: 'step', job: 'a' },
    };
    const fabric = new FakeFabric();
    const described = fabric.describe();
    fabric.describe = () => ({
      ...described,
      jobs: simulatedFabric(PLAIN)
        .describe()
        .jobs.map((job) => ({ ...job, name: 'a' })),
    });
    const spec = experimentSpecSchema.parse({ fabric: 'test', faults: [{ ...fault, duration: '2s' }] });
    expect((await refusal(planDrill({ name: 'drill', spec, fabric, seed: 1 }))).message).toContain(
      "can't tell",
    );
  });

  it('whose hold would outlast the run is refused', async () => {
    const issue = await refusal(
      planOf({ at: '3s', trigger: { at: 'step', job: 'sender', within: '4s' } }, { duration: '9s' }),
    );
    expect(issue.pointer).toBe('/spec/duration');
    expect(issue.hint).toContain('trigger.within');
  });
});

describe('a drill with a trigger', () => {
  it('injects at the begin of the next step, and truth and undo count from there', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1000, max: 4000 }), async (afterMs) => {
        const { record, evidence } = await walk({
          trigger: { at: 'step', job: 'sender', after: `${afterMs}ms` },
        });
        const [{ beganNs, injectedNs, ...rest }] = record!.alignments;
        expect(rest).toEqual({ fault: 'slow-receiver', job: 'sender', kind: 'step' });
        expect(injectedNs).toBe(beganNs);
        expect(beganNs).toBeGreaterThanOrEqual(afterMs * 1e6);
        // A step begins as the one before it ends, or after a checkpoint.
        const ends = samplesOf(evidence!, 'job_steps', 'job:sender').map(([seconds]) => seconds * 1e9);
        const begins = ends.flatMap((endNs) => [endNs, endNs + 300e6]);
        expect(Math.min(...begins.map((ns) => Math.abs(ns - beganNs)))).toBeLessThan(1);
        expect(record!.injectedNs).toBe(injectedNs);
        expect(record!.revertedNs).toBe(injectedNs + 2e9);
        expect(record!.truth[0]).toMatchObject({ fromNs: injectedNs, toNs: injectedNs + 2e9 });
      }),
      { numRuns: 8 },
    );
  });

  it('injects at the boundary of a number, also of a checkpoint', async () => {
    const step = await walk({ trigger: { at: 'step', job: 'sender', number: 11 } }, { duration: '40s' });
    const ends = samplesOf(step.evidence!, 'job_steps', 'job:sender');
    expect(ends.find(([, steps]) => steps === 10)![0] * 1e9).toBeCloseTo(step.record!.injectedNs!, 0);
    const checkpoint = await walk(
      { trigger: { at: 'checkpoint', job: 'sender', number: 1 } },
      { duration: '40s' },
    );
    const twentieth = samplesOf(checkpoint.evidence!, 'job_steps', 'job:sender').find(
      ([, steps]) => steps === 20,
    )!;
    expect(checkpoint.record!.injectedNs).toBeCloseTo(twentieth[0] * 1e9, 0);
  });

  it('is the same drill again with the same seed', async () => {
    const fault = { trigger: { at: 'collective', job: 'sender', number: 7 } };
    const [one, two] = [await walk(fault), await walk(fault)];
    expect(one.judgement.alignments).toEqual([
      {
        fault: 'slow-receiver',
        job: 'sender',
        boundary: 'collective',
        number: 7,
        began_s: one.record!.injectedNs! / 1e9,
        error_ns: 0,
      },
    ]);
    expect(two.record).toEqual(one.record);
    expect(two.judgement).toEqual(one.judgement);
  });

  it('is inconclusive and injects nothing when the trigger does not come', async () => {
    const { judgement, record } = await walk({
      at: '3s',
      trigger: { at: 'checkpoint', job: 'sender', within: '100ms' },
    });
    expect(judgement.state).toBe('inconclusive');
    expect(judgement.reasons[0]).toBe(
      'the trigger of the fault "slow-receiver" did not come: sender began no checkpoint between 3 s and 3.1 s',
    );
    expect(record).toBeUndefined();
  });

  it('waits for several triggers at once, beside faults that have their time', async () => {
    const faults = [
      { ...FAULT, name: 'timed', at: '2s' },
      { ...FAULT, name: 'sixtieth', trigger: { at: 'step', job: 'sender', number: 60 } },
      { ...FAULT, name: 'fortieth', trigger: { at: 'collective', job: 'sender', number: 40 } },
    ];
    const { record } = await walk({}, { faults, duration: '50s' });
    expect(record!.alignments.map(({ fault, injectedNs, beganNs }) => [fault, injectedNs - beganNs])).toEqual(
      [
        ['fortieth', 0],
        ['sixtieth', 0],
      ],
    );
    expect(record!.injectedNs).toBe(2e9);
    expect(record!.truth.map(({ fromNs }) => fromNs)).toEqual([
      2e9,
      record!.alignments[1].injectedNs,
      record!.alignments[0].injectedNs,
    ]);
    expect(record!.revertedNs).toBe(record!.alignments[1].injectedNs + 2e9);
  });

  it('ends soon when it is aborted while it waits', async () => {
    const abort = new AbortController();
    setTimeout(() => abort.abort('enough'), 5);
    const { judgement } = await walk(
      { trigger: { at: 'step', job: 'sender', number: 20_000, within: '1h' } },
      { duration: '2h' },
      abort.signal,
    );
    expect(judgement.state).toBe('aborted');
  });
});
