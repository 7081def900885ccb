/**
 * The scorecard: three scores with the raw figures behind them, in the shape of the stable interface.
 *
 * A score is 0..100 or null; null means it could not be known, and is never read as 0 or 100. Metric names are
 * snake case with the unit last, exactly as published and as objectives use them.
 */
import type { Verdict } from '../diagnosis/verdict.js';
import type { ElementRef } from '../model/telemetry/vocabulary.js';

export type MetricValue = number | boolean | null;

export const SCORE_NAMES = ['recovery', 'isolation', 'explainability'] as const;
export type ScoreName = (typeof SCORE_NAMES)[number];

export const SCORE_METRICS = {
  recovery: [
    'time_to_detect_s',
    'time_to_reroute_s',
    'time_to_recover_s',
    'recovered',
    'failback_s',
    'failed_back',
    'resilience_loss',
    'lost_gpu_hours',
    'redone_steps',
    'ettr',
  ],
  isolation: [
    'exposed_jobs',
    'bystander_jobs',
    'blast_ratio',
    'victim_flow_share',
    'pause_depth_hops',
    'pause_spread_ratio',
    'containment',
  ],
  explainability: [
    'top1',
    'top3',
    'reciprocal_rank',
    'set_f1',
    'kind_correct',
    'side_correct',
    'onset_error_s',
    'evidence_coverage',
    'evidence_precision',
    'share_error',
    'time_to_explain_s',
    'brier',
    'abstained',
  ],
} as const satisfies Record<ScoreName, readonly string[]>;

export interface Score {
  score: number | null;
  metrics: Record<string, MetricValue>;
}

export type Scores = Record<ScoreName, Score>;

export interface ObjectiveResult {
  expression: string;
  value: MetricValue;
  passed: boolean | null;
}

/** Final states of a run, worst first; the worst wins. */
export const FINAL_STATES = [
  'rollback-failed',
  'error',
  'aborted',
  'failed',
  'inconclusive',
  'passed',
] as const;
export type FinalState = (typeof FINAL_STATES)[number];

export const RUN_STATES = [
  'pending',
  'preflight',
  'baseline',
  'injecting',
  'holding',
  'reverting',
  'observing',
  'diagnosing',
  'scoring',
  ...FINAL_STATES,
] as const;
export type RunState = (typeof RUN_STATES)[number];

/** The truth as published, after the verdict is sealed. */
export interface PublishedTruth {
  kind: string;
  elements: ElementRef[];
  side: string;
  direction: string;
  from_s: number;
  to_s: number;
}

/** How well an injection met the boundary of a job with which its fault was to begin. */
export interface PublishedAlignment {
  fault: string;
  job: string;
  boundary: 'step' | 'collective' | 'checkpoint';
  /** Which one, where the experiment named it. */
  number: number | null;
  /** When the boundary began, seconds from the run's start. */
  began_s: number;
  /** From there to the injection, ns. */
  error_ns: number;
}

export interface Scorecard {
  run: {
    id: string;
    experiment: string;
    fabric: string;
    driver: string;
    seed: number;
    state: RunState;
    version: string;
    startedAt: string | null;
    endedAt: string | null;
  };
  scores: Scores;
  objectives: ObjectiveResult[];
  verdict: Verdict | null;
  truth: PublishedTruth[];
  /** Why the state is what it is, one sentence each; empty when passed. */
  reasons: string[];
  /** Why its figures prove nothing, whatever the objectives; left out where they do. */
  doubts?: string[];
  /** What a reader of the scores should know beside them; left out where there is nothing. */
  notes?: string[];
  /** Left out where no fault had a trigger. */
  alignments?: PublishedAlignment[];
  /** What others said of the run, oldest first; left out where nobody did. */
  diagnoses?: OutsideDiagnosis[];
}

/** A diagnosis of the run that came from outside, scored by the same code. */
export interface OutsideDiagnosis {
  id: string;
  /** `api` or `alertmanager`. */
  source: string;
  author: string;
  /** Given while nobody could read the truth. */
  beforeEnd: boolean;
  faultFound: boolean | null;
  named: { kind: string; element: ElementRef }[];
  /** null until the run has ended, and where there is no truth to compare with. */
  explainability: Score | null;
}

/** One figure over several seeds. */
export interface Repeated {
  /** `recovery.score`, as objectives write it. */
  path: string;
  /** Seeds for which the figure is known, of how many. */
  known: number;
  of: number;
  /** Null when no seed tells. Of a yes-or-no figure: the share of yes. */
  median: number | null;
  low: number | null;
  high: number | null;
  /** Chance that the interval holds the median of all seeds; null when there is none. */
  confidence: number | null;
}

/** Scores of a run that was never scored: null, with every metric null. */
export function unknownScores(): Scores {
  const blank = (name: ScoreName): Score => ({
    score: null,
    metrics: Object.fromEntries(SCORE_METRICS[name].map((metric) => [metric, null])),
  });
  return {
    recovery: blank('recovery'),
    isolation: blank('isolation'),
    explainability: blank('explainability'),
  };
}
