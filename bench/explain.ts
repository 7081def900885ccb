/**
 * The explainability bench: how often the blind diagnosis is right, over a seeded corpus of faults and controls.
 *
 * Each seed is one case: a fabric with jobs, how well it is watched, and a fault, two, or none. The same evidence goes to
 * the diagnosis and to three baselines, and one code grades them all. Cases that nobody felt are dropped and counted.
 */
import type { BenchOutcome } from '../src/cli/commands/bench-row.js';
import { caseOf } from './explain/corpus/case.js';
import { computeTimeRows, COMPUTE_CASES } from './explain/compute-time.js';
import { LAB_NAMES, labOutcome } from './explain/lab/lab-rows.js';
import type { CaseResult } from './explain/measure-case.js';
import {
  ALL_PERTURBATIONS,
  perturbationRows,
  perturbationsIn,
  perturbationTable,
} from './explain/perturbations/rows.js';
import { measureCases, measurePerturbed } from './explain/pool.js';
import { reportOf } from './explain/report.js';
import {
  caseRows,
  droppedShare,
  ENOUGH_OF_A_KIND,
  explainRows,
  kindsOf,
  MOST_DROPPED,
  ofKind,
} from './explain/rows.js';
import { purposeOfAll } from './explain/corpus/seeds.js';
import { unmeasured } from './row.js';

export interface ExplainBenchOptions {
  /**
   * Case names (`link-down-cut-10001`), the computations to be timed, `lab`, or `perturbations` and names of such; all
   * seeds and the small computation when empty.
   */
  only?: readonly string[];
  seeds: readonly number[];
  onCase?: (name: string) => void;
}

const PROGRESS_EVERY = 20;

export async function runExplainBench({
  only = [],
  seeds,
  onCase,
}: ExplainBenchOptions): Promise<BenchOutcome> {
  const purpose = purposeOfAll(seeds);
  const timed = only.filter((name) => COMPUTE_CASES.includes(name));
  const chosen = only.length === 0 ? seeds : seeds.filter((seed) => only.includes(caseOf(seed).name));
  const results = await measureCases(chosen, (seed, index) => {
    if (chosen.length < PROGRESS_EVERY) onCase?.(caseOf(seed).name);
    else if (index % PROGRESS_EVERY === 0) onCase?.(`case ${index + 1} of ${chosen.length}`);
  });
  const labs = only.filter((name) => LAB_NAMES.includes(name));
  const perturbations = perturbationsIn(only);
  const perturbed = await measurePerturbed(
    perturbations.length === 0 ? [] : seeds,
    perturbations,
    (_, index) => {
      if (index % PROGRESS_EVERY === 0) onCase?.(`perturbed case ${index + 1} of ${seeds.length}`);
    },
  );
  const missing = only.filter(
    (name) =>
      ![...timed, ...labs, ...perturbations, ALL_PERTURBATIONS].includes(name) &&
      !results.some((result) => result.name === name),
  );
  const summary = results.length > 0 ? explainRows(results) : [];
  const each = caseRows(results);
  const times = await computeTimeRows(timed, only.length === 0, onCase);
  const lab = await labOutcome(labs, only.length === 0, seeds, onCase);
  const none = missing.map((name) => unmeasured(name, 'top1', 'share', 'no such case among these seeds'));
  return {
    rows: [
      ...(only.length === 0 ? [] : each),
      ...summary,
      ...perturbationRows(perturbed, perturbations),
      ...times,
      ...lab.rows,
      ...none,
    ],
    details: only.length === 0 ? each : [],
    sections: [
      ...(results.length > 0 ? reportOf(results) : []),
      ...(perturbations.length > 0 ? [perturbationTable(perturbed, perturbations)] : []),
      ...lab.sections,
    ],
    extra: { purpose, cases: results.map(published) },
    failures: failuresOf(results),
  };
}

/** JSON knows no Infinity: a case that was never explained says so in words. */
const published = ({ timeToExplainS, ...result }: CaseResult): object => ({
  ...result,
  timeToExplainS: timeToExplainS === Infinity ? 'never' : timeToExplainS,
});

function failuresOf(results: readonly CaseResult[]): string[] {
  const faults = results.filter(({ control }) => control === null);
  const groups: [string, CaseResult[]][] = [
    ['of all faults', faults],
    ...kindsOf(faults).map((kind): [string, CaseResult[]] => [`of ${kind}`, ofKind(faults, kind)]),
  ];
  return groups.flatMap(([name, of]) => {
    const share = droppedShare(of) ?? 0;
    if (of.length < ENOUGH_OF_A_KIND || share <= MOST_DROPPED) return [];
    return [
      `${(100 * share).toFixed(1)} % ${name} were felt by nobody and dropped; above ${100 * MOST_DROPPED} % the corpus is no test`,
    ];
  });
}
