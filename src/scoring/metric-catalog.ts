/**
 * What each published figure of a scorecard means: unit, kind, range and direction, once, for the gate's parser,
 * the reports and docs/scoring.md.
 *
 * Objectives name a figure as `<score>.<metric>` or `<score>.score`. A range is given where the formula bounds the
 * figure, so that an objective that could never hold (or never fail) is refused before anything is injected.
 * Definitions follow the usual ones of resilience (Bruneau et al. 2003), root-cause ranking (AC@k, MRR) and
 * forecast calibration (Brier 1950); formulas are in docs/scoring.md.
 */
import { SCORE_METRICS, SCORE_NAMES } from './scorecard.js';
import type { ScoreName } from './scorecard.js';

export interface ScoreMetricDefinition {
  /** `recovery.time_to_recover_s`, as objectives write it. */
  path: string;
  score: ScoreName;
  /** Metric name within the score, or `score`. */
  name: string;
  /** A few words for a report's line. */
  label: string;
  kind: 'number' | 'boolean';
  /** `s`, `GPU h`; `share` for a part of a whole, 0..1; '' for a plain number or a count. */
  unit: string;
  /** Smallest and largest value that can occur; Infinity where there is no bound. */
  range: readonly [number, number];
  /** Which way is good; `neutral` for a mere count. */
  better: 'higher' | 'lower' | 'neutral';
  description: string;
}

type Row = [
  label: string,
  kind: 'number' | 'boolean',
  unit: string,
  range: readonly [number, number],
  better: 'higher' | 'lower' | 'neutral',
  description: string,
];

const ratio = [0, 1] as const;
const unbounded = [0, Infinity] as const;

const score = (what: string): Row => ['score', 'number', '', [0, 100], 'higher', what];

const ROWS: Record<ScoreName, Record<string, Row>> = {
  recovery: {
    score: score('how little training was lost, how soon it was back, and whether it is really back'),
    time_to_detect_s: [
      'first sign after',
      'number',
      's',
      unbounded,
      'lower',
      'from injection to the first true change on the faulted element or its routes',
    ],
    time_to_reroute_s: [
      'rerouted after',
      'number',
      's',
      unbounded,
      'lower',
      'from injection until the dead element carries nothing and the healthy members carry their share',
    ],
    time_to_recover_s: [
      '95 % pace again after',
      'number',
      's',
      unbounded,
      'lower',
      'from injection until every exposed job keeps at least 95 % of its pace',
    ],
    recovered: [
      'recovered',
      'boolean',
      '',
      ratio,
      'higher',
      'every exposed job came back to 95 % and kept it',
    ],
    failback_s: [
      'failed back after',
      'number',
      's',
      unbounded,
      'lower',
      'from the repair until pace, bytes and next hops are all as before',
    ],
    failed_back: ['failed back', 'boolean', '', ratio, 'higher', 'pace, bytes and next hops all came back'],
    resilience_loss: [
      'pace lost',
      'number',
      'share',
      ratio,
      'lower',
      'mean loss of pace of the exposed jobs from injection to the end',
    ],
    lost_gpu_hours: [
      'GPU time lost',
      'number',
      'GPU h',
      unbounded,
      'lower',
      'GPU time lost by all jobs, redone steps included',
    ],
    redone_steps: [
      'steps redone',
      'number',
      '',
      unbounded,
      'lower',
      'steps that a restart from a checkpoint repeats',
    ],
    ettr: [
      'productive time',
      'number',
      'share',
      ratio,
      'higher',
      'productive share of the GPU time of all jobs from injection to the end',
    ],
  },
  isolation: {
    score: score('how few jobs and flows suffered that had nothing to do with the fault'),
    exposed_jobs: [
      'exposed jobs',
      'number',
      '',
      unbounded,
      'neutral',
      'jobs whose paths crossed the target at injection',
    ],
    bystander_jobs: ['bystanders', 'number', '', unbounded, 'neutral', 'all other jobs'],
    blast_ratio: [
      'bystanders hurt',
      'number',
      'share',
      ratio,
      'lower',
      'share of the bystanders that became clearly slower',
    ],
    victim_flow_share: [
      'bystander flows hurt',
      'number',
      'share',
      ratio,
      'lower',
      'share of the rank-to-rank flows of bystanders that became clearly slower',
    ],
    pause_depth_hops: [
      'pause depth',
      'number',
      'hops',
      unbounded,
      'lower',
      'longest chain of paused links from the root',
    ],
    pause_spread_ratio: [
      'paused links',
      'number',
      'share',
      ratio,
      'lower',
      'share of all links that were paused',
    ],
    containment: [
      'loss inside the rail or pod',
      'number',
      'share',
      ratio,
      'higher',
      "share of the lost GPU time inside the element's rail or pod",
    ],
  },
  explainability: {
    score: score('how well telemetry alone explained the slowdown'),
    top1: ['named first', 'number', '', ratio, 'higher', 'the element is named at rank 1'],
    top3: ['named in the first three', 'number', '', ratio, 'higher', 'the element is named at ranks 1 to 3'],
    reciprocal_rank: [
      '1/rank',
      'number',
      '',
      ratio,
      'higher',
      'one over the rank at which the element is named',
    ],
    set_f1: ['set F1', 'number', '', ratio, 'higher', 'F1 of the set of likely culprits against the truth'],
    kind_correct: ['kind', 'boolean', '', ratio, 'higher', 'the kind of fault is named'],
    side_correct: ['side', 'boolean', '', ratio, 'higher', 'side and, where one-way, direction are named'],
    onset_error_s: [
      'onset error',
      'number',
      's',
      unbounded,
      'lower',
      'distance between the named and the true onset',
    ],
    evidence_coverage: [
      'symptoms cited',
      'number',
      'share',
      ratio,
      'higher',
      'share of the expected symptoms that showed and were cited',
    ],
    evidence_precision: [
      'citations true',
      'number',
      'share',
      ratio,
      'higher',
      'share of the cited series that truly changed',
    ],
    share_error: [
      'share error',
      'number',
      'share',
      ratio,
      'lower',
      'distance between the claimed and the counterfactual share of lost time',
    ],
    time_to_explain_s: [
      'explained after',
      'number',
      's',
      unbounded,
      'lower',
      'from injection until a live diagnosis named it',
    ],
    brier: ['Brier score', 'number', '', ratio, 'lower', 'squared error of the stated probability'],
    abstained: ['abstained', 'boolean', '', ratio, 'neutral', 'the diagnosis said that it can not tell'],
  },
};

/** Every figure of a scorecard, in the published order, the score itself first. */
export const SCORE_METRIC_DEFINITIONS: readonly ScoreMetricDefinition[] = SCORE_NAMES.flatMap((scoreName) =>
  ['score', ...SCORE_METRICS[scoreName]].map((name) => {
    const [label, kind, unit, range, better, description] = ROWS[scoreName][name];
    return {
      path: `${scoreName}.${name}`,
      score: scoreName,
      name,
      label,
      kind,
      unit,
      range,
      better,
      description,
    };
  }),
);

const byPath = new Map(SCORE_METRIC_DEFINITIONS.map((definition) => [definition.path, definition]));

/** The definition behind `<score>.<metric>`, undefined for an unknown name. */
export const scoreMetricDefinition = (path: string): ScoreMetricDefinition | undefined => byPath.get(path);
