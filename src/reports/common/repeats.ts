/**
 * Several seeds of one experiment: every run with its state and scores, and each figure's median with its interval.
 *
 * For a person as text, for a program as JSON with all figures. A figure that no seed tells is left out of the text.
 */
import { scoreMetricDefinition } from '../../scoring/metric-catalog.js';
import { SCORE_NAMES, type Repeated, type Scorecard } from '../../scoring/scorecard.js';
import { padEnd } from './layout.js';
import { heading, newPage, pageText, paragraph } from './page.js';
import { formatFigure, formatNumber, formatPercent, formatScore } from './words.js';

/** One scorecard a seed, in order, and what they come to together. */
export interface RepeatedRuns {
  runs: readonly Scorecard[];
  figures: readonly Repeated[];
}

function interval(figure: Repeated): string {
  const { path, median, low, high, confidence, known, of } = figure;
  const definition = scoreMetricDefinition(path)!;
  const seeds = known === of ? '' : `, known for ${known} of ${of}`;
  if (definition.kind === 'boolean') return `${formatPercent(median)} yes${seeds}`;
  const words = [median, low, high].map((value) => formatFigure(value, definition));
  if (low === high) return `${words[0]}${seeds}`;
  return `${words[0]} (${words[1]} to ${words[2]}, ${formatPercent(confidence)} sure)${seeds}`;
}

/** A table of runs and the figures of all of them. */
export function repeatsText(
  { runs, figures }: RepeatedRuns,
  options: { colour?: boolean; width?: number } = {},
): string {
  const page = newPage(options);
  const [{ run }] = runs;
  page.lines.push(page.paint('bold', `${run.experiment} on ${run.fabric}, ${runs.length} seeds`), '');
  const columns = [padEnd('seed', 18), padEnd('state', 16), ...SCORE_NAMES.map((name) => name.padStart(14))];
  page.lines.push(`  ${columns.join(' ')}`);
  for (const { run: one, scores } of runs) {
    const cells = SCORE_NAMES.map((name) => formatScore(scores[name].score).padStart(14));
    page.lines.push(`  ${padEnd(String(one.seed), 18)} ${padEnd(one.state, 16)} ${cells.join(' ')}`);
  }
  for (const name of SCORE_NAMES) {
    const own = figures.filter(({ path, known }) => known > 0 && path.startsWith(`${name}.`));
    if (own.length === 0) continue;
    heading(page, name[0].toUpperCase() + name.slice(1));
    for (const figure of own) {
      const label = figure.path.endsWith('.score') ? 'score' : scoreMetricDefinition(figure.path)!.label;
      paragraph(page, interval(figure), `  ${padEnd(label, 28)} `);
    }
  }
  const reasons = runs.flatMap(({ run: one, reasons: why }) =>
    why.map((reason) => `seed ${one.seed}: ${reason}`),
  );
  if (reasons.length > 0) heading(page, 'Why not passed');
  for (const reason of reasons) paragraph(page, reason, '  - ');
  page.lines.push('', `  ${formatNumber(runs.length)} runs: ${runs.map(({ run: one }) => one.id).join(' ')}`);
  return pageText(page);
}

/** Seeds, runs and figures. */
export const repeatsJson = ({ runs, figures }: RepeatedRuns): string =>
  `${JSON.stringify(
    {
      experiment: runs[0].run.experiment,
      fabric: runs[0].run.fabric,
      version: runs[0].run.version,
      runs: runs.map(({ run, scores, objectives, reasons }) => ({
        id: run.id,
        seed: run.seed,
        state: run.state,
        scores: Object.fromEntries(SCORE_NAMES.map((name) => [name, scores[name].score])),
        objectives,
        reasons,
      })),
      figures,
    },
    null,
    2,
  )}\n`;
