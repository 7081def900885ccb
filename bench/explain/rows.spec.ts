import { describe, expect, test } from '@jest/globals';
import { FAULT_KINDS } from '../../src/faults/catalog.js';
import { caseOf } from './corpus/case.js';
import type { CaseResult } from './measure-case.js';
import { caseRows, ENOUGH_OF_A_KIND, explainRows } from './rows.js';
import { countedCase, gradeWith } from './testing/results.js';

const right = gradeWith({ top1: 1, setF1: 1, kindRight: true, sideRight: true });
const many = (count: number, change: Parameters<typeof countedCase>[0]): CaseResult[] =>
  Array.from({ length: count }, (_, index) => countedCase({ seed: 10_001 + index, ...change }));

const rowOf = (results: readonly CaseResult[], name: string, measure: string) => {
  const found = explainRows(results).filter((row) => row.case === name && row.measure === measure);
  expect(found).toHaveLength(1);
  return found[0];
};

describe('rows of the explainability bench', () => {
  test('count an abstention as wrong at rank 1', () => {
    const results = [...many(19, { ours: right }), ...many(1, { ours: gradeWith({ abstained: true }) })];
    expect(rowOf(results, 'hard', 'top1_element')).toMatchObject({ value: 0.95, meetsFloor: true });
    expect(rowOf([...results, ...many(1, {})], 'hard', 'top1_element').meetsFloor).toBe(false);
  });

  test('ask congestion for its kind as well as for its place', () => {
    const results = many(4, { classes: ['congestion'], ours: { ...right, kindRight: false } });
    expect(rowOf(results, 'congestion', 'top1_element').value).toBe(1);
    expect(rowOf(results, 'congestion', 'root_queue_and_pattern')).toMatchObject({
      value: 0,
      meetsFloor: false,
    });
  });

  test('keep bad telemetry out of the accuracy by class, and in a row of its own', () => {
    const results = [...many(5, { ours: right }), ...many(5, { quality: 'lost-30' })];
    expect(rowOf(results, 'hard', 'top1_element').value).toBe(1);
    expect(rowOf(results, 'lost-30', 'top1_element')).toMatchObject({
      value: 0,
      floor: 0.8,
      meetsFloor: false,
    });
  });

  test('take false alarms from controls only, and say when there are too few of them', () => {
    const alarm = gradeWith({ falseAlarm: true });
    const results = [
      ...many(99, { control: 'nothing', entries: [], classes: [] }),
      ...many(1, { control: 'load-change', entries: [], classes: [], ours: alarm }),
    ];
    expect(rowOf(results, 'controls', 'false_alarms')).toMatchObject({
      value: 0.01,
      meetsFloor: true,
      reason: expect.stringContaining('100 controls'),
    });
  });

  test('miss the floor of time when more than a twentieth is never explained, and have no number then', () => {
    const times = (never: number): CaseResult[] => [
      ...many(20 - never, { timeToExplainS: 2, ours: right }),
      ...many(never, { timeToExplainS: Infinity }),
    ];
    expect(rowOf(times(1), 'clean', 'time_to_explain_p95_s')).toMatchObject({ value: 2, meetsFloor: true });
    expect(rowOf(times(2), 'clean', 'time_to_explain_p95_s')).toMatchObject({
      value: null,
      meetsFloor: false,
      reason: expect.stringContaining('2 of 20'),
    });
  });

  test('measure the lift over the better of the baselines', () => {
    const results = many(10, {
      classes: ['gray'],
      ours: right,
      baselines: { rules: gradeWith({ top1: 1 }), 'link-votes': gradeWith({}), chance: gradeWith({}) },
    });
    expect(rowOf(results, 'gray', 'lift_over_better_baseline')).toMatchObject({
      value: 0,
      meetsFloor: false,
    });
  });

  test('say which baseline does better where one does', () => {
    const results = many(4, {
      baselines: { rules: gradeWith({}), 'link-votes': gradeWith({ top1: 1 }), chance: gradeWith({}) },
    });
    expect(rowOf(results, 'hard', 'lift_over_better_baseline')).toMatchObject({
      value: -1,
      reason: 'the baseline link-votes does better',
    });
  });

  test('judge the dropped share of a kind when it has enough cases', () => {
    const dropped = (count: number) => many(count, { outcome: 'dropped', ours: undefined });
    const share = (felt: number, unfelt: number) =>
      rowOf(
        [...many(felt, {}), ...dropped(unfelt).map((one) => ({ ...one, ours: null }))],
        'link-down',
        'dropped_share',
      );
    expect(share(5, 2)).toMatchObject({ meetsFloor: null });
    expect(share(6, 2)).toMatchObject({ value: 0.25, meetsFloor: true });
    expect(share(5, 3)).toMatchObject({ value: 0.375, meetsFloor: false });
  });

  test('have no value where there is no case', () => {
    expect(rowOf(many(3, {}), 'gray', 'top1_element')).toMatchObject({ value: null, meetsFloor: null });
  });

  test('state each case, a dropped one with what was felt', () => {
    const dropped = { ...countedCase({ outcome: 'dropped' }), ours: null };
    expect(caseRows([dropped])[0]).toMatchObject({ value: null, reason: expect.stringContaining('50.0 %') });
    expect(caseRows(many(1, { control: 'nothing' }))[0]).toMatchObject({ measure: 'false_alarm', value: 0 });
    expect(rowOf([dropped, ...many(3, {})], 'all', 'dropped_share').value).toBe(0.25);
  });
});

test('the usual seeds hold enough cases of every kind to judge what is dropped of it', () => {
  const cases = Array.from({ length: 380 }, (_, index) => caseOf(10_001 + index));
  const alone = cases.flatMap(({ control, entries }) =>
    control === null && entries.length === 1 ? [entries[0].kind] : [],
  );
  // nothing, and a straggler, are controls
  const kinds = FAULT_KINDS.map(({ name }) => name).filter((name) => name !== 'none' && name !== 'straggler');
  const few = kinds.filter((name) => alone.filter((kind) => kind === name).length < ENOUGH_OF_A_KIND);
  expect(few).toEqual([]);
});
