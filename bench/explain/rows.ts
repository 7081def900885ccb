/**
 * The rows of the explainability benchmark: each measure beside its published anchor, its floor and its aim.
 *
 * Floors follow the class of a case (what went wrong, how well it was watched), never its name. Anchors are figures that
 * others report of their own systems on their own faults: a direction, not the same test. Accuracy by class is that of
 * single faults watched well; what bad telemetry costs stands in rows of its own.
 */
import { measured, unmeasured, type BenchRow, type Yardstick } from '../row.js';
import { BASELINE_NAMES } from './baselines/index.js';
import {
  baselineTop1,
  brier,
  controls,
  counted,
  quantile,
  meanOf,
  shareOf,
  singles,
  top1,
  watchedWell,
  type Counted,
} from './figures.js';
import type { FaultClass } from './corpus/fault-entry.js';
import type { CaseResult } from './measure-case.js';
import { QUALITIES } from './corpus/quality.js';

const TOP1: Yardstick = { unit: 'share', better: 'higher' };
const NO_CASE = 'no such case among these seeds';

/** At so many controls and fewer a share of alarms says little. */
const ENOUGH_CONTROLS = 150;

const row = (name: string, measure: string, value: number | null, yardstick: Yardstick): BenchRow =>
  value === null
    ? unmeasured(name, measure, yardstick.unit, NO_CASE)
    : measured(name, measure, value, yardstick);

const count = (name: string, cases: number): BenchRow => measured(name, 'cases', cases, { unit: 'cases' });

export function explainRows(results: readonly CaseResult[]): BenchRow[] {
  return [
    ...accuracyRows(results),
    ...detailRows(results),
    ...controlRows(results),
    timeRow(results),
    ...qualityRows(results),
    ...liftRows(results),
    ...corpusRows(results),
    row('all', 'brier', brier(counted(results)), { unit: 'squared error' }),
  ];
}

/** Congestion has its root queue and its pattern to be named, not only a place. */
const patternRight = ({ ours }: Counted): boolean => ours.top1 === 1 && ours.kindRight === true;

function accuracyRows(results: readonly CaseResult[]): BenchRow[] {
  const of = (name: FaultClass): Counted[] => watchedWell(singles(results, name));
  const [hard, gray, congestion, job] = [of('hard'), of('gray'), of('congestion'), of('job')];
  return [
    count('hard', hard.length),
    row('hard', 'top1_element', top1(hard), {
      ...TOP1,
      ...{ reference: 'SkeletonHunter, localised', referenceValue: 0.957, floor: 0.95, aim: 0.99 },
    }),
    count('gray', gray.length),
    row('gray', 'top1_element', top1(gray), {
      ...TOP1,
      ...{ reference: 'R-Pingmesh, located problems right', referenceValue: 0.85, floor: 0.9, aim: 0.97 },
    }),
    count('congestion', congestion.length),
    row('congestion', 'root_queue_and_pattern', shareOf(congestion, patternRight), {
      ...TOP1,
      ...{ reference: 'Hawkeye, precision', referenceValue: 0.9, floor: 0.9, aim: 0.97 },
    }),
    row('congestion', 'top1_element', top1(congestion), TOP1),
    row('congestion', 'aggressor_named', aggressors(congestion), { ...TOP1, floor: 0.9, aim: 0.97 }),
    count('job', job.length),
    row('job', 'top1_element', top1(job), TOP1),
  ];
}

function aggressors(results: readonly Counted[]): number | null {
  const asked = results.filter(({ ours }) => ours.aggressorNamed !== null);
  return shareOf(asked, ({ ours }) => ours.aggressorNamed === true);
}

function detailRows(results: readonly CaseResult[]): BenchRow[] {
  const found = singles(results).filter(({ ours }) => ours.top1 === 1);
  const two = counted(results).filter(({ entries }) => entries.length > 1);
  return [
    row(
      'all',
      'kind_and_side_given_element',
      shareOf(found, ({ ours }) => ours.kindRight === true && ours.sideRight === true),
      { ...TOP1, floor: 0.9, aim: 0.97 },
    ),
    count('two-faults', two.length),
    row(
      'two-faults',
      'set_f1',
      meanOf(two, ({ ours }) => ours.setF1),
      { ...TOP1, floor: 0.85, aim: 0.95 },
    ),
    row(
      'all',
      'abstained',
      shareOf(singles(results), ({ ours }) => ours.abstained),
      { unit: 'share' },
    ),
  ];
}

function controlRows(results: readonly CaseResult[]): BenchRow[] {
  const all = controls(results);
  const stragglers = all.filter(({ control }) => control === 'straggler');
  const alarms = row(
    'controls',
    'false_alarms',
    shareOf(all, ({ ours }) => ours.falseAlarm),
    {
      unit: 'share',
      floor: 0.02,
      aim: 0,
    },
  );
  const few = `${all.length} controls; ${ENOUGH_CONTROLS} and more are needed for a claim`;
  return [
    count('controls', all.length),
    all.length < ENOUGH_CONTROLS && all.length > 0 ? { ...alarms, reason: few } : alarms,
    row('controls', 'straggler_host_named', top1(stragglers), TOP1),
    row(
      'controls',
      'said_no_fault',
      shareOf(
        all.filter(({ control }) => control !== 'straggler'),
        ({ ours }) => ours.said === 'no fault',
      ),
      TOP1,
    ),
  ];
}

function timeRow(results: readonly CaseResult[]): BenchRow {
  const times = counted(results).flatMap(({ timeToExplainS }) =>
    timeToExplainS === null ? [] : [timeToExplainS],
  );
  const yardstick = {
    ...{ unit: 's', reference: 'Mycroft, 60 % of causes', referenceValue: 20, floor: 20, aim: 5 },
  };
  const p95 = quantile(times, 0.95);
  if (p95 !== Infinity) return row('clean', 'time_to_explain_p95_s', p95, yardstick);
  const never = times.filter((time) => time === Infinity).length;
  return {
    ...measured('clean', 'time_to_explain_p95_s', Infinity, yardstick),
    value: null,
    ratio: null,
    reason: `${never} of ${times.length} were never explained, more than 5 %`,
  };
}

function qualityRows(results: readonly CaseResult[]): BenchRow[] {
  return QUALITIES.filter((quality) => quality !== 'clean').flatMap((quality) => {
    const cases = singles(results).filter((one) => one.quality === quality);
    const limits = quality === 'lost-30' ? { floor: 0.8, aim: 0.92 } : {};
    return [count(quality, cases.length), row(quality, 'top1_element', top1(cases), { ...TOP1, ...limits })];
  });
}

function liftRows(results: readonly CaseResult[]): BenchRow[] {
  const groups: [name: string, classes: FaultClass[]][] = [
    ['hard', ['hard']],
    ['gray', ['gray']],
    ['congestion', ['congestion']],
    ['gray-and-congestion', ['gray', 'congestion']],
  ];
  return groups.flatMap(([name, classes]) => {
    const cases = watchedWell(singles(results, ...classes));
    const theirs = BASELINE_NAMES.map((baseline) => baselineTop1(cases, baseline));
    const ours = top1(cases);
    const better = Math.max(...theirs.map((share) => share ?? 0));
    const limits = name === 'hard' ? {} : { floor: 0.15, aim: 0.3 };
    return [
      ...BASELINE_NAMES.map((baseline, index) => row(name, `top1_element_${baseline}`, theirs[index], TOP1)),
      betterBaselineNamed(
        row(name, 'lift_over_better_baseline', ours === null ? null : ours - better, { ...TOP1, ...limits }),
        theirs,
      ),
    ];
  });
}

/** Says who is better, where the lift is below 0. */
function betterBaselineNamed(lift: BenchRow, theirs: readonly (number | null)[]): BenchRow {
  if (lift.value === null || lift.value >= 0) return lift;
  const best = theirs.reduce<number>((one, share, at) => ((share ?? 0) > (theirs[one] ?? 0) ? at : one), 0);
  return { ...lift, reason: `the baseline ${BASELINE_NAMES[best]} does better` };
}

/** Whether the corpus is as hard as it claims to be. */
function corpusRows(results: readonly CaseResult[]): BenchRow[] {
  const faults = results.filter(({ control }) => control === null);
  const kept = faults.filter(({ outcome }) => outcome === 'counted');
  const dropped = droppedShare(faults);
  return [
    count('all', results.length),
    row(
      'all',
      'control_share',
      shareOf(results, ({ control }) => control !== null),
      { ...TOP1, floor: 0.2 },
    ),
    row(
      'all',
      'silent_share',
      shareOf(kept, ({ impact }) => impact.silent),
      { ...TOP1, floor: 0.3 },
    ),
    row('all', 'dropped_share', dropped, { unit: 'share', floor: MOST_DROPPED }),
    ...kindsOf(faults).map((kind) => {
      const of = ofKind(faults, kind);
      const limits = of.length < ENOUGH_OF_A_KIND ? {} : { floor: MOST_DROPPED };
      return row(kind, 'dropped_share', droppedShare(of), { unit: 'share', ...limits });
    }),
  ];
}

/** Of fewer cases one may be dropped without making the corpus a worse one. */
export const ENOUGH_OF_A_KIND = 8;

/** Above this share of dropped cases the corpus is no test, and the bench fails. */
export const MOST_DROPPED = 0.25;

export const droppedShare = (results: readonly CaseResult[]): number | null =>
  shareOf(results, ({ outcome }) => outcome === 'dropped');

/** Kinds of single faults, in order of their names. */
export const kindsOf = (results: readonly CaseResult[]): string[] =>
  [...new Set(results.flatMap(({ entries }) => (entries.length === 1 ? [kindOf(entries[0])] : [])))].sort();

export const ofKind = (results: readonly CaseResult[], kind: string): CaseResult[] =>
  results.filter(({ entries }) => entries.length === 1 && kindOf(entries[0]) === kind);

const kindOf = (entry: string): string => entry.split('/')[0];

/** One row a case, for who reads the JSON or asks for one case only. */
export function caseRows(results: readonly CaseResult[]): BenchRow[] {
  return results.map(({ name, control, outcome, ours, impact, entries }) => {
    const measure = control === null ? (entries.length > 1 ? 'set_f1' : 'top1') : 'false_alarm';
    if (outcome !== 'counted' || ours === null) {
      const reason = `nobody felt it: steps ${(100 * impact.stepChange).toFixed(1)} % longer, nothing stalled`;
      return unmeasured(name, measure, 'share', reason);
    }
    if (control !== null) return measured(name, measure, Number(ours.falseAlarm), { unit: 'share' });
    return measured(name, measure, measure === 'set_f1' ? ours.setF1 : ours.top1, TOP1);
  });
}
