/**
 * The text format: a scorecard that a person reads in a terminal, the verdict first, then what it rests on.
 *
 * Sections: state and reasons, diagnosis, the three scores with the figures behind them, objectives, truth against
 * verdict, evidence, the command that replays the run. Colour only repeats what words and signs already say.
 */
import { SCORE_NAMES } from '../scoring/scorecard.js';
import type { ObjectiveResult, Scorecard, ScoreName } from '../scoring/scorecard.js';
import type { Culprit } from '../diagnosis/verdict.js';
import type { ReportFormat, ReportOptions } from './shared/report.js';
import { terminalText } from './shared/escape.js';
import { bar, padEnd, painter, textWidth, wrap } from './shared/layout.js';
import type { Colour, Paint } from './shared/layout.js';
import {
  UNKNOWN,
  culpritSentence,
  figuresOf,
  formatFigure,
  formatNumber,
  formatObjectiveValue,
  formatScore,
  replaySentence,
  stateSentence,
  truthSentence,
  verdictSentence,
} from './shared/words.js';

const BAR_COLUMNS = 20;
/** Culprits and evidence lines shown; the JSON format has them all. */
const CULPRITS_MAX = 3;
const EVIDENCE_LINES_MAX = 8;
/** Stands for a blank at which a line must not break: no-break space. */
const GLUE = '\u00a0';

interface Page {
  lines: string[];
  width: number;
  paint: Paint;
}

const colourOfScore = (score: number | null): Colour =>
  score === null ? 'dim' : score >= 80 ? 'green' : score >= 40 ? 'yellow' : 'red';

function heading(page: Page, title: string): void {
  page.lines.push('', page.paint('bold', title));
}

function paragraph(page: Page, text: string, first = '  ', hang?: string): void {
  page.lines.push(...wrap(terminalText(text), page.width, first, hang));
}

/** A list with commas in which no entry is torn apart at a line's end. */
function list(page: Page, entries: readonly string[], indent: string, lead = ''): void {
  const glued = entries.map((entry) => terminalText(entry).replaceAll(' ', GLUE)).join(', ');
  page.lines.push(...wrap(lead + glued, page.width, indent).map((line) => line.replaceAll(GLUE, ' ')));
}

function state(page: Page, scorecard: Scorecard): void {
  const { run } = scorecard;
  const colour = run.state === 'passed' ? 'green' : run.state === 'inconclusive' ? 'yellow' : 'red';
  const head = `${run.state.toUpperCase()}: ${stateSentence(run.state)}`;
  page.lines.push(page.paint(colour, head));
  paragraph(page, `${run.experiment} on ${run.fabric} (${run.driver}), seed ${run.seed}`);
  for (const reason of scorecard.reasons) paragraph(page, reason, '  - ');
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
  if (scorecard.truth.length === 0) paragraph(page, 'no fault', '  injected  ');
  for (const truth of scorecard.truth) paragraph(page, truthSentence(truth), '  injected  ');
  const culprits = scorecard.verdict?.culprits ?? [];
  if (culprits.length === 0) paragraph(page, 'nothing', '  named     ');
  for (const culprit of culprits.slice(0, CULPRITS_MAX)) {
    paragraph(page, culpritSentence(culprit), `  named #${culprit.rank}  `);
  }
  if (culprits.length > CULPRITS_MAX)
    paragraph(page, `and ${culprits.length - CULPRITS_MAX} less likely ones`);
}

function citations(page: Page, culprit: Culprit): void {
  const shown = culprit.evidence.slice(0, EVIDENCE_LINES_MAX);
  for (const { metric, element, change, window } of shown) {
    const when = `${formatNumber(window[0])} to ${formatNumber(window[1])} s`;
    paragraph(page, `${metric} of ${element}: ${change}`, `  ${padEnd(when, 16)} `, ' '.repeat(19));
  }
  const left = culprit.evidence.length - shown.length;
  if (left > 0) paragraph(page, `and ${left} more in the JSON report`);
}

function evidence(page: Page, scorecard: Scorecard): void {
  const cited = (scorecard.verdict?.culprits ?? [])
    .slice(0, CULPRITS_MAX)
    .filter((culprit) => culprit.evidence.length > 0);
  if (cited.length === 0) return;
  heading(page, 'Evidence');
  for (const culprit of cited) {
    if (cited.length > 1) paragraph(page, `for #${culprit.rank}, ${culprit.element.id}`);
    citations(page, culprit);
  }
}

function render(scorecard: Scorecard, options: ReportOptions = {}): string {
  const width = Math.min(100, Math.max(60, Math.floor(options.width ?? 100)));
  const page: Page = { lines: [], width, paint: painter(options.colour ?? false) };
  state(page, scorecard);
  heading(page, 'Diagnosis');
  paragraph(page, verdictSentence(scorecard));
  heading(page, 'Scores');
  for (const name of SCORE_NAMES) score(page, scorecard, name);
  objectives(page, scorecard);
  comparison(page, scorecard);
  evidence(page, scorecard);
  heading(page, 'Reproduce');
  // Not wrapped: a command is copied whole.
  if (options.reproduceCommand !== undefined) page.lines.push(`  ${terminalText(options.reproduceCommand)}`);
  else paragraph(page, replaySentence(scorecard));
  return `${page.lines.join('\n')}\n`;
}

export const text: ReportFormat = {
  name: 'text',
  extension: 'txt',
  mediaType: 'text/plain',
  summary: 'a scorecard for a person in a terminal',
  render,
};
