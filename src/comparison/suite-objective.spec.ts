import { describe, expect, it } from '@jest/globals';
import { InputError } from '../core/problem.js';
import { parseSuiteObjectives, type SuiteObjectiveSpec } from './suite-objective.js';

const parse = (...specs: SuiteObjectiveSpec[]) => parseSuiteObjectives(specs, ['link-down', 'incast']);

function issueOf(...specs: SuiteObjectiveSpec[]): string {
  try {
    parse(...specs);
  } catch (error) {
    if (error instanceof InputError) return error.message;
    throw error;
  }
  throw new Error('was accepted');
}

describe('objectives of a suite', () => {
  it('take a margin in the unit of the metric or as a share of the baseline', () => {
    expect(parse({ metric: 'training.step_time_s', margin: 1e-7 })).toMatchObject([{ margin: 1e-7 }]);
    const [score, step, bystanders] = parse(
      { metric: 'recovery.score', margin: 5 },
      { metric: 'training.step_time_s', margin: '2%', on: ['link-down'] },
      'isolation.blast_ratio <= 0.05',
    );
    expect(score).toMatchObject({
      type: 'relative',
      margin: 5,
      ofBaseline: false,
      name: 'recovery.score within 5',
    });
    expect(step).toMatchObject({
      margin: 0.02,
      ofBaseline: true,
      name: 'training.step_time_s within 2 % on link-down',
    });
    expect(bystanders).toMatchObject({ type: 'absolute', share: 1, name: 'isolation.blast_ratio <= 0.05' });
  });

  it.each([
    [{ metric: 'recovery.score' }, /has no margin/],
    [{ metric: 'recovery.score', margin: 0 }, /a margin is more than 0/],
    [{ metric: 'recovery.score', margin: 100 }, /lets everything pass; it must be below 100/],
    [{ metric: 'recovery.score', margin: '100%' }, /lets everything pass/],
    [{ metric: 'recovery.score', margin: '-1%' }, /"-1%" is no margin/],
    [{ metric: 'recovery.scor', margin: 1 }, /unknown metric "recovery.scor".*did you mean "recovery.score"/],
    [{ metric: 'isolation.exposed_jobs', margin: 1 }, /neither more nor less is better/],
    [{ metric: 'recovery.score', margin: 1, share: 1 }, /only an expression has a share/],
    [{ expression: 'recovery.score >= 80', margin: 1 }, /only a metric has a margin/],
    [{}, /neither is here/],
    [
      { metric: 'recovery.score', margin: 1, on: ['incats'] },
      /no experiment "incats".*did you mean "incast"/,
    ],
    [{ metric: 'recovery.score', margin: 1, on: ['incast', 'incast'] }, /on\/1.*"incast" is here twice/],
    ['recovery.score >= 800', /decides nothing/],
    ['training.step_tim_s < 1', /unknown metric "training.step_tim_s".*did you mean "training.step_time_s"/],
    ['training.step_time_s < 1s', /the unit is part of the metric's name; write 1/],
  ] as [SuiteObjectiveSpec, RegExp][])('refuse %j', (spec, expected) => {
    expect(issueOf(spec)).toMatch(expected);
  });

  it('take an expression about how fast training is, as about any figure', () => {
    const [fast] = parse('training.step_time_s < 0.6');
    expect(fast).toMatchObject({ type: 'absolute', figure: { path: 'training.step_time_s', unit: 's' } });
  });

  it('refuse expressions that no candidate can meet together', () => {
    expect(issueOf('recovery.score >= 80', 'recovery.score < 50')).toMatch(
      /objectives\/1: no candidate can meet both "recovery.score >= 80" and "recovery.score < 50"/,
    );
    const half = (expression: string): SuiteObjectiveSpec => ({ expression, share: 0.5 });
    expect(parse(half('recovery.score >= 80'), half('recovery.score < 50'))).toHaveLength(2);
    const whole = (expression: string, on: string): SuiteObjectiveSpec => ({ expression, on: [on] });
    expect(
      parse(whole('recovery.score >= 80', 'incast'), whole('recovery.score < 50', 'link-down')),
    ).toHaveLength(2);
  });

  it('refuse an experiment that nothing is judged on', () => {
    expect(issueOf({ metric: 'recovery.score', margin: 5, on: ['incast'] })).toMatch(
      /\/spec\/experiments\/0: no objective is judged on "link-down"/,
    );
  });

  it('report every mistake at once, with its place', () => {
    expect(issueOf({ metric: 'recovery.score' }, 'nonsense', { metric: 'ettr', margin: 1 })).toMatch(
      /\/spec\/objectives\/0\/margin[\s\S]*\/spec\/objectives\/1[\s\S]*\/spec\/objectives\/2\/metric/,
    );
  });

  it('refuse the same objective twice, but not on different experiments', () => {
    const twice = { metric: 'recovery.score', margin: 5 };
    expect(issueOf(twice, twice)).toMatch(/twice/);
    expect(parse({ ...twice, on: ['incast'] }, { ...twice, on: ['link-down'] })).toHaveLength(2);
  });

  it('may be missed at a share of the seeds, so that two that exclude each other fit into half each', () => {
    const share = (expression: string, part: number) => ({ expression, share: part });
    const [high] = parse(share('recovery.score >= 80', 0.5), share('recovery.score < 50', 0.5));
    expect(high).toMatchObject({ share: 0.5, name: 'recovery.score >= 80 at 50 % of the seeds' });
    expect(issueOf(share('recovery.score >= 80', 0.5), share('recovery.score < 50', 0.6))).toMatch(
      /no candidate can meet both/,
    );
  });

  it('allow a time any share of the baseline, and a score less than its span', () => {
    expect(parse({ metric: 'training.step_time_s', margin: '150%' })).toMatchObject([{ margin: 1.5 }]);
    expect(parse({ metric: 'recovery.score', margin: 99.9 })).toMatchObject([{ margin: 99.9 }]);
    expect(parse({ metric: 'recovery.score', margin: ' .5 % ' })).toMatchObject([
      { margin: 0.005, ofBaseline: true },
    ]);
    expect(issueOf({ metric: 'recovery.score', margin: '0%' })).toMatch(/more than 0.*margin: 5/);
    expect(issueOf({ metric: 'training.step_time_s' })).toMatch(/as in margin: 2%/);
  });

  it('name the metrics that there are, of the family if there is one', () => {
    const family = issueOf({ metric: 'training.speed', margin: 1 });
    expect(family).toMatch(/; there are .*training.step_time_s.*training.faulted_step_time_s/);
    expect(family).not.toMatch(/recovery/);
    const any = issueOf({ metric: 'cost.total', margin: 1 });
    expect(any).toMatch(/among others there are .*training.step_time_s.*recovery.score/);
    expect(any).not.toMatch(/time_to_recover_s/);
  });

  it('have either a metric or an expression', () => {
    expect(issueOf({ metric: 'recovery.score', margin: 1, expression: 'recovery.score >= 80' })).toMatch(
      /both is here/,
    );
  });
});
