/**
 * What the benchmark says in words beside its rows: kinds, calibration, where a baseline does better, and the worst cases
 * with the command that runs each of them again.
 */
import type { BenchSection } from '../../src/cli/commands/bench-row.js';
import { BASELINE_NAMES } from './baselines/index.js';
import { baselineTop1, counted, reliability, singles, top1, watchedWell, type Counted } from './figures.js';
import type { CaseResult } from './measure-case.js';
import { droppedShare, kindsOf, ofKind } from './rows.js';

const percent = (share: number | null): string => (share === null ? '-' : `${(100 * share).toFixed(1)} %`);

export const reportOf = (results: readonly CaseResult[]): BenchSection[] => [
  byEntry(results),
  bySeverity(results),
  calibration(results),
  lostToBaselines(results),
  worstCases(results),
];

function byEntry(results: readonly CaseResult[]): BenchSection {
  const faults = results.filter(({ control, entries }) => control === null && entries.length === 1);
  const lines = kindsOf(faults).flatMap((kind) => {
    const of = ofKind(faults, kind);
    const entries = [...new Set(of.map((one) => one.entries[0]))].sort();
    const groups: [string, CaseResult[]][] = [
      [kind, of],
      ...(entries.length > 1
        ? entries.map((entry): [string, CaseResult[]] => [
            `  ${entry.slice(entry.indexOf('/') + 1)}`,
            of.filter(({ entries: [own] }) => own === entry),
          ])
        : []),
    ];
    return groups.map(([name, cases]) => lineOf(name, cases));
  });
  return {
    heading: 'Single faults, all telemetry',
    columns: [
      ...['fault', 'cases', 'dropped', 'silent', 'top-1', 'kind and side', 'abstained'],
      ...BASELINE_NAMES,
    ],
    lines,
  };
}

function lineOf(name: string, cases: readonly CaseResult[]): string[] {
  const kept = counted(cases);
  const share = (holds: (one: Counted) => boolean): string =>
    percent(kept.length === 0 ? null : kept.filter(holds).length / kept.length);
  return [
    name,
    String(cases.length),
    percent(droppedShare(cases)),
    share(({ impact }) => impact.silent),
    percent(top1(kept)),
    share(({ ours }) => ours.kindRight === true && ours.sideRight === true),
    share(({ ours }) => ours.abstained),
    ...BASELINE_NAMES.map((baseline) => percent(baselineTop1(kept, baseline))),
  ];
}

const SEVERITIES: readonly (readonly [name: string, least: number, most: number])[] = [
  ['below 10 %', 0, 0.1],
  ['10 % to 50 %', 0.1, 0.5],
  ['above 50 %', 0.5, Infinity],
];

function bySeverity(results: readonly CaseResult[]): BenchSection {
  const all = watchedWell(singles(results));
  return {
    heading: 'Single faults watched well, by how much longer steps took while they lasted',
    columns: ['steps longer by', 'cases', 'top-1', ...BASELINE_NAMES],
    lines: SEVERITIES.map(([name, least, most]) => {
      const within = all.filter(({ impact }) => impact.stepChange >= least && impact.stepChange < most);
      const theirs = BASELINE_NAMES.map((baseline) => percent(baselineTop1(within, baseline)));
      return [name, String(within.length), percent(top1(within)), ...theirs];
    }),
  };
}

function calibration(results: readonly CaseResult[]): BenchSection {
  return {
    heading: 'Reliability: how often a named culprit is one, by the probability it was given',
    columns: ['probability', 'named', 'mean stated', 'right'],
    lines: reliability(counted(results)).map(({ from, to, claims, stated, right }) => [
      `${from} to ${to}`,
      String(claims),
      stated === null ? '-' : stated.toFixed(3),
      right === null ? '-' : right.toFixed(3),
    ]),
  };
}

/** Cases that a baseline gets right at rank 1 and the diagnosis does not. */
function lostToBaselines(results: readonly CaseResult[]): BenchSection {
  const lost = singles(results).filter(
    ({ ours, baselines }) =>
      ours.top1 < 1 && BASELINE_NAMES.some((name) => name !== 'chance' && baselines[name]?.top1 === 1),
  );
  return {
    heading: 'Where a baseline is right and the diagnosis is not',
    columns: ['case', 'telemetry', 'right', 'said'],
    lines: lost.map(({ name, quality, ours, baselines }) => [
      name,
      quality,
      BASELINE_NAMES.filter((baseline) => baselines[baseline]?.top1 === 1).join(', '),
      shortened(ours.said),
    ]),
  };
}

const MOST_LISTED = 15;

const failed = ({ control, ours }: Counted): boolean =>
  control === null ? ours.top1 < 1 || ours.setF1 < 1 || ours.kindRight !== true : ours.falseAlarm;

/** The surer a wrong answer was, the worse. */
const badness = ({ control, ours }: Counted): number =>
  Math.max(0, ...ours.claims.map(({ probability, right }) => (right ? 0 : probability))) +
  (control === null ? 1 - ours.top1 : 1);

function worstCases(results: readonly CaseResult[]): BenchSection {
  const all = counted(results).filter(failed);
  const worst = [...all].sort((a, b) => badness(b) - badness(a) || a.seed - b.seed).slice(0, MOST_LISTED);
  return {
    heading: `Worst of ${all.length} cases that are not wholly right; --seeds N..N runs one again`,
    columns: ['--seeds', 'case', 'telemetry', 'true', 'said'],
    lines: worst.map(({ seed, name, quality, truth, ours }) => [
      `${seed}..${seed}`,
      name,
      quality,
      shortened(truth),
      shortened(ours.said),
    ]),
  };
}

const shortened = (text: string): string => (text.length > 150 ? `${text.slice(0, 149)}…` : text);
