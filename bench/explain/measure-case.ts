/**
 * Everything that one seed gives: the case run, diagnosed, explained as early as can be, and put to the baselines.
 *
 * The result is plain data, so that it can come from another thread. Only durations depend on the machine.
 */
import { diagnose, type DiagnosisInput } from '../../src/diagnosis/index.js';
import { windowOf } from '../../src/model/telemetry/window.js';
import { BASELINE_NAMES, BASELINES, type BaselineName } from './baselines/index.js';
import { verdictOf } from './baselines/answer.js';
import type { CorpusCase } from './corpus/case.js';
import type { FaultClass } from './corpus/fault-entry.js';
import { grade, truthOf, type Grade } from './grade.js';
import { countsAsCase, impactOf, type Impact } from './impact.js';
import type { Quality } from './corpus/quality.js';
import { runSeed, type CaseRun } from './run-case.js';
import { caseRandom } from './corpus/seeds.js';

export interface CaseResult {
  seed: number;
  name: string;
  control: CorpusCase['control'];
  /** Of each fault. */
  entries: string[];
  classes: FaultClass[];
  quality: Quality;
  family: string;
  gpus: number;
  impact: Impact;
  /** `dropped`: nobody felt the fault. */
  outcome: 'counted' | 'dropped';
  ours: Grade | null;
  baselines: Partial<Record<BaselineName, Grade>>;
  /** s from the first impact until the right element headed the list; Infinity when it never did; null: not asked. */
  timeToExplainS: number | null;
  diagnosisS: number;
  truth: string;
}

export async function measureCase(seed: number): Promise<CaseResult> {
  const { one, run } = await runSeed(seed);
  const base = {
    seed,
    name: one.name,
    control: one.control,
    entries: one.entries.map(({ name }) => name),
    classes: one.entries.map((entry) => entry.class),
    quality: one.quality,
    family: one.scene.family,
    gpus: one.scene.gpus,
    truth: truthOf(run),
  };
  const impact = impactOf(run);
  if (one.control === null && !countsAsCase(run, impact)) {
    const nothing = { ours: null, baselines: {}, timeToExplainS: null, diagnosisS: 0 };
    return { ...base, ...nothing, impact, outcome: 'dropped' };
  }
  const input: DiagnosisInput = { topology: run.topology, jobs: run.jobs, evidence: run.evidence };
  const startedMs = performance.now();
  const ours = grade(run, diagnose(input));
  const diagnosisS = (performance.now() - startedMs) / 1e3;
  return {
    ...base,
    impact,
    outcome: 'counted',
    ours,
    baselines: Object.fromEntries(
      BASELINE_NAMES.map((name) => {
        const suspects = BASELINES[name](input, caseRandom(seed).stream(`baseline ${name}`));
        return [name, grade(run, verdictOf(suspects))];
      }),
    ),
    timeToExplainS: asksForTime(one) ? timeToExplain(run, impact, ours) : null,
    diagnosisS,
  };
}

/** One fault and everything seen: how long an answer takes is asked where it can be had. */
const asksForTime = ({ control, entries, quality }: CorpusCase): boolean =>
  control === null && entries.length === 1 && quality === 'clean';

/** Seconds after the first impact at which the question is asked. */
const ASKED_S = [1, 2, 3, 4, 5, 7, 10, 15, 20];

function timeToExplain(run: CaseRun, { firstImpactNs }: Impact, final: Grade): number | null {
  if (firstImpactNs === null) return null;
  for (const afterS of ASKED_S) {
    const untilNs = firstImpactNs + afterS * 1e9;
    if (untilNs >= run.evidence.toNs) break;
    const evidence = windowOf(run.evidence, 0, untilNs);
    const verdict = diagnose({ topology: run.topology, jobs: run.jobs, evidence });
    if (grade({ ...run, evidence }, verdict).top1 === 1) return afterS;
  }
  return final.top1 === 1 ? (run.evidence.toNs - firstImpactNs) / 1e9 : Infinity;
}
