/**
 * The JSON format: the scorecard of the stable interface, two blanks deep, keys in the published order.
 *
 * Keys are written in a fixed order whatever the order in which the object was built, so that the same run gives the
 * same bytes. A figure that could not be known is null, and so is a number that JSON can't hold.
 */
import { SCORE_METRICS, SCORE_NAMES } from '../scoring/scorecard.js';
import type { OutsideDiagnosis, PublishedAlignment, Scorecard } from '../scoring/scorecard.js';
import type { CitedEvidence, FirstLine, Remark, Verdict } from '../diagnosis/verdict.js';
import type { ElementRef } from '../core/elements.js';
import type { ReportFormat } from './common/report.js';

const element = ({ type, id }: ElementRef) => ({ type, id });

const cited = ({ metric, element: id, change, window }: CitedEvidence) => ({
  metric,
  element: id,
  change,
  window,
});

const firstLine = ({ area, probability, ongoing, next, text }: FirstLine) => ({
  area,
  probability,
  ongoing,
  next,
  text,
});

const remark = ({ kind, element: ref, side, from_s, to_s, text, evidence }: Remark) => ({
  kind,
  element: element(ref),
  ...(side === undefined ? {} : { side }),
  ...(from_s === undefined ? {} : { from_s }),
  ...(to_s === undefined ? {} : { to_s }),
  text,
  evidence: evidence.map(cited),
});

/** The verdict as a plain object with every key of the stable interface, in its order. */
export function orderedVerdict(verdict: Verdict) {
  return {
    faultFound: verdict.faultFound,
    ...(verdict.firstLine === undefined ? {} : { firstLine: firstLine(verdict.firstLine) }),
    answer: verdict.answer,
    shareExplained: verdict.shareExplained,
    affectedJobs: verdict.affectedJobs,
    aggressors: verdict.aggressors.map(element),
    chain: verdict.chain.map((step) => ({
      element: element(step.element),
      claim: step.claim,
      onset_s: step.onset_s,
    })),
    ruledOut: verdict.ruledOut.map(({ kind, element: ref, why }) => ({ kind, element: element(ref), why })),
    culprits: verdict.culprits.map((culprit) => ({
      rank: culprit.rank,
      kind: culprit.kind,
      element: element(culprit.element),
      side: culprit.side,
      direction: culprit.direction,
      onset_s: culprit.onset_s,
      lostTimeShare: culprit.lostTimeShare,
      probability: culprit.probability,
      evidence: culprit.evidence.map(cited),
    })),
    ...(verdict.remarks === undefined ? {} : { remarks: verdict.remarks.map(remark) }),
    ...(verdict.notes === undefined ? {} : { notes: verdict.notes }),
  };
}

const orderedDiagnosis = (diagnosis: OutsideDiagnosis) => ({
  id: diagnosis.id,
  source: diagnosis.source,
  author: diagnosis.author,
  beforeEnd: diagnosis.beforeEnd,
  faultFound: diagnosis.faultFound,
  named: diagnosis.named.map(({ kind, element: ref }) => ({ kind, element: element(ref) })),
  explainability: diagnosis.explainability,
});

const orderedAlignment = (alignment: PublishedAlignment) => ({
  fault: alignment.fault,
  job: alignment.job,
  boundary: alignment.boundary,
  number: alignment.number,
  began_s: alignment.began_s,
  error_ns: alignment.error_ns,
});

/** The scorecard as a plain object with every key of the stable interface, in its order. */
function orderedScorecard(scorecard: Scorecard) {
  const { run } = scorecard;
  return {
    run: {
      id: run.id,
      experiment: run.experiment,
      fabric: run.fabric,
      driver: run.driver,
      seed: run.seed,
      state: run.state,
      version: run.version,
      startedAt: run.startedAt,
      endedAt: run.endedAt,
    },
    scores: Object.fromEntries(
      SCORE_NAMES.map((name) => {
        const { score, metrics } = scorecard.scores[name];
        const ordered = SCORE_METRICS[name].map((metric) => [metric, metrics[metric] ?? null]);
        return [name, { score, metrics: Object.fromEntries(ordered) as Record<string, unknown> }];
      }),
    ),
    objectives: scorecard.objectives.map(({ expression, value, passed }) => ({ expression, value, passed })),
    verdict: scorecard.verdict === null ? null : orderedVerdict(scorecard.verdict),
    truth: scorecard.truth.map((truth) => ({
      kind: truth.kind,
      elements: truth.elements.map(element),
      side: truth.side,
      direction: truth.direction,
      from_s: truth.from_s,
      to_s: truth.to_s,
    })),
    reasons: scorecard.reasons,
    ...(scorecard.notes === undefined ? {} : { notes: scorecard.notes }),
    ...(scorecard.alignments === undefined ? {} : { alignments: scorecard.alignments.map(orderedAlignment) }),
    ...(scorecard.diagnoses === undefined ? {} : { diagnoses: scorecard.diagnoses.map(orderedDiagnosis) }),
  };
}

export const json: ReportFormat = {
  name: 'json',
  extension: 'json',
  mediaType: 'application/json',
  summary: 'the scorecard as a machine reads it',
  render: (scorecard) => `${JSON.stringify(orderedScorecard(scorecard), null, 2)}\n`,
};
