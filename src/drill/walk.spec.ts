import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { InternalError } from '../core/assertion.js';
import { InputError } from '../core/problem.js';
import type { SearchRecord } from '../fabric-api/fabric.js';
import type { RunState } from '../scoring/scorecard.js';
import type { Judgement } from './judge.js';
import type { Plan } from './plan/plan.js';
import { FakeFabric, LINKS, planOfCuts, type Step } from './testing/fake-fabric.js';
import type { UndoEntry } from './undo.js';
import { timeline } from './agenda.js';
import { runDrill } from './walk.js';

type Record = { call: string; id?: string };

interface Walk {
  fabric: FakeFabric;
  states: RunState[];
  /** What the journal was told, in order. */
  journal: Record[];
  stored: string[];
  judgement?: Judgement;
  error?: unknown;
}

/** Walks a plan; `step` sees every call to fabric, journal and hooks. */
async function walk(
  plan: Plan,
  step: Step = () => undefined,
  options: { cutBefore?: readonly string[]; abort?: AbortController; fabric?: FakeFabric } = {},
): Promise<Walk> {
  const fabric = options.fabric ?? new FakeFabric(step, options.cutBefore);
  let wallMs = 0;
  const result: Walk = { fabric, states: [], journal: [], stored: [] };
  const write = async (call: string, id?: string): Promise<void> => {
    step(call, 'before');
    result.journal.push({ call, id });
    step(call, 'after');
  };
  const store = async (call: string): Promise<void> => {
    step(call, 'before');
    result.stored.push(call);
  };
  try {
    result.judgement = await runDrill({
      plan,
      fabric,
      objectives: [],
      signal: (options.abort ?? new AbortController()).signal,
      wallClockMs: () => (wallMs += 250),
      journal: {
        intend: (entry: UndoEntry) => write('intend', entry.id),
        applied: (id) => write('applied', id),
        verified: (id) => write('verified', id),
        failed: (id) => write('failed', id),
      },
      hooks: {
        state: async (state) => {
          step(state, 'before');
          result.states.push(state);
        },
        progress: () => undefined,
        evidence: () => store('evidence'),
        verdict: () => store('verdict'),
        truth: () => store('truth'),
      },
    });
  } catch (error) {
    result.error = error;
  }
  return result;
}

const ONE_CUT = planOfCuts([{ link: LINKS[0], fromS: 2, toS: 4 }]);

const cuts = fc
  .array(
    fc.record({
      link: fc.constantFrom(...LINKS),
      fromS: fc.integer({ min: 1, max: 6 }),
      forS: fc.integer({ min: 1, max: 4 }),
    }),
    { minLength: 1, maxLength: 5 },
  )
  .map((all) => planOfCuts(all.map(({ link, fromS, forS }) => ({ link, fromS, toS: fromS + forS }))));
const before = fc.subarray([...LINKS], { maxLength: 2 });

/** Runs `act` at the k-th step of a walk, whatever that is. */
function atStep(k: number, act: (call: string) => void): Step {
  let count = 0;
  return (call) => {
    if (count++ === k) act(call);
  };
}

async function countSteps(plan: Plan): Promise<number> {
  let count = 0;
  await walk(plan, () => void count++);
  return count;
}

describe('a walk that nothing disturbs', () => {
  it('reads a setting back once before the jobs, once before each apply, and once after each revert', async () => {
    const plan = planOfCuts([0, 2, 4].map((fromS) => ({ link: LINKS[0], fromS: 1 + fromS, toS: 2 + fromS })));
    const calls: string[] = [];
    await walk(plan, (call, when) => {
      if (when === 'before' && ['readBack', 'apply', 'revert', 'baseline'].includes(call)) calls.push(call);
    });
    const once = ['readBack', 'apply', 'revert', 'readBack'];
    expect(calls).toEqual(['readBack', 'baseline', ...once, ...once, ...once]);
  });

  it('passes the states in order and seals the verdict before the truth is stored', async () => {
    const { states, stored, judgement } = await walk(ONE_CUT);
    expect(states).toEqual([
      'preflight',
      'baseline',
      'injecting',
      'holding',
      'reverting',
      'observing',
      'diagnosing',
      'scoring',
    ]);
    expect(stored).toEqual(['evidence', 'verdict', 'truth']);
    // no telemetry at all proves nothing
    expect(judgement?.state).toBe('inconclusive');
  });

  it('writes each intent before it applies, and applies and reverts each impairment once', async () => {
    await fc.assert(
      fc.asyncProperty(cuts, async (plan) => {
        const order: string[] = [];
        const { fabric, journal } = await walk(plan, (call, when) => {
          if ((call === 'intend' && when === 'after') || (call === 'apply' && when === 'before'))
            order.push(call);
        });
        const ids = plan.faults[0].impairments.map(({ id }) => id).sort();
        expect(order).toEqual(ids.flatMap(() => ['intend', 'apply']));
        expect([...fabric.applied].sort()).toEqual(ids);
        expect([...fabric.reverted].sort()).toEqual(ids);
        for (const call of ['intend', 'applied', 'verified']) {
          const told = journal.filter((one) => one.call === call).map(({ id }) => id);
          expect([call, ...told.sort()]).toEqual([call, ...ids]);
        }
      }),
    );
  });

  it('leaves what an operator had cut before as it was', async () => {
    await fc.assert(
      fc.asyncProperty(cuts, before, async (plan, cutBefore) => {
        const { fabric } = await walk(plan, undefined, { cutBefore });
        expect(fabric.state).toEqual(new FakeFabric(undefined, cutBefore).state);
      }),
    );
  });
});

describe('a walk that is disturbed at any step', () => {
  const where = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

  it('by an abort, reverts everything, applies nothing more and ends as aborted', async () => {
    await fc.assert(
      fc.asyncProperty(cuts, before, where, async (plan, cutBefore, place) => {
        const k = Math.floor(place * (await countSteps(plan)));
        const abort = new AbortController();
        let started = 0;
        const { fabric, judgement, error } = await walk(
          plan,
          (() => {
            const trigger = atStep(k, () => abort.abort('a real outage'));
            return (call, when) => {
              if (call === 'apply' && when === 'before' && abort.signal.aborted) started++;
              trigger(call, when);
            };
          })(),
          { cutBefore, abort },
        );
        expect(error).toBeUndefined();
        expect(started).toBe(0);
        expect(fabric.state).toEqual(new FakeFabric(undefined, cutBefore).state);
        // an abort in the very last steps finds a drill that is over
        if (judgement?.state !== 'inconclusive') {
          expect(judgement).toMatchObject({ state: 'aborted', reasons: ['a real outage'], verdict: null });
        }
      }),
    );
  });

  it('by an error of fabric, journal or store, reverts everything and never ends well', async () => {
    await fc.assert(
      fc.asyncProperty(cuts, before, where, async (plan, cutBefore, place) => {
        const k = Math.floor(place * (await countSteps(plan)));
        let broken = '';
        const { fabric, judgement, error } = await walk(
          plan,
          atStep(k, (call) => {
            broken = call;
            throw new Error(`broken at ${call}`);
          }),
          { cutBefore },
        );
        expect(fabric.state).toEqual(new FakeFabric(undefined, cutBefore).state);
        // a revert is tried again, everything else ends the drill
        if (broken === 'revert' || broken === 'readBack') {
          expect(judgement?.state ?? 'thrown').toMatch(/inconclusive|thrown/);
        } else {
          expect((error as Error).message).toBe(`broken at ${broken}`);
        }
      }),
    );
  });

  it('by a journal that fails for good after the injection, still reverts', async () => {
    await fc.assert(
      fc.asyncProperty(cuts, async (plan) => {
        let injected = false;
        const { fabric, error } = await walk(plan, (call, when) => {
          if (call === 'apply' && when === 'after') injected = true;
          if (injected && ['applied', 'verified', 'failed', 'intend'].includes(call))
            throw new Error('no database');
        });
        expect(error).toBeInstanceOf(Error);
        expect(fabric.state).toEqual(new FakeFabric().state);
      }),
    );
  });
});

describe('an undo that fails', () => {
  it('for good ends as rollback-failed, with the others reverted and every failure told', async () => {
    const plan = planOfCuts(LINKS.slice(0, 3).map((link, index) => ({ link, fromS: 1 + index, toS: 5 })));
    let failing: string | undefined;
    const fabric = await walk(plan, (call, when) => {
      if (call !== 'revert' || when !== 'before') return;
      failing ??= 'first';
      if (failing === 'first') throw new Error('the switch answers no more');
    });
    expect(fabric.judgement?.state).toBe('rollback-failed');
    expect(fabric.judgement?.reasons).toHaveLength(3);
    expect(fabric.judgement?.reasons.join()).toContain('the switch answers no more');
    expect(fabric.journal.some(({ call }) => call === 'failed')).toBe(true);
    expect(fabric.states).not.toContain('observing');
  });

  it('when it was due, and works later, proves nothing and says so', async () => {
    let failures = 3;
    const { judgement, fabric, states } = await walk(ONE_CUT, (call, when) => {
      if (call === 'revert' && when === 'before' && failures-- > 0) throw new Error('busy');
    });
    expect(judgement).toMatchObject({ state: 'inconclusive', reasons: [expect.stringContaining('busy')] });
    expect(fabric.state).toEqual(new FakeFabric().state);
    expect(states).not.toContain('scoring');
  });

  it('once is tried again at once and does not show', async () => {
    let failures = 1;
    const { states } = await walk(ONE_CUT, (call, when) => {
      if (call === 'revert' && when === 'before' && failures-- > 0) throw new Error('busy');
    });
    expect(states.at(-1)).toBe('scoring');
  });
});

describe('an injection that the fabric refuses', () => {
  it('is handed on as what it is, with nothing left in place', async () => {
    const { error, fabric, states } = await walk(ONE_CUT, (call, when) => {
      if (call === 'apply' && when === 'before') throw InputError.at('/link', 'no such link');
    });
    expect(error).toBeInstanceOf(InputError);
    expect(fabric.state).toEqual(new FakeFabric().state);
    expect(states.at(-1)).toBe('injecting');
  });
});

describe('a timeline', () => {
  it('is in time order, reverts before it applies at one instant, and marks the last reverts', () => {
    fc.assert(
      fc.property(cuts, (plan) => {
        const actions = timeline(plan);
        const times = actions.map(({ timeNs }) => timeNs);
        expect(times).toEqual([...times].sort((a, b) => a - b));
        for (let index = 1; index < actions.length; index++) {
          const [one, next] = [actions[index - 1], actions[index]];
          if (one.timeNs === next.timeNs) expect([one.type, next.type]).not.toEqual(['apply', 'revert']);
        }
        const endNs = Math.max(...plan.faults[0].impairments.map(({ untilNs }) => untilNs));
        expect(actions.filter(({ last }) => last).every(({ timeNs }) => timeNs === endNs)).toBe(true);
        expect(actions.some(({ last }) => last)).toBe(true);
      }),
    );
  });
});

/** A fabric that computes on and on from an instant, and says so. */
class EndlessFabric extends FakeFabric {
  private listener: () => void = () => undefined;

  onWork(listener: () => void): void {
    this.listener = listener;
  }

  searches(): SearchRecord {
    return { searches: 0, stopped: 0, worstResidual: 0, worstNs: null };
  }

  override async advance(toNs: number): Promise<void> {
    if (toNs <= 3e9) return super.advance(toNs);
    for (let call = 0; call < 1e6; call++) this.listener();
  }
}

describe('a drill whose simulated time does not go on', () => {
  it('ends as an internal error that says where it stood, with its fault undone', async () => {
    const { error, fabric, journal } = await walk(ONE_CUT, undefined, { fabric: new EndlessFabric() });
    expect(error).toBeInstanceOf(InternalError);
    expect((error as Error).message).toMatch(/simulated time does not go on .*simulatedNs = 3000000000/);
    expect(fabric.applied).toHaveLength(1);
    expect(fabric.reverted).toEqual(fabric.applied);
    expect(new Set(Object.values(fabric.state))).toEqual(new Set(['connected']));
    expect(journal.map(({ call }) => call)).toEqual(['intend', 'applied', 'verified']);
  });
});
