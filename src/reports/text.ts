/**
 * The text format: a scorecard that a person reads in a terminal, the verdict first, then what it rests on.
 *
 * Sections: state and reasons, diagnosis, the three scores with the figures behind them, objectives, truth against
 * verdict, evidence, the command that replays the run. Colour only repeats what words and signs already say.
 */
import { SCORE_NAMES } from '../scoring/scorecard.js';
import type { ObjectiveResult, Scorecard, ScoreName } from '../scoring/scorecard.js';
import type { ReportFormat, ReportOptions } from './common/report.js';
import { terminalText } from './common/escape.js';
import { bar, padEnd, textWidth, wrap } from './common/layout.js';
import type { Colour } from './common/layout.js';
import {
  CULPRITS_MAX,
  asides,
  evidence,
  heading,
  list,
  newPage,
  pageText,
  paragraph,
} from './common/page.js';
import type { Page } from './common/page.js';
import {
  UNKNOWN,
  alignmentSentence,
  culpritSentence,
  diagnosisSentence,
  figuresOf,
  firstLines,
  formatFigure,
  formatObjectiveValue,
  formatScore,
  replaySentence,
  stateSentence,
  truthSentence,
  verdictSentence,
  withoutTruth,
} from './common/words.js';

const BAR_COLUMNS = 20;

const colourOfScore = (score: number | null): Colour =>
  score === null ? 'dim' : score >= 80 ? 'green' : score >= 40 ? 'yellow' : 'red';

function state(page: Page, scorecard: Scorecard): void {
  const { run } = scorecard;
  const colour = run.state === 'passed' ? 'green' : run.state === 'inconclusive' ? 'yellow' : 'red';
  const head = `${run.state.toUpperCase()}: ${stateSentence(run.state)}`;
  page.lines.push(page.paint(colour, head));
  paragraph(page, `${run.experiment} on ${run.fabric} (${run.driver}), seed ${run.seed}`);
  for (const reason of scorecard.reasons) paragraph(page, reason, '  - ');
  for (const note of scorecard.notes ?? []) paragraph(page, `Note: ${note}`);
}

function score(page: Page, scorecard: Scorecard, name: ScoreName): void {
  const value = scorecard.scores[name].score;
  const title = padEnd(name[0].toUpperCase() + name.slice(1), 15);
  const painted = page.paint(
    colourOfScore(value),
    `${bar(value, BAR_COLUMNS)} ${formatScore(value).padStart(5)}`,
  );
  page.lines.push(`  ${title}${painted}${value === null ? ` ${UNKNOWN}` : ' of 100'}`);
  const figures = figuresOf(scorecard, name);
  const known = figures
    .filter((figure) => figure.value !== null)
    .map((figure) => `${figure.definition.label} ${formatFigure(figure.value, figure.definition)}`);
  const unknown = figures.filter((figure) => figure.value === null).map((figure) => figure.definition.label);
  const indent = ' '.repeat(17);
  if (known.length > 0) list(page, known, indent);
  if (known.length > 0 && unknown.length > 0) list(page, unknown, indent, `${UNKNOWN}: `);
}

const SIGNS: Record<string, readonly [string, Colour]> = {
  true: ['✓', 'green'],
  false: ['✗', 'red'],
  null: ['–', 'yellow'],
};

function objective(page: Page, result: ObjectiveResult, columns: number): void {
  const [sign, colour] = SIGNS[String(result.passed)];
  const measured = result.passed === null ? 'could not be known' : `measured ${formatObjectiveValue(result)}`;
  const expression = terminalText(result.expression);
  const prefix = `  ${page.paint(colour, sign)} `;
  if (textWidth(expression) <= columns) {
    page.lines.push(`${prefix}${padEnd(expression, columns)}  ${measured}`);
    return;
  }
  const [first, ...rest] = wrap(expression, page.width, '    ');
  page.lines.push(`${prefix}${first.slice(4)}`, ...rest, `    ${measured}`);
}

function objectives(page: Page, scorecard: Scorecard): void {
  heading(page, 'Objectives');
  if (scorecard.objectives.length === 0) return paragraph(page, 'none stated');
  const longest = Math.max(
    ...scorecard.objectives.map(({ expression }) => [...terminalText(expression)].length),
  );
  const columns = Math.min(longest, page.width - 40);
  for (const result of scorecard.objectives) objective(page, result, columns);
}

function comparison(page: Page, scorecard: Scorecard): void {
  heading(page, 'Truth and verdict');
  if (scorecard.truth.length === 0) paragraph(page, withoutTruth(scorecard), '  injected  ');
  for (const truth of scorecard.truth) paragraph(page, truthSentence(truth), '  injected  ');
  for (const one of scorecard.alignments ?? []) paragraph(page, alignmentSentence(one), '  aligned   ');
  const culprits = scorecard.verdict?.culprits ?? [];
  if (culprits.length === 0) paragraph(page, 'nothing', '  named     ');
  for (const culprit of culprits.slice(0, CULPRITS_MAX)) {
    paragraph(page, culpritSentence(culprit), `  named #${culprit.rank}  `);
  }
  if (culprits.length > CULPRITS_MAX)
    paragraph(page, `and ${culprits.length - CULPRITS_MAX} less likely ones`);
}

function outside(page: Page, scorecard: Scorecard): void {
  const diagnoses = scorecard.diagnoses ?? [];
  if (diagnoses.length === 0) return;
  heading(page, 'What others said');
  for (const diagnosis of diagnoses) paragraph(page, diagnosisSentence(diagnosis), '  - ');
}

function render(scorecard: Scorecard, options: ReportOptions = {}): string {
  const page = newPage(options);
  state(page, scorecard);
  heading(page, 'Diagnosis');
  for (const line of firstLines(scorecard.verdict)) paragraph(page, line);
  paragraph(page, verdictSentence(scorecard));
  asides(page, scorecard.verdict);
  heading(page, 'Scores');
  for (const name of SCORE_NAMES) score(page, scorecard, name);
  objectives(page, scorecard);
  comparison(page, scorecard);
  evidence(page, scorecard.verdict);
  outside(page, scorecard);
  heading(page, 'Reproduce');
  // Not wrapped: a command is copied whole.
  if (options.reproduceCommand !== undefined) page.lines.push(`  ${terminalText(options.reproduceCommand)}`);
  else paragraph(page, replaySentence(scorecard));
  return pageText(page);
}

export const text: ReportFormat = {
  name: 'text',
  extension: 'txt',
  mediaType: 'text/plain',
  summary: 'a scorecard for a person in a terminal',
  render,
};
