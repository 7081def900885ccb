/**
 * The explainability score: the sealed verdict against the truth.
 *
 * Ranking figures are AC@k with the smaller of k and the number of faults below the line, reciprocal rank and set
 * F1, by exact element (equivalent names included); the ladder of near misses (element-match.ts) enters the score
 * only. Probabilities are judged by Brier's rule. Saying "I can not tell" earns more than a confident wrong answer
 * and less than a right one; on a control, every named culprit is a false alarm. A wide answer is worth less: who
 * spreads more probability than there are faults has left the choice to the reader. Formulas: docs/scoring.md.
 */
import type { Culprit, Verdict } from '../../diagnosis/verdict.js';
import type { Topology } from '../../model/topology/model.js';
import type { TruthEntry } from '../../faults/ground-truth.js';
import { LADDER, elementCredit } from './element-match.js';
import { evidenceQuality } from './evidence-quality.js';
import type { ScoringInput } from '../input.js';
import { DEFAULT_PROFILE, weighted } from '../profile.js';
import { remarkedAsNamed } from './remarks.js';
import { claimsOf, troublesOf } from './recurrence.js';
import type { Trouble } from './recurrence.js';
import { SCORE_METRICS } from '../scorecard.js';
import type { MetricValue, Score } from '../scorecard.js';
import { NS_PER_S, clamp, decay, mean } from '../measures/statistics.js';

/** Culprits at or above this probability are the answer; at least as many as there are faults. */
export const ANSWER_PROBABILITY = 0.5;
export const CONTROL_SCORES = { quiet: 100, abstained: 50, alarmMost: 20 } as const;

export interface ExplainabilityFigures {
  /** Mean over the faults of ladder credit / rank, the best culprit of each; not published, see docs/scoring.md. */
  elementMatch: number;
  /** Faults per probability that the answer spreads, 0..1: 1 for one sure culprit a fault, towards 0 for many. */
  focus: number;
  kind_correct: boolean;
  side_correct: boolean;
  onset_error_s: number | null;
  evidence_coverage: number | null;
  evidence_precision: number | null;
  set_f1: number;
  brier: number;
}

/** 0..100 for a drill with faults and a verdict that does not abstain. */
export function explainabilityScore(figures: ExplainabilityFigures, profile = DEFAULT_PROFILE): number {
  const { weights, details: detailWeights, onsetHalfLife } = profile.explainability;
  const precision = figures.evidence_precision ?? 0;
  const details = weighted(detailWeights, {
    side: Number(figures.side_correct),
    onset: figures.onset_error_s === null ? 0 : decay(figures.onset_error_s, onsetHalfLife / NS_PER_S),
    // Where nothing showed on the fault, truth of the citations stands for their coverage.
    coverage: figures.evidence_coverage ?? precision,
    precision,
    set: figures.set_f1,
    brier: 1 - clamp(figures.brier, 0, 1),
  });
  const match = figures.elementMatch * (0.5 + 0.5 * figures.focus);
  const share = weighted(weights, {
    kind: Number(figures.kind_correct),
    element: match * (0.5 + 0.5 * details),
  });
  return clamp(100 * share, 0, 100);
}

/** How narrow an answer is: faults over the probability spread over all that is named, at most 1. */
export const focusOf = (culprits: readonly Culprit[], faults: number): number =>
  faults /
  Math.max(
    faults,
    culprits.reduce((sum, { probability }) => sum + probability, 0),
  );

interface Answer {
  culprit: Culprit;
  credit: number;
  /** 0-based place in the ranked list. */
  position: number;
  /** Rank among the answers that are no answer to another fault: two faults at ranks 1 and 2 both count as first. */
  rank: number;
}

/**
 * The culprit that answers for each fault: exact and early first, each culprit used once. Where one element has several
 * faults, each culprit answers the one that it says most of: of its kind, its direction and side, nearest to its onset.
 */
function assign(
  truth: readonly Trouble[],
  culprits: readonly Culprit[],
  topology: Topology,
): (Answer | undefined)[] {
  const pairs = truth.flatMap((entry, fault) =>
    culprits.map((culprit, position) => {
      const credit = elementCredit(culprit.element, entry, topology);
      const worth = credit / (position + 1);
      return { fault, culprit, credit, position, worth, unlike: unlikeness(culprit, entry) };
    }),
  );
  pairs.sort(
    (a, b) =>
      b.worth - a.worth ||
      b.credit - a.credit ||
      a.position - b.position ||
      a.unlike - b.unlike ||
      a.fault - b.fault,
  );
  const chosen = new Map<number, (typeof pairs)[number]>();
  const used = new Set<number>();
  for (const pair of pairs) {
    if (chosen.has(pair.fault) || used.has(pair.position)) continue;
    chosen.set(pair.fault, pair);
    used.add(pair.position);
  }
  const credited = [...chosen.values()].filter(({ credit }) => credit > 0);
  return truth.map((_, fault) => {
    const pair = chosen.get(fault);
    if (pair === undefined) return undefined;
    const ahead = credited.filter(({ position }) => position < pair.position).length;
    return {
      culprit: pair.culprit,
      credit: pair.credit,
      position: pair.position,
      rank: pair.position - ahead + 1,
    };
  });
}

/** How little a culprit says of a fault: kind before direction and side, and these before the onset. */
function unlikeness(culprit: Culprit, entry: Trouble): number {
  const awayS = culprit.onset_s === null ? 0 : Math.abs(culprit.onset_s - entry.fromNs / NS_PER_S);
  const wrongKind = entry.kinds.includes(culprit.kind) ? 0 : 4;
  const wrongSide = sideCorrect(culprit, entry) ? 0 : 2;
  // from 0 to 1, whatever the distance
  return wrongKind + wrongSide + awayS / (1 + awayS);
}

/** AC@k: share of the faults, or of k when there are more, named exactly at ranks 1 to k. */
const accuracyAt = (ranks: readonly number[], faults: number, k: number): number =>
  ranks.filter((rank) => rank <= k).length / Math.min(k, faults);

function sideCorrect(culprit: Culprit | undefined, entry: TruthEntry): boolean {
  if (culprit === undefined) return false;
  // The truth itself does not say where a one-way loss sits, so no answer to that can be wrong.
  const side = entry.side === 'unknown' || culprit.side === entry.side;
  return side && (entry.direction === 'both' || culprit.direction === entry.direction);
}

const isOneOf = (kinds: Trouble['kinds'], kind: Culprit['kind'] | undefined): boolean =>
  kind !== undefined && kinds.includes(kind);

/** Brier's squared error over as many first ranks as there are faults; what is not named has probability 0. */
function brierScore(culprits: readonly Culprit[], hits: ReadonlySet<Culprit>, faults: number): number {
  const slots = Array.from({ length: faults }, (_, at) => culprits[at] as Culprit | undefined);
  return mean(
    slots.map((slot) => (slot === undefined ? 1 : (slot.probability - Number(hits.has(slot))) ** 2)),
  );
}

const noMetrics = (): Record<string, MetricValue> =>
  Object.fromEntries(SCORE_METRICS.explainability.map((name) => [name, null]));

function scoreControl(input: ScoringInput, verdict: Verdict): Score {
  const metrics = noMetrics();
  const alarm = verdict.faultFound === true;
  const probability = alarm ? clamp(Math.max(0, ...verdict.culprits.map((one) => one.probability)), 0, 1) : 0;
  metrics.abstained = verdict.faultFound === null;
  if (verdict.faultFound === null) return { score: CONTROL_SCORES.abstained, metrics };
  metrics.set_f1 = alarm ? 0 : 1;
  metrics.brier = probability ** 2;
  return { score: alarm ? CONTROL_SCORES.alarmMost * (1 - probability) : CONTROL_SCORES.quiet, metrics };
}

function shareError(input: ScoringInput, answers: readonly (Answer | undefined)[]): number | null {
  const { lostTimeShares } = input;
  if (lostTimeShares === null || lostTimeShares === undefined) return null;
  const errors = troublesOf(input.truth).map(({ faults }, trouble) => {
    const claimed = answers[trouble]?.culprit.lostTimeShare ?? 0;
    const due = faults.reduce((sum, fault) => sum + (lostTimeShares[fault] ?? 0), 0);
    return clamp(Math.abs(claimed - due), 0, 1);
  });
  return mean(errors);
}

function compare(input: ScoringInput, verdict: Verdict, injectedNs: number) {
  const { topology } = input;
  const truth = troublesOf(input.truth);
  const { faultFound, culprits: named } = remarkedAsNamed(input, verdict, truth);
  // A verdict that finds no fault, or abstains, stands by none of the suspects it may still list.
  const culprits = faultFound === true ? claimsOf(named, truth, topology) : [];
  const answers = assign(truth, culprits, topology);
  const answerSet = culprits.filter(
    (culprit, position) => position < truth.length || culprit.probability >= ANSWER_PROBABILITY,
  );
  const exact = truth.flatMap((_, fault) =>
    answers[fault]?.credit === LADDER.exact ? [answers[fault]] : [],
  );
  const ranks = exact.map(({ position }) => position + 1);
  const reciprocals = answers.map((answer) => (answer?.credit === LADDER.exact ? 1 / answer.rank : 0));
  const hits = new Set(exact.map(({ culprit }) => culprit));
  const right = answerSet.filter((culprit) => hits.has(culprit)).length;
  const onsets = truth.flatMap((entry, fault) => {
    const answer = answers[fault];
    if (answer?.credit !== LADDER.exact) return [];
    return [
      answer.culprit.onset_s === null ? null : Math.abs(answer.culprit.onset_s - entry.fromNs / NS_PER_S),
    ];
  });
  const credited = new Set(
    answers.flatMap((answer) => (answer !== undefined && answer.credit > 0 ? [answer.culprit] : [])),
  );
  const quality = evidenceQuality(input, answerSet, credited, injectedNs);
  return {
    faults: truth.length,
    answers,
    ranks,
    reciprocals,
    figures: {
      elementMatch: mean(answers.map((answer) => (answer === undefined ? 0 : answer.credit / answer.rank))),
      focus: focusOf(culprits, truth.length),
      kind_correct: truth.every(({ kinds }, fault) => isOneOf(kinds, answers[fault]?.culprit.kind)),
      side_correct: truth.every((entry, fault) => sideCorrect(answers[fault]?.culprit, entry)),
      onset_error_s: onsets.length === 0 || onsets.includes(null) ? null : mean(onsets as number[]),
      evidence_coverage: quality.coverage,
      evidence_precision: quality.precision,
      set_f1: (2 * right) / (answerSet.length + truth.length),
      brier: brierScore(culprits, hits, truth.length),
    } satisfies ExplainabilityFigures,
  };
}

/** Explainability of a verdict; all null when there was no diagnosis. */
export function scoreExplainability(input: ScoringInput): Score {
  const { verdict, truth, injectedNs } = input;
  if (verdict === null) return { score: null, metrics: noMetrics() };
  if (truth.length === 0) return scoreControl(input, verdict);
  const fromNs = injectedNs ?? Math.min(...truth.map((entry) => entry.fromNs));
  const { faults, answers, ranks, reciprocals, figures } = compare(input, verdict, fromNs);
  const abstained = verdict.faultFound === null;
  const metrics = {
    top1: accuracyAt(ranks, faults, 1),
    top3: accuracyAt(ranks, faults, 3),
    reciprocal_rank: mean(reciprocals),
    set_f1: figures.set_f1,
    kind_correct: figures.kind_correct,
    side_correct: figures.side_correct,
    onset_error_s: figures.onset_error_s,
    evidence_coverage: figures.evidence_coverage,
    evidence_precision: figures.evidence_precision,
    share_error: shareError(input, answers),
    time_to_explain_s: input.timeToExplainS ?? null,
    // Who abstains states no probability.
    brier: abstained ? null : figures.brier,
    abstained,
  } satisfies Record<(typeof SCORE_METRICS.explainability)[number], MetricValue>;
  const { abstained: abstainedScore } = (input.profile ?? DEFAULT_PROFILE).explainability;
  return { score: abstained ? abstainedScore : explainabilityScore(figures, input.profile), metrics };
}
