/** Outcome: three values, the worst wins, and no data is never a pass. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { concludeRun, doubtsIn } from './outcome.js';
import type { OutcomeInput } from './outcome.js';
import { FINAL_STATES } from './scorecard.js';
import type { ObjectiveResult } from './scorecard.js';

const met: ObjectiveResult = { expression: 'recovery.score >= 80', value: 91, passed: true };
const missed: ObjectiveResult = { expression: 'recovery.score >= 80', value: 79.123456789, passed: false };
const unknown: ObjectiveResult = { expression: 'isolation.score >= 80', value: null, passed: null };
const conclude = (overrides: Partial<OutcomeInput> = {}) =>
  concludeRun({
    objectives: [met],
    injected: true,
    baseline: { healthy: true, reasons: [] },
    targetBytesInBaseline: true,
    rollbackFailures: [],
    aborted: null,
    error: null,
    ...overrides,
  });

describe('a run', () => {
  it('passes only when all is well and known', () => {
    expect(conclude()).toEqual({ state: 'passed', reasons: [] });
    expect(conclude({ injected: false, targetBytesInBaseline: null }).state).toBe('passed');
  });

  it('fails on a missed objective, and says by how much', () => {
    expect(conclude({ objectives: [met, missed] })).toEqual({
      state: 'failed',
      reasons: ['recovery.score >= 80 was missed: measured 79.1235'],
    });
  });

  it.each<[string, Partial<OutcomeInput>, RegExp]>([
    ['an objective could not be known', { objectives: [met, unknown] }, /could not be known/],
    ['no objective is stated', { objectives: [] }, /no objective/],
    [
      'the baseline was sick',
      { baseline: { healthy: false, reasons: ['a', 'b'] } },
      /not healthy before the fault: a; b/,
    ],
    [
      'the baseline is not known',
      { baseline: { healthy: null, reasons: [] } },
      /^the baseline is not known$/,
    ],
    ['the baseline was not observed', { baseline: null }, /not observed/],
    ['the target carried nothing', { targetBytesInBaseline: false }, /carried no bytes of any job/],
    ['the target may have carried nothing', { targetBytesInBaseline: null }, /not known whether the target/],
    ['the injection was refused', { inconclusive: ['the switch refused the change'] }, /refused/],
  ])('is inconclusive when %s', (_, overrides, reason) => {
    const { state, reasons } = conclude(overrides);
    expect(state).toBe('inconclusive');
    expect(reasons).toEqual([expect.stringMatching(reason)]);
  });

  it('does not fail for what a fabric missed that was sick before, and says that first', () => {
    const sick = { healthy: false, reasons: ['fewer next hops'] };
    const { state, reasons } = conclude({ objectives: [missed], baseline: sick });
    expect(state).toBe('inconclusive');
    expect(reasons).toEqual([
      expect.stringContaining('fewer next hops'),
      expect.stringContaining('was missed'),
    ]);
    expect(conclude({ objectives: [missed], baseline: { healthy: null, reasons: [] } }).state).toBe('failed');
  });

  it('tells all reasons, worst first', () => {
    const { state, reasons } = conclude({ objectives: [unknown, missed], targetBytesInBaseline: false });
    expect(state).toBe('failed');
    expect(reasons[0]).toContain('was missed');
    expect(reasons).toHaveLength(3);
  });

  it('does not blame objectives for a drill that did not run its course', () => {
    expect(conclude({ objectives: [missed], baseline: null, aborted: 'stopped by an operator' })).toEqual({
      state: 'aborted',
      reasons: ['stopped by an operator'],
    });
  });

  it('ends in the worst of its causes, whatever comes together, and always with a reason', () => {
    const input = fc.record({
      objectives: fc.array(fc.constantFrom(met, missed, unknown), { maxLength: 3 }),
      rollbackFailures: fc.array(fc.constant('link stays down'), { maxLength: 1 }),
      error: fc.constantFrom(null, 'broken'),
      aborted: fc.constantFrom(null, 'stopped'),
      targetBytesInBaseline: fc.constantFrom(true, false, null),
    });
    fc.assert(
      fc.property(input, (overrides) => {
        const { state, reasons } = conclude(overrides);
        const alone = [
          overrides.rollbackFailures.length > 0 ? 'rollback-failed' : undefined,
          overrides.error !== null ? 'error' : undefined,
          overrides.aborted !== null ? 'aborted' : undefined,
          overrides.objectives.includes(missed) ? 'failed' : undefined,
          overrides.objectives.includes(unknown) || overrides.objectives.length === 0
            ? 'inconclusive'
            : undefined,
          overrides.targetBytesInBaseline !== true ? 'inconclusive' : undefined,
        ];
        expect(state).toBe(FINAL_STATES.find((candidate) => alone.includes(candidate)) ?? 'passed');
        expect(reasons.length > 0).toBe(state !== 'passed');
      }),
    );
  });
});

describe('doubts about a drill', () => {
  it('are the reasons that no objective gave', () => {
    const objectives = [missed, unknown];
    const { reasons } = conclude({ objectives, baseline: null, targetBytesInBaseline: false });
    expect(reasons).toHaveLength(4);
    expect(doubtsIn(reasons, objectives)).toEqual([
      'the baseline was not observed',
      'the target carried no bytes of any job before the fault, so the drill tried nothing',
    ]);
    expect(doubtsIn(conclude({ objectives: [] }).reasons, [])).toEqual([]);
  });
});
