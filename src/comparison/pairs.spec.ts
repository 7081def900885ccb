import { describe, expect, it } from '@jest/globals';
import { atMargin, beyondOf, pairsOf, samplesOf, worseOf, type SeedRuns } from './pairs.js';
import { parseSuiteObjectives, type RelativeObjective } from './suite-objective.js';

const STEP = 'training.step_time_s';
const SCORE = 'recovery.score';
const relative = (metric: string, margin: number | string): RelativeObjective =>
  parseSuiteObjectives([{ metric, margin }], undefined)[0] as RelativeObjective;

/** Seeds 11, 12, …; null where a figure is not known, 'none' where there are no figures at all. */
const runs = (metric: string, ...rows: [number | null | 'none', number | null | 'none'][]): SeedRuns[] => {
  const run = (value: number | null | 'none') => ({ figures: value === 'none' ? null : { [metric]: value } });
  return rows.map(([before, after], at) => ({ seed: 11 + at, baseline: run(before), candidate: run(after) }));
};

describe('runs of both sides', () => {
  it('are worse by what is longer of times, and by what is less of scores', () => {
    const [time, score] = [relative(STEP, 1), relative(SCORE, 5)];
    expect([...worseOf(time, pairsOf(time, runs(STEP, [2, 5], [5, 1])))]).toEqual([3, -4]);
    expect([...worseOf(score, pairsOf(score, runs(SCORE, [80, 70], [70, 75])))]).toEqual([10, -5]);
  });

  it('are beyond a margin of the unit, or of a share of the baseline', () => {
    const [unit, share] = [relative(STEP, 1), relative(STEP, '50%')];
    expect([...beyondOf(unit, pairsOf(unit, runs(STEP, [4, 7])))]).toEqual([2]);
    expect([...beyondOf(share, pairsOf(share, runs(STEP, [4, 7])))]).toEqual([1]);
  });

  it('at the margin have the baseline where the candidate may just be, larger being worse', () => {
    const [time, score] = [relative(STEP, '50%'), relative(SCORE, 5)];
    const times = atMargin(time, samplesOf(time, runs(STEP, [4, 7])));
    expect([[...times.baseline], [...times.candidate]]).toEqual([[6], [7]]);
    const scores = atMargin(score, samplesOf(score, runs(SCORE, [80, 70])));
    expect([[...scores.baseline], [...scores.candidate]]).toEqual([[-75], [-70]]);
  });

  it('as pairs count where both are known, and name the seed that is worst', () => {
    const objective = relative(STEP, 1);
    expect(pairsOf(objective, runs(STEP, [1, 2], [null, 9], [3, 6], [3, 5]))).toMatchObject({
      known: 3,
      lost: [],
      meanBaseline: 7 / 3,
      meanCandidate: 13 / 3,
      worstSeed: 13,
    });
  });

  it('as pairs have lost a seed where only the candidate is unknown, which is the worst', () => {
    const objective = relative(STEP, 1);
    expect(pairsOf(objective, runs(STEP, [1, 9], ['none', 'none'], [1, 'none'], [1, null]))).toMatchObject({
      known: 1,
      lost: [13, 14],
      worstSeed: 13,
    });
  });

  it('as samples count by themselves, and each unknown one of the candidate is lost', () => {
    const objective = relative(SCORE, 5);
    expect(samplesOf(objective, runs(SCORE, [90, 80], [70, 60], [null, 70]))).toMatchObject({
      known: 2,
      lost: [],
      meanBaseline: 80,
      meanCandidate: 70,
      worstSeed: 12,
    });
    expect(samplesOf(objective, runs(SCORE, [null, null], [70, 60], [80, 10]))).toMatchObject({
      known: 2,
      lost: [11],
      worstSeed: 11,
    });
  });

  it('of which none is known have no mean and no worst seed', () => {
    const objective = relative(STEP, 1);
    const nothing = { known: 0, meanBaseline: null, meanCandidate: null };
    expect(pairsOf(objective, runs(STEP, [null, null]))).toMatchObject({ ...nothing, worstSeed: null });
    expect(samplesOf(objective, runs(STEP, [null, null]))).toMatchObject({ ...nothing, worstSeed: 11 });
  });
});
