/** What faults cost against the same seed without them: which twins are run, and what their shares are. */
import { describe, expect, it } from '@jest/globals';
import type { Fabric } from '../fabric-api/fabric.js';
import { impairedElement, type Impairment } from '../fabric-api/impairment.js';
import type { Evidence } from '../model/telemetry/series.js';
import { scoringProfileSchema } from '../scoring/profile.js';
import { END_S, evidenceOf, jobs, STORY, topology, truth } from '../scoring/testing/synthetic-drill.js';
import { runCounterfactual, type CounterfactualInput } from './counterfactual.js';
import type { Plan, PlannedFault } from './plan/plan.js';
import { FakeFabric, LINKS, planOfCuts } from './testing/fake-fabric.js';

const S = 1e9;

/** Jobs stand still for so many seconds for each link that is cut while they run. */
class Twin extends FakeFabric {
  readonly calls: string[] = [];
  private readonly cut = new Set<string>();
  started = false;
  closed = false;

  constructor(private readonly costS: (cut: ReadonlySet<string>) => number) {
    super();
  }

  async startJobs(): Promise<void> {
    this.started = true;
  }

  override async apply(id: string, impairment: Impairment): Promise<void> {
    this.calls.push(`${this.nowNs / S}: apply ${id}`);
    this.cut.add(impairedElement(impairment));
    return super.apply(id, impairment);
  }

  override async revert(id: string, impairment: Impairment, saved = {}): Promise<void> {
    this.calls.push(`${this.nowNs / S}: revert ${id}`);
    return super.revert(id, impairment, saved);
  }

  override async observe(): Promise<Evidence> {
    return evidenceOf({ ...STORY, exposedStallS: this.costS(this.cut) });
  }

  override async close(): Promise<void> {
    this.closed = true;
  }
}

/** One fault a cut. */
function planOf(...cuts: { link: string; fromS: number; toS: number }[]): Plan {
  const faults = cuts.map((cut, at): PlannedFault => {
    const [fault] = planOfCuts([cut]).faults;
    const impairments = fault.impairments.map((one) => ({ ...one, id: `fault-${at}/0` }));
    return { ...fault, name: `fault-${at}`, impairments, truth: [truth] };
  });
  return { ...planOfCuts(cuts), faults };
}
const ONE = planOf({ link: LINKS[0], fromS: 20, toS: 40 });
const TWO = planOf({ link: LINKS[0], fromS: 20, toS: 40 }, { link: LINKS[1], fromS: 25, toS: 40 });

/** The first link costs 2 s, the second 6 s, both together 6 s. */
const COSTS = (cut: ReadonlySet<string>): number => (cut.has(LINKS[1]) ? 6 : cut.has(LINKS[0]) ? 2 : 0);

async function run(plan: Plan, lostS: number, more: Partial<CounterfactualInput> = {}) {
  const twins: Twin[] = [];
  const result = await runCounterfactual({
    plan,
    record: {
      ...{ injectedNs: 20 * S, revertedNs: 40 * S, endNs: END_S * S },
      ...{ truth: plan.faults.flatMap((fault) => fault.truth), exposedJobs: null, alignments: [] },
    },
    evidence: evidenceOf({ ...STORY, exposedStallS: lostS }),
    description: { topology, jobs },
    open: async (): Promise<Fabric> => {
      const twin = new Twin(COSTS);
      twins.push(twin);
      return twin;
    },
    signal: new AbortController().signal,
    ...more,
  });
  return { ...result, twins };
}

describe('what one fault cost', () => {
  it('is all that the same seed does not lose without it', async () => {
    const { twin, lostNs, shares, missing, twins } = await run(ONE, 2);
    expect(lostNs! / S).toBeCloseTo(jobs[0].placement.length * 2, 6);
    expect([shares, missing]).toEqual([[1], null]);
    expect(twin).toEqual(evidenceOf({ ...STORY, exposedStallS: 0 }));
    expect(twins).toHaveLength(1);
    expect(twins[0]).toMatchObject({ started: true, closed: true, calls: [], nowNs: END_S * S });
  });

  it('of several truths is shared evenly by them, and of nothing that was lost there is no share', async () => {
    const [fault] = ONE.faults;
    const two = { ...ONE, faults: [{ ...fault, truth: [truth, truth] }] };
    expect((await run(two, 2)).shares).toEqual([0.5, 0.5]);
    expect(await run(ONE, 0)).toMatchObject({ lostNs: 0, shares: null, missing: null });
  });
});

describe('what each of several faults cost', () => {
  it('is its mean over the orders in which they could have come, each history run once and as planned', async () => {
    const { shares, twins } = await run(TWO, 6);
    // first alone 2 of 6, second alone 6 of 6: (2 + 0) / 2 and (6 + 4) / 2
    expect(shares!.map((share) => Number(share.toFixed(6)))).toEqual(
      [1 / 6, 5 / 6].map((share) => Number(share.toFixed(6))),
    );
    expect(twins.map(({ calls }) => calls)).toEqual([
      [],
      ['20: apply fault-0/0', '40: revert fault-0/0'],
      ['25: apply fault-1/0', '40: revert fault-1/0'],
    ]);
    expect(twins.every(({ closed }) => closed)).toBe(true);
  });

  it('is not worked out for more than three, nor for triggers, which says so', async () => {
    const links = [0, 1, 2, 3].map((at) => ({ link: LINKS[at], fromS: 20, toS: 40 }));
    expect((await run(planOf(...links.slice(0, 3)), 6)).shares).toHaveLength(3);
    expect(await run(planOf(...links), 6)).toMatchObject({
      shares: null,
      missing: 'what each of 4 faults cost was not worked out',
    });
    const boundary = { job: 'exposed', kind: 'step' as const };
    const trigger = { boundary, fromNs: 0, untilNs: 9e9 };
    const [first, second] = TWO.faults;
    expect((await run({ ...TWO, faults: [first, { ...second, trigger }] }, 6)).missing).toMatch(/2 faults/);
    expect((await run({ ...ONE, faults: [{ ...ONE.faults[0], trigger }] }, 2)).shares).toEqual([1]);
  });
});

describe('no twin is run', () => {
  it('without any truth, where the profile says so, and on more than 4096 GPUs', async () => {
    const nothing = { twin: null, lostNs: null, shares: null };
    const [fault] = ONE.faults;
    const control = await run({ ...ONE, faults: [{ ...fault, truth: [] }] }, 0);
    expect(control).toMatchObject({ ...nothing, missing: null, twins: [] });
    const scoring = scoringProfileSchema.parse({ counterfactual: 'off' });
    expect(await run({ ...ONE, scoring }, 2)).toMatchObject({ ...nothing, missing: null, twins: [] });
    const gpus = (count: number) => ({
      description: {
        topology: { ...topology, gpus: Array.from({ length: count }, () => topology.gpus[0]) },
        jobs,
      },
    });
    expect(await run(ONE, 2, gpus(4097))).toMatchObject({
      ...{ ...nothing, twins: [] },
      missing: 'the same seed was not run without the fault: more than 4096 GPUs',
    });
    expect((await run(ONE, 2, gpus(4096))).shares).toEqual([1]);
  });
});

it('an abort ends it, and every twin is closed', async () => {
  const abort = new AbortController();
  const twins: Twin[] = [];
  const open = async (): Promise<Fabric> => {
    const twin = new Twin(COSTS);
    twins.push(twin);
    abort.abort(new Error('enough'));
    return twin;
  };
  await expect(run(ONE, 2, { open, signal: abort.signal })).rejects.toThrow('enough');
  expect(twins.map(({ closed }) => closed)).toEqual([true]);
});
