/**
 * The Markdown format: a job summary for a pipeline or a comment on a change, verdict first, details folded away.
 *
 * Written for GitHub and GitLab: tables, `<details>`, plain titles; a few kilobytes, far below the 1 MiB that GitHub
 * allows for a step. Evidence lines are capped, the JSON format has them all.
 */
import { SCORE_NAMES } from '../scoring/scorecard.js';
import type { Scorecard } from '../scoring/scorecard.js';
import type { ReportFormat, ReportOptions } from './common/report.js';
import { markdownCode, markdownText } from './common/escape.js';
import { table } from './common/markdown-table.js';
import {
  alignmentSentence,
  culpritSentence,
  diagnosisSentence,
  NOTES_TITLE,
  REMARKS_TITLE,
  figuresOf,
  firstLines,
  formatFigure,
  formatObjectiveValue,
  formatScore,
  formatSeconds,
  noteLines,
  remarkLines,
  replaySentence,
  stateSentence,
  truthSentence,
  verdictSentence,
  withoutTruth,
} from './common/words.js';

/** Evidence lines shown for one culprit. */
const EVIDENCE_LINES_MAX = 20;

const MARK = { true: '✅ met', false: '❌ missed', null: '➖ not known' } as const;

function details(summary: string, body: readonly string[]): string[] {
  return ['<details>', `<summary>${summary}</summary>`, '', ...body, '</details>', ''];
}

function objectives(scorecard: Scorecard): string[] {
  if (scorecard.objectives.length === 0) return [];
  return [
    '### Objectives',
    '',
    ...table(
      ['Result', 'Objective', 'Measured'],
      scorecard.objectives.map((objective) => [
        MARK[`${objective.passed}`],
        markdownCode(objective.expression),
        markdownText(formatObjectiveValue(objective)),
      ]),
    ),
  ];
}

function evidence(scorecard: Scorecard): string[] {
  return (scorecard.verdict?.culprits ?? []).flatMap((culprit) => {
    const shown = culprit.evidence.slice(0, EVIDENCE_LINES_MAX);
    const left = culprit.evidence.length - shown.length;
    return [
      `Rank ${culprit.rank}: ${markdownText(culpritSentence(culprit))}`,
      '',
      ...table(
        ['Metric', 'Element', 'Change', 'Window'],
        shown.map(({ metric, element, change, window }) => [
          markdownCode(metric),
          markdownCode(element),
          markdownText(change),
          `${formatSeconds(window[0])} to ${formatSeconds(window[1])}`,
        ]),
      ),
      ...(left > 0 ? [`${left} more in the JSON report.`, ''] : []),
    ];
  });
}

function comparison(scorecard: Scorecard): string[] {
  const injected = scorecard.truth.map((truth) => `- Injected: ${markdownText(truthSentence(truth))}`);
  const named = (scorecard.verdict?.culprits ?? []).map(
    (culprit) => `- Named at rank ${culprit.rank}: ${markdownText(culpritSentence(culprit))}`,
  );
  return [
    ...(injected.length > 0 ? injected : [`- Injected: ${withoutTruth(scorecard)}`]),
    ...(scorecard.alignments ?? []).map((one) => `- Aligned: ${markdownText(alignmentSentence(one))}`),
    ...(named.length > 0 ? named : ['- Named: nothing']),
    '',
  ];
}

function asides({ verdict }: Scorecard): string[] {
  const parts = [
    [REMARKS_TITLE, remarkLines(verdict)],
    [NOTES_TITLE, noteLines(verdict)],
  ] as const;
  return parts.flatMap(([title, lines]) =>
    lines.length === 0 ? [] : [`**${title}**`, '', ...lines.map((line) => `- ${markdownText(line)}`), ''],
  );
}

function outside(scorecard: Scorecard): string[] {
  const lines = (scorecard.diagnoses ?? []).map((one) => `- ${markdownText(diagnosisSentence(one))}`);
  return lines.length === 0 ? [] : details('What others said', [...lines, '']);
}

function render(scorecard: Scorecard, options: ReportOptions = {}): string {
  const { run } = scorecard;
  const figures = SCORE_NAMES.flatMap((score) =>
    figuresOf(scorecard, score).map(({ definition, value }) => [
      score,
      markdownText(definition.description),
      markdownCode(definition.path),
      markdownText(formatFigure(value, definition)),
    ]),
  );
  const lines = [
    `## fabricdrill: ${run.state}, ${markdownText(run.experiment)} on ${markdownText(run.fabric)}`,
    '',
    `**${run.state}**: ${stateSentence(run.state)}.`,
    '',
    ...(scorecard.reasons.length > 0
      ? [...scorecard.reasons.map((reason) => `- ${markdownText(reason)}`), '']
      : []),
    ...(scorecard.notes ?? []).flatMap((note) => [`**Note**: ${markdownText(note)}`, '']),
    ...firstLines(scorecard.verdict).flatMap((line) => [`**${markdownText(line)}**`, '']),
    `**Diagnosis**: ${markdownText(verdictSentence(scorecard))}`,
    '',
    ...asides(scorecard),
    ...table(
      SCORE_NAMES.map((name) => name[0].toUpperCase() + name.slice(1)),
      [SCORE_NAMES.map((name) => formatScore(scorecard.scores[name].score))],
    ),
    ...objectives(scorecard),
    ...details('Truth and verdict', comparison(scorecard)),
    ...outside(scorecard),
    ...details('Raw figures', table(['Score', 'Figure', 'Metric', 'Value'], figures)),
    ...(evidence(scorecard).length > 0 ? details('Evidence', evidence(scorecard)) : []),
    `Reproduce: ${markdownCode(options.reproduceCommand ?? replaySentence(scorecard))}`,
  ];
  return `${lines.join('\n')}\n`;
}

export const markdown: ReportFormat = {
  name: 'markdown',
  extension: 'md',
  mediaType: 'text/markdown',
  summary: 'a job summary for a pipeline or a comment on a change',
  render,
};
