/** Laws of the conduct of stages, over drawn days: whoever looks, and however often, the same happens once. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { allOver, nextSteps, type ItemFact, type StageFact, type StagePlan, type Step } from './stages.js';

interface Day {
  stages: StagePlan[];
  items: number;
}

/** Stages that wait for any earlier ones, shuffled so that they need not stand in that order. */
const days: fc.Arbitrary<Day> = fc
  .array(
    fc.record({
      size: fc.integer({ min: 1, max: 3 }),
      order: fc.constantFrom('serial' as const, 'parallel' as const),
      pause: fc.boolean(),
      after: fc.array(fc.nat(10), { maxLength: 3 }),
      conditional: fc.boolean(),
      place: fc.nat(1000),
    }),
    { minLength: 1, maxLength: 6 },
  )
  .map((drawn) => {
    let items = 0;
    const stages = drawn.map(({ size, order, pause, after, conditional }, at): StagePlan => {
      const own = Array.from({ length: size }, () => items++);
      return {
        name: `s${at}`,
        after: at === 0 ? [] : [...new Set(after.map((one) => `s${one % at}`))],
        order,
        pause,
        when: conditional ? [{ text: `c${at}`, items: [], expression: '' }] : [],
        items: own,
      };
    });
    const shuffled = stages
      .map((stage, at) => ({ stage, place: drawn[at].place }))
      .sort((a, b) => a.place - b.place)
      .map(({ stage }) => stage);
    return { stages: shuffled, items };
  });

/** Conducts a day in which runs end and people continue in a drawn order; checks every step on its way. */
function conduct({ stages, items }: Day, draws: readonly number[], verdicts: readonly (boolean | null)[]) {
  const stageFacts: StageFact[] = stages.map(() => ({ state: 'blocked', continued: false }));
  const itemFacts: ItemFact[] = Array.from({ length: items }, () => 'unstarted');
  const started: number[] = [];
  const judge = (condition: { text: string }) => verdicts[Number(condition.text.slice(1)) % verdicts.length];
  const stageOf = (item: number): number => stages.findIndex((stage) => stage.items.includes(item));
  const isOver = (name: string): boolean =>
    ['done', 'skipped'].includes(stageFacts[stages.findIndex((stage) => stage.name === name)].state);
  const take = (step: Step): void => {
    if (step.do === 'stage') {
      stageFacts[step.stage].state = step.state;
      return;
    }
    const at = stageOf(step.item);
    expect(stages[at].after.every(isOver)).toBe(true);
    expect(stageFacts[at].state).toBe('running');
    expect(!stages[at].pause || stageFacts[at].continued).toBe(true);
    itemFacts[step.item] = 'open';
    if (stages[at].order === 'serial') {
      expect(stages[at].items.filter((item) => itemFacts[item] === 'open')).toHaveLength(1);
    }
    started.push(step.item);
  };
  for (let turn = 0; turn <= items + stages.length; turn++) {
    for (const step of nextSteps(stages, stageFacts, itemFacts, judge)) take(step);
    expect(nextSteps(stages, stageFacts, itemFacts, judge)).toEqual([]);
    const events = [
      ...itemFacts.flatMap((fact, item) => (fact === 'open' ? [() => (itemFacts[item] = 'ended')] : [])),
      ...stageFacts.flatMap((fact) => (fact.state === 'paused' ? [() => (fact.continued = true)] : [])),
    ];
    if (events.length === 0) break;
    events[draws[turn % draws.length] % events.length]();
  }
  return { stageFacts, itemFacts, started };
}

describe('the stages of a game day', () => {
  test('come to an end in any order of runs and people, and start each experiment once or skip its stage', () => {
    fc.assert(
      fc.property(
        days,
        fc.array(fc.nat(100), { minLength: 1, maxLength: 30 }),
        fc.array(fc.constantFrom(true, false, null), { minLength: 1, maxLength: 6 }),
        (day, draws, verdicts) => {
          const { stageFacts, itemFacts, started } = conduct(day, draws, verdicts);
          expect(allOver(stageFacts)).toBe(true);
          expect(new Set(started).size).toBe(started.length);
          for (const [at, { items, when }] of day.stages.entries()) {
            const skipped = stageFacts[at].state === 'skipped';
            expect(items.every((item) => itemFacts[item] === (skipped ? 'unstarted' : 'ended'))).toBe(true);
            if (when.length === 0) expect(skipped).toBe(false);
          }
        },
      ),
    );
  });

  test('wait for a person where a pause says so, and begin with the first experiment then', () => {
    const stages: StagePlan[] = [
      { name: 'a', after: [], order: 'serial', pause: true, when: [], items: [0, 1] },
    ];
    const facts: ItemFact[] = ['unstarted', 'unstarted'];
    const paused = nextSteps(stages, [{ state: 'blocked', continued: false }], facts, () => true);
    expect(paused).toEqual([{ do: 'stage', stage: 0, state: 'paused', reason: null }]);
    expect(nextSteps(stages, [{ state: 'paused', continued: true }], facts, () => true)).toEqual([
      { do: 'stage', stage: 0, state: 'running', reason: null },
      { do: 'start', item: 0 },
    ]);
  });

  test('are skipped with the reason when a condition fails or could not be known', () => {
    const stages: StagePlan[] = [
      {
        name: 'b',
        after: [],
        order: 'serial',
        pause: false,
        when: [{ text: 'a: recovery.score >= 80', items: [], expression: '' }],
        items: [0],
      },
    ];
    const reasonWhen = (holds: boolean | null): unknown =>
      nextSteps(stages, [{ state: 'blocked', continued: false }], ['unstarted'], () => holds)[0];
    expect(reasonWhen(false)).toMatchObject({
      state: 'skipped',
      reason: 'a: recovery.score >= 80 does not hold',
    });
    expect(reasonWhen(null)).toMatchObject({
      state: 'skipped',
      reason: expect.stringContaining('could not be known'),
    });
  });
});
