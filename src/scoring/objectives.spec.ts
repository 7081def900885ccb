/** Objectives: what is accepted, what is refused and how, and that an unknown value is never a pass. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { InputError } from '../core/problem.js';
import { SCORE_METRICS, SCORE_NAMES } from './scorecard.js';
import type { MetricValue, Scores } from './scorecard.js';
import {
  COMPARATORS,
  OBJECTIVE_METRICS,
  evaluateObjective,
  parseObjective,
  parseObjectives,
} from './objectives.js';

function scoresWith(path: string, value: MetricValue): Scores {
  const scores = Object.fromEntries(
    SCORE_NAMES.map((name) => [
      name,
      { score: null, metrics: Object.fromEntries(SCORE_METRICS[name].map((metric) => [metric, null])) },
    ]),
  ) as unknown as Scores;
  const [scoreName, metric] = path.split('.') as [keyof Scores, string];
  if (metric === 'score') scores[scoreName].score = value as number | null;
  else scores[scoreName].metrics[metric] = value;
  return scores;
}

const passed = (expression: string, value: MetricValue) => {
  const objective = parseObjective(expression);
  return evaluateObjective(objective, scoresWith(objective.metric.path, value)).passed;
};

function issueOf(expression: string) {
  try {
    parseObjective(expression, '/spec/objectives/3');
  } catch (error) {
    if (error instanceof InputError) return error.issues[0];
    throw error;
  }
  throw new Error(`accepted: ${expression}`);
}

describe('an objective', () => {
  it('compares a metric with a number', () => {
    expect(passed('recovery.score >= 80', 80)).toBe(true);
    expect(passed('recovery.score >= 80', 79.99)).toBe(false);
    expect(passed('isolation.blast_ratio<=0.05', 0.05)).toBe(true);
    expect(passed('recovery.time_to_recover_s < 1e1', 10)).toBe(false);
    expect(passed('  explainability.top1 == 1 ', 1)).toBe(true);
    expect(passed('explainability.top1 != 1', 1)).toBe(false);
    expect(passed('recovery.lost_gpu_hours > .5', 0.6)).toBe(true);
  });

  it('compares booleans as 1 and 0', () => {
    expect(passed('recovery.recovered == true', true)).toBe(true);
    expect(passed('recovery.recovered == 1', true)).toBe(true);
    expect(passed('recovery.recovered == true', false)).toBe(false);
    expect(passed('explainability.abstained == false', false)).toBe(true);
  });

  it('is null when the value could not be known, and keeps the measured value otherwise', () => {
    expect(passed('recovery.score >= 0', null)).toBeNull();
    expect(passed('recovery.time_to_recover_s < 10', NaN)).toBeNull();
    const objective = parseObjective(' recovery.recovered == true ');
    expect(evaluateObjective(objective, scoresWith('recovery.recovered', true))).toEqual({
      expression: 'recovery.recovered == true',
      value: true,
      passed: true,
    });
  });

  it('knows every published metric and the three scores, with every comparator', () => {
    expect(OBJECTIVE_METRICS).toHaveLength(3 + Object.values(SCORE_METRICS).flat().length);
    for (const metric of OBJECTIVE_METRICS) {
      for (const comparator of COMPARATORS) {
        expect(parseObjective(`${metric} ${comparator} 1`).metric.path).toBe(metric);
      }
    }
  });
});

describe('a bad objective', () => {
  it('names the place, the character and the nearest metric', () => {
    const issue = issueOf('recovery.time_to_recove_s < 10');
    expect(issue.pointer).toBe('/spec/objectives/3');
    expect(issue.message).toContain('character 1: unknown metric "recovery.time_to_recove_s"');
    expect(issue.hint).toContain('did you mean "recovery.time_to_recover_s"?');
  });

  it('offers the full path for a metric without its score, and the choices when nothing is near', () => {
    expect(issueOf('blast_ratio <= 0.05').hint).toBe('did you mean "isolation.blast_ratio"?');
    expect(issueOf('recovery.ttd < 3').hint).toContain('time_to_detect_s');
    expect(issueOf('recovery.ttd < 3').hint).not.toContain('blast_ratio');
    expect(issueOf('isolatoin.blast_ratio < 1').hint).toContain('did you mean "isolation.blast_ratio"?');
    expect(issueOf('latency < 3').hint).toBe('a metric starts with recovery., isolation., explainability.');
  });

  it.each([
    ['', 1, 'starts with a metric'],
    ['>= 80', 1, 'starts with a metric'],
    ['recovery.score', 15, 'a comparator is missing'],
    ['recovery.score = 80', 16, 'is no comparator'],
    ['recovery.score >== 80', 16, 'is no comparator'],
    ['recovery.score over 80', 16, '"over" is no comparator'],
    ['recovery.score >=', 18, 'a number is missing'],
    ['recovery.score >= eighty', 19, 'is no number'],
    ['recovery.score >= 80 && recovery.score < 90', 19, 'is no number'],
    ['recovery.score >= 800', 19, 'lies between 0 and 100'],
    ['isolation.blast_ratio <= 5', 26, 'lies between 0 and 1'],
    ['recovery.time_to_recover_s < -1', 30, 'lies between 0 and no upper bound'],
    ['recovery.recovered >= 0.5', 23, 'is true or false'],
  ])('%j fails at character %i', (expression, position, message) => {
    const issue = issueOf(expression);
    expect(issue.message).toContain(`character ${position}: `);
    expect(issue.message).toContain(message);
  });

  it('explains that units are in the name, and that shares are not per cent', () => {
    expect(issueOf('recovery.time_to_recover_s < 10s').hint).toBe(
      "the unit is part of the metric's name; write 10",
    );
    expect(issueOf('isolation.blast_ratio <= 5').hint).toBe('a share: write 0.05');
  });

  it('is reported together with all the others of its list', () => {
    const act = () =>
      parseObjectives(['recovery.score >= 80', 'x > 1', 7, 'isolation.score ~ 3'], '/spec/objectives');
    expect(act).toThrow(InputError);
    try {
      act();
    } catch (error) {
      expect((error as InputError).issues.map(({ pointer }) => pointer)).toEqual([
        '/spec/objectives/1',
        '/spec/objectives/2',
        '/spec/objectives/3',
      ]);
    }
  });
});

describe('the parser', () => {
  it('either reads a text or throws InputError, whatever the text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string()), (text) => {
        try {
          return OBJECTIVE_METRICS.includes(parseObjective(text).metric.path);
        } catch (error) {
          return error instanceof InputError && error.issues.length === 1;
        }
      }),
    );
  });

  it('decides each comparison exactly as the numbers do', () => {
    const hundredths = fc.integer({ min: 0, max: 10000 }).map((n) => n / 100);
    fc.assert(
      fc.property(hundredths, hundredths, (value, threshold) => {
        const verdicts = COMPARATORS.map((comparator) =>
          passed(`recovery.score ${comparator} ${threshold}`, value),
        );
        expect(verdicts).toEqual([
          value >= threshold,
          value <= threshold,
          value === threshold,
          value !== threshold,
          value > threshold,
          value < threshold,
        ]);
      }),
    );
  });
});
