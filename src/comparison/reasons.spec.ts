import { describe, expect, it } from '@jest/globals';
import { gateFigure } from './figures.js';
import type { Gathered } from './pairs.js';
import { absoluteReason, formatAmount, lostReason, relativeReason, tooFewReason } from './reasons.js';
import { parseSuiteObjectives, type AbsoluteObjective, type RelativeObjective } from './suite-objective.js';

const STEP = 'training.step_time_s';
const relative = (metric: string, margin: number | string): RelativeObjective =>
  parseSuiteObjectives([{ metric, margin }], undefined)[0] as RelativeObjective;

function told(objective: RelativeObjective, before: number, after: number): string {
  const pairs = { meanBaseline: before, meanCandidate: after } as Gathered;
  return relativeReason(objective, 'regression', pairs, '8 pairs').split(', and')[0];
}

describe('the reason of a verdict', () => {
  it('has amounts of four digits, with their unit', () => {
    expect(formatAmount(1.23456, gateFigure(STEP)!)).toBe('1.235 s');
    expect(formatAmount(-0, gateFigure(STEP)!)).toBe('0 s');
  });

  it('says by how much the candidate is worse, in the unit and as a share of the baseline', () => {
    expect(told(relative(STEP, 0.5), 3, 4)).toBe(
      'worse by 1 s (33.3 %) on average; worse by 0.5 s is allowed',
    );
    expect(told(relative(STEP, 0.5), 4, 3)).toMatch(/^better by 1 s \(25 %\) on average/);
    expect(told(relative('recovery.score', 5), 80, 60)).toMatch(/^worse by 20 \(25 %\) on average/);
    expect(told(relative('recovery.score', 5), 60, 80)).toMatch(/^better by 20 \(33.3 %\) on average/);
  });

  it('names no share of nothing, and no direction of no difference', () => {
    expect(told(relative(STEP, '1.23456789%'), 0, 2)).toBe(
      'worse by 2 s on average; worse by 1.23457 % is allowed',
    );
    expect(told(relative(STEP, '2%'), 2, 2)).toBe('no difference; 2 % is allowed');
  });

  it('says what the seeds show, by verdict', () => {
    const pairs = { meanBaseline: 2, meanCandidate: 2 } as Gathered;
    const says = (verdict: 'regression' | 'none' | 'inconclusive') =>
      relativeReason(relative(STEP, 1), verdict, pairs, '8 pairs').replace(
        'no difference; 1 s is allowed, ',
        '',
      );
    expect(says('regression')).toBe('and 8 pairs rule chance out');
    expect(says('none')).toBe('and 8 pairs show that it stays within');
    expect(says('inconclusive')).toBe('but 8 pairs show neither that it stays within nor that it does not');
  });

  it('lists up to five lost seeds, and counts the others', () => {
    expect(lostReason([1, 2, 3, 4, 5], 8)).toMatch(
      /at 5 of 8 seeds \(1, 2, 3, 4, 5\) where the baseline's was$/,
    );
    expect(lostReason([1, 2, 3, 4, 5, 7, 8], 8, 'no link')).toMatch(
      /at 7 of 8 seeds \(1, 2, 3, 4, 5 and 2 more\) where the baseline's was: no link$/,
    );
  });

  it('counts what is unknown on each side where too few seeds tell', () => {
    const side = (...values: number[]) => Float64Array.from(values);
    expect(tooFewReason('1 pair', 5, { values: { baseline: side(1), candidate: side(1) } })).toBe(
      'only 1 pair tell, and at least 5 are needed',
    );
    expect(
      tooFewReason('1 pair', 5, { values: { baseline: side(1, NaN), candidate: side(NaN, NaN) } }, 'why'),
    ).toBe(
      'only 1 pair tell, and at least 5 are needed; the figure could not be known at 1 of 2 seeds on the baseline and at 2 of 2 seeds on the candidate: why',
    );
  });

  it('of an absolute objective counts seeds, rounding up how many must meet it', () => {
    const reason = (
      share: number,
      counts: { met: number; missed: number; unknown: number },
      seeds: number,
    ) => {
      const [objective] = parseSuiteObjectives([{ expression: 'recovery.score >= 80', share }], undefined);
      return absoluteReason(objective as AbsoluteObjective, counts, seeds);
    };
    expect(reason(1, { met: 3, missed: 1, unknown: 0 }, 4)).toBe(
      'recovery.score >= 80: met at 3 seeds, missed at 1; all must meet it',
    );
    expect(reason(0.7, { met: 7, missed: 2, unknown: 1 }, 10)).toBe(
      'recovery.score >= 80: met at 7 seeds, missed at 2, could not be known at 1; 7 of 10 must meet it',
    );
    expect(reason(0.7, { met: 8, missed: 0, unknown: 0 }, 8)).toMatch(/6 of 8 must meet it$/);
    // 0.28 of 25 is 7, which computes to a little more
    expect(reason(0.28, { met: 8, missed: 0, unknown: 0 }, 25)).toMatch(/7 of 25 must meet it$/);
  });
});
