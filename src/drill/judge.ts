/**
 * The judgement of a drill: scores, objectives, final state, from what was recorded and nothing else.
 */
import { evaluateObjectives, parseObjectives } from '../scoring/objectives.js';
import type { Verdict } from '../diagnosis/verdict.js';
import type { FabricDescription, SearchRecord } from '../fabric-api/fabric.js';
import { checkBaseline, type BaselineHealth } from '../scoring/measures/baseline.js';
import { scoreExplainability } from '../scoring/explainability/explainability.js';
import type { ScoringInput } from '../scoring/input.js';
import { carriedJobBytes } from '../scoring/measures/link-traffic.js';
import { concludeRun, drillDoubts } from '../scoring/outcome.js';
import { publishTruth, scoreRun } from '../scoring/score.js';
import {
  unknownScores,
  type FinalState,
  type ObjectiveResult,
  type PublishedAlignment,
  type PublishedTruth,
  type Score,
  type Scores,
} from '../scoring/scorecard.js';
import { EvidenceIndex, type Evidence } from '../model/telemetry/series.js';
import { idealStepNs } from '../model/workload/closed-form.js';
import { DEFAULT_PROFILE, type ScoringProfile } from '../scoring/profile.js';
import type { Counterfactual } from './counterfactual.js';
import type { Alignment } from './agenda.js';
import type { Plan } from './plan/plan.js';
import { searchNotes } from './search-notes.js';
import { timeToExplainS } from './time-to-explain.js';
import type { DrillRecord } from './record.js';

export interface Judgement {
  state: FinalState;
  /** One sentence each, worst first; empty when passed. */
  reasons: string[];
  /** Why its figures prove nothing, whatever the objectives; empty for a drill that did what it should. */
  doubts: string[];
  /** What a reader of the scores should know beside them, one sentence each. */
  notes: string[];
  scores: Scores;
  objectives: ObjectiveResult[];
  verdict: Verdict | null;
  truth: PublishedTruth[];
  /** Of faults with a trigger. */
  alignments: PublishedAlignment[];
}

export interface JudgementInput {
  plan: Plan;
  objectives: readonly string[];
  description: FabricDescription;
  evidence: Evidence;
  /** null where nobody asked for a diagnosis; explainability is then not known. */
  verdict: Verdict | null;
  record: DrillRecord;
  /** What there would have been without the faults; left out where it can't be run. */
  counterfactual?: Counterfactual;
  /** By how much what jobs reported may be off from the fabric's clock, ns; left out where it is stamped by that clock. */
  clockErrorNs?: number;
  /** How exact the twins were. */
  twinSearches?: readonly SearchRecord[];
  /** Called back now and then while it is worked out. */
  working?: () => void;
}

/** What scoring looks at, from what a drill left behind. */
export type ScoredDrill = Pick<
  JudgementInput,
  'plan' | 'evidence' | 'verdict' | 'record' | 'counterfactual'
> & {
  description: Pick<FabricDescription, 'topology' | 'jobs'>;
};

function scoringInput(drill: ScoredDrill): ScoringInput {
  const { plan, description, evidence, verdict, record, counterfactual } = drill;
  const { topology, jobs } = description;
  const { injectedNs } = record;
  const targetBytesInBaseline =
    injectedNs === null
      ? null
      : carriedJobBytes(new EvidenceIndex(evidence), topology, record.truth, injectedNs);
  return {
    evidence,
    topology,
    jobs,
    truth: record.truth,
    verdict,
    injectedNs,
    revertedNs: record.revertedNs,
    endNs: record.endNs,
    exposedJobs: record.exposedJobs,
    targetBytesInBaseline,
    profile: plan.scoring ?? DEFAULT_PROFILE,
    twin: counterfactual?.twin ?? null,
    lostTimeShares: counterfactual?.shares ?? null,
  };
}

/**
 * The explainability of a diagnosis that came from elsewhere, by the same code as our own.
 * @param timeToExplainS seconds from the injection until it was given; null where clocks can't be compared
 */
export const scoreDiagnosis = (drill: ScoredDrill, timeToExplainS: number | null): Score =>
  scoreExplainability({ ...scoringInput(drill), timeToExplainS });

/** A drill that ran its course. */
export function judgeDrill(input: JudgementInput): Judgement {
  const { description, evidence, verdict, record, working = () => undefined } = input;
  const { injectedNs } = record;
  const scored = scoringInput(input);
  const { targetBytesInBaseline } = scored;
  const scores = scoreRun(
    verdict === null ? scored : { ...scored, timeToExplainS: timeToExplainS(scored, working) },
  );
  const objectives = evaluateObjectives(parseObjectives(input.objectives), scores);
  const course = {
    injected: injectedNs !== null,
    baseline: baselineHealth(description, evidence, injectedNs ?? record.endNs, input.plan.scoring),
    targetBytesInBaseline,
  };
  const outcome = concludeRun({
    objectives,
    ...course,
    rollbackFailures: [],
    aborted: null,
    error: null,
  });
  const notes = [
    ...notesOf(scores, input.counterfactual, record),
    ...clockNotes(input),
    ...searchNotes([record.searches, ...(input.twinSearches ?? [])]),
  ];
  return {
    ...outcome,
    doubts: drillDoubts(course),
    notes,
    scores,
    objectives,
    verdict,
    truth: publishTruth(record.truth),
    alignments: record.alignments.map(publishAlignment),
  };
}

const publishAlignment = (alignment: Alignment): PublishedAlignment => ({
  fault: alignment.fault,
  job: alignment.job,
  boundary: alignment.kind,
  number: alignment.number ?? null,
  began_s: alignment.beganNs / 1e9,
  error_ns: alignment.injectedNs - alignment.beganNs,
});

/** A loss below this share of the GPU time of a whole run is nobody's. */
const UNFELT_SHARE = 1e-4;

/** What a reader of the scores should know beside them. */
function notesOf(
  scores: Scores,
  counterfactual: Counterfactual | undefined,
  { truth, injectedNs, endNs }: DrillRecord,
): string[] {
  const notes: string[] = [];
  const { ettr } = scores.recovery.metrics;
  const injected = truth.length > 0 && injectedNs !== null && endNs > injectedNs;
  if (injected && typeof ettr === 'number' && 1 - ettr < UNFELT_SHARE) {
    const measured =
      counterfactual?.lostNs === 0
        ? 'without it the same seed ends the same steps at the same instants'
        : 'all kept the pace that they had before';
    notes.push(
      `no job felt the fault: ${measured}; such a drill shows that nothing was lost, not how the fabric recovers`,
    );
  }
  if (counterfactual !== undefined && counterfactual.missing !== null) notes.push(counterfactual.missing);
  return notes;
}

const clockNotes = ({ clockErrorNs = 0 }: JudgementInput): string[] =>
  clockErrorNs === 0
    ? []
    : [
        `jobs report by the clocks of their hosts, which are known to within ${(clockErrorNs / 1e6).toFixed(1)} ms of this machine's`,
      ];

function baselineHealth(
  description: FabricDescription,
  evidence: Evidence,
  injectedNs: number,
  profile: ScoringProfile | undefined,
): BaselineHealth {
  const { topology, jobs, transport, paceNoise = DEFAULT_PROFILE.baseline.paceNoise } = description;
  const wire = { mtu: transport.mtuBytes, headerBytes: transport.headerBytes, ackBytes: transport.ackBytes };
  const ideal = new Map(jobs.map((job) => [job.name, idealStepNs(job, topology, wire)]));
  return checkBaseline({
    evidence,
    topology,
    jobs,
    injectedNs,
    idealStepNs: ideal,
    // who states a profile knows the fabric
    limits: profile?.baseline ?? { ...DEFAULT_PROFILE.baseline, paceNoise },
  });
}

/** Why a drill was cut short: by a person, by faults that could not be undone, or could not be undone in time. */
export type CutShort =
  { aborted: string } | { rollbackFailures: readonly string[] } | { inconclusive: readonly string[] };

export function judgeCutShort(cause: CutShort, stated: readonly string[]): Judgement {
  const scores = unknownScores();
  const objectives = evaluateObjectives(parseObjectives(stated), scores);
  const unscored = { notes: [], scores, objectives, verdict: null, truth: [], alignments: [] };
  if ('inconclusive' in cause)
    return {
      state: 'inconclusive',
      reasons: [...cause.inconclusive],
      doubts: [...cause.inconclusive],
      ...unscored,
    };
  const outcome = concludeRun({
    objectives: [],
    injected: false,
    baseline: null,
    targetBytesInBaseline: null,
    rollbackFailures: 'rollbackFailures' in cause ? cause.rollbackFailures : [],
    aborted: 'aborted' in cause ? cause.aborted : null,
    error: null,
  });
  return { ...outcome, doubts: outcome.reasons, ...unscored };
}
