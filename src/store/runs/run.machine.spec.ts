import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FINAL_STATES, RUN_STATES, type RunState } from '../../scoring/scorecard.js';
import { isFinal, mayGo, worst } from './run.machine.js';

describe('run states', () => {
  it('walk from pending to scoring one by one, then end', () => {
    const walk: RunState[] = [
      'pending',
      'preflight',
      'baseline',
      'injecting',
      'holding',
      'reverting',
      'observing',
      'diagnosing',
      'scoring',
      'passed',
    ];
    for (let index = 1; index < walk.length; index++) expect(mayGo(walk[index - 1], walk[index])).toBe(true);
  });

  it('go from baseline to observing in a control, and from nowhere else but reverting', () => {
    const before = RUN_STATES.filter((from) => mayGo(from, 'observing'));
    expect(before.sort()).toEqual(['baseline', 'reverting']);
  });

  it('have no way out of a final state', () => {
    for (const from of FINAL_STATES) for (const to of RUN_STATES) expect(mayGo(from, to)).toBe(false);
  });

  it('never pass or fail a run that was not scored', () => {
    for (const from of RUN_STATES) {
      expect(mayGo(from, 'passed')).toBe(from === 'scoring');
      expect(mayGo(from, 'failed')).toBe(from === 'scoring');
    }
  });

  it('reach reverting from every state in which a fault may be in place', () => {
    expect((['injecting', 'holding'] as const).map((from) => mayGo(from, 'reverting'))).toEqual([true, true]);
  });

  it('end every random walk in at most ten steps', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...RUN_STATES), { minLength: 60, maxLength: 200 }), (wishes) => {
        let state: RunState = 'pending';
        let steps = 0;
        for (const wish of wishes) {
          if (mayGo(state, wish)) {
            state = wish;
            steps++;
          }
        }
        expect(steps).toBeLessThanOrEqual(9);
        if (isFinal(state)) expect(wishes.some((wish) => mayGo(state, wish))).toBe(false);
      }),
    );
  });

  it('let the worst of several final states win', () => {
    expect(worst(['passed', 'failed', 'inconclusive'])).toBe('failed');
    expect(worst(['passed', 'rollback-failed', 'error'])).toBe('rollback-failed');
    expect(worst(['passed', 'inconclusive'])).toBe('inconclusive');
  });
});
