/**
 * The wording that all formats share: states, figures with their units, and one plain sentence about a run.
 *
 * A figure that could not be known is written as such, never as 0. Numbers keep four significant digits: more would
 * pretend to a precision that poll intervals do not give; the JSON format has them in full.
 */
import { formatDurationNs } from '../../core/units.js';
import { SCORE_METRIC_DEFINITIONS, scoreMetricDefinition } from '../../scoring/metric-catalog.js';
import type { ScoreMetricDefinition } from '../../scoring/metric-catalog.js';
import type {
  MetricValue,
  ObjectiveResult,
  OutsideDiagnosis,
  PublishedAlignment,
  PublishedTruth,
  RunState,
  Scorecard,
  ScoreName,
} from '../../scoring/scorecard.js';
import type { Culprit, Verdict } from '../../diagnosis/verdict.js';

export const UNKNOWN = 'not known';

/** Four significant digits, without trailing zeros. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return UNKNOWN;
  return Math.abs(value) >= 1000 ? String(Math.round(value)) : String(Number(value.toPrecision(4)));
}

/** A score as people read it: tenths, never rounded up to a pass it did not reach. */
export const formatScore = (score: number | null): string =>
  score === null ? '–' : String(Math.floor(score * 10) / 10);

export const formatSeconds = (seconds: number | null): string =>
  seconds === null ? UNKNOWN : `${formatNumber(seconds)} s`;

export const formatPercent = (ratio: number | null): string =>
  ratio === null ? UNKNOWN : `${formatNumber(ratio * 100)} %`;

/** A value as an objective would compare it, with the unit of its metric: `0.82 s`, `0.05`, `yes`. */
function formatValue(value: MetricValue, definition: ScoreMetricDefinition | undefined): string {
  if (value === null) return UNKNOWN;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const unit = definition?.unit ?? '';
  return unit === '' || unit === 'share' ? formatNumber(value) : `${formatNumber(value)} ${unit}`;
}

/** A value for reading: shares as per cent. */
export const formatFigure = (value: MetricValue, definition: ScoreMetricDefinition): string =>
  typeof value === 'number' && definition.unit === 'share'
    ? formatPercent(value)
    : formatValue(value, definition);

/** Label and value of each raw figure of a score, in published order. */
export function figuresOf(
  scorecard: Scorecard,
  score: ScoreName,
): { definition: ScoreMetricDefinition; value: MetricValue }[] {
  return SCORE_METRIC_DEFINITIONS.filter(
    (definition) => definition.score === score && definition.name !== 'score',
  ).map((definition) => ({ definition, value: scorecard.scores[score].metrics[definition.name] ?? null }));
}

/** The metric that an objective's expression starts with. */
const objectiveDefinition = (objective: ObjectiveResult): ScoreMetricDefinition | undefined =>
  scoreMetricDefinition(/^[^\s<>=!]*/.exec(objective.expression.trim())?.[0] ?? '');

export const formatObjectiveValue = (objective: ObjectiveResult): string =>
  formatValue(objective.value, objectiveDefinition(objective));

const STATE_SENTENCES: Partial<Record<RunState, string>> = {
  passed: 'every objective was met',
  failed: 'an objective was missed',
  inconclusive: 'nothing is proved either way',
  aborted: 'the run was stopped and all was undone',
  error: 'the run could not be finished',
  'rollback-failed': 'a fault may still be in place',
};

/** What a state means, in a few words. */
export const stateSentence = (state: RunState): string => STATE_SENTENCES[state] ?? 'the run is not finished';

/** The diagnosis in one sentence when the diagnoser's own words are missing. */
export function verdictSentence(scorecard: Scorecard): string {
  const { verdict } = scorecard;
  if (verdict === null) return 'There is no diagnosis of this run.';
  if (verdict.answer.trim() !== '') return verdict.answer;
  if (verdict.faultFound === null) return 'The evidence does not suffice to say what happened.';
  if (!verdict.faultFound) return 'No fault was found.';
  const first = verdict.culprits[0];
  return first === undefined
    ? 'A fault was found, without a culprit.'
    : `${first.element.id}: ${first.kind}.`;
}

/** What an operator asks first; nothing where the diagnosis only says who it was. */
export const firstLines = (verdict: Verdict | null): string[] =>
  verdict?.firstLine === undefined ? [] : [verdict.firstLine.text];

/** Heading of what stands out and cost nothing, and of what the evidence itself has wrong. */
export const REMARKS_TITLE = 'Odd, but cost nothing';
export const NOTES_TITLE = 'About the evidence';

export const remarkLines = (verdict: Verdict | null): string[] =>
  (verdict?.remarks ?? []).map(({ text }) => text);

export const noteLines = (verdict: Verdict | null): readonly string[] => verdict?.notes ?? [];

const direction = (text: string): string =>
  text === 'both' ? 'both ways' : `sent by ${text.replace(/^port:/, '')}`;

/** `link-down at link:a--b (cable, both ways), 20 s to 40 s` */
export function truthSentence(truth: PublishedTruth): string {
  const element = truth.elements[0]?.id ?? 'no element';
  return `${truth.kind} at ${element} (${truth.side}, ${direction(truth.direction)}), ${formatSeconds(truth.from_s)} to ${formatSeconds(truth.to_s)}`;
}

/** What a scorecard without truth entries means: a control, or a run that never came to the point of telling. */
export const withoutTruth = ({ verdict }: Pick<Scorecard, 'verdict'>): string =>
  verdict === null ? 'not recorded: the run did not run its course' : 'no fault';

export function culpritSentence(culprit: Culprit): string {
  const onset = culprit.onset_s === null ? 'onset not known' : `since ${formatSeconds(culprit.onset_s)}`;
  return `${culprit.kind} at ${culprit.element.id} (${culprit.side}, ${direction(culprit.direction)}), ${onset}, probability ${formatPercent(culprit.probability)}`;
}

/** `netops (api): link-down at link:a--b; explainability 82.5`, for a line of a report. */
export function diagnosisSentence(diagnosis: OutsideDiagnosis): string {
  const first = diagnosis.named.slice(0, 3).map(({ kind, element }) => `${kind} at ${element.id}`);
  const left = diagnosis.named.length - first.length;
  const named = [...first, ...(left > 0 ? [`${left} more`] : [])].join(', ');
  const said =
    diagnosis.faultFound === true
      ? named === ''
        ? 'a fault without a culprit'
        : named
      : diagnosis.faultFound === false
        ? 'no fault'
        : 'can not tell';
  const score = formatScore(diagnosis.explainability?.score ?? null);
  const late = diagnosis.beforeEnd ? '' : ', given when the truth was out';
  return `${diagnosis.author} (${diagnosis.source}): ${said}; explainability ${score}${late}`;
}

/** `cut began 0 ns after exposed began a collective (at 20.18 s)`, for a line of a report. */
export function alignmentSentence(alignment: PublishedAlignment): string {
  const what =
    alignment.number === null ? `a ${alignment.boundary}` : `${alignment.boundary} ${alignment.number}`;
  const at = `${Number(alignment.began_s.toFixed(6))} s`;
  return `${alignment.fault} began ${formatDurationNs(alignment.error_ns)} after ${alignment.job} began ${what} (at ${at})`;
}

/** How a run is replayed, as far as the scorecard alone tells. */
export const replaySentence = (scorecard: Scorecard): string =>
  `experiment ${scorecard.run.experiment}, fabric ${scorecard.run.fabric}, seed ${scorecard.run.seed}, version ${scorecard.run.version}`;
