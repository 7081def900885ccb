/** A parity check for a terminal: the grade first, then a line for each layer. */
import type { ParityResult, ParityVerdict } from '../../scoring/parity/parity.js';
import { padEnd } from '../common/layout.js';
import { command, heading, newPage, pageText, paragraph } from '../common/page.js';
import { cellsOf, COLUMNS, doubtsOf, headline, verdictSentence } from './format.js';
import type { ParityFormat, ParityReportOptions } from './format.js';

const COLOURS: Record<ParityVerdict, 'red' | 'yellow' | 'green'> = {
  differs: 'red',
  inconclusive: 'yellow',
  agrees: 'green',
};
const GAP = 2;

function render(result: ParityResult, options: ParityReportOptions = {}): string {
  const page = newPage(options);
  page.lines.push(page.paint(COLOURS[result.verdict], page.paint('bold', headline(result))));
  paragraph(page, verdictSentence(result));
  for (const { seed, elements } of result.targets) paragraph(page, `seed ${seed}: ${elements.join(', ')}`);
  const rows = [[...COLUMNS], ...result.layers.map(cellsOf)];
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)) + GAP);
  heading(page, 'Layers');
  for (const row of rows) {
    page.lines.push(`  ${row.map((cell, column) => padEnd(cell, widths[column])).join('')}`.trimEnd());
  }
  const doubts = doubtsOf(result);
  if (doubts.length > 0) heading(page, 'In doubt');
  for (const doubt of doubts) paragraph(page, doubt, '  - ');
  heading(page, 'Runs');
  for (const { fabric, driver, runs } of [result.predicted, result.measured]) {
    const told = runs.map(({ id, seed, state }) => `${id} (seed ${seed}, ${state})`);
    paragraph(page, `${fabric} (${driver}): ${told.join(', ')}`);
  }
  if (options.command !== undefined) command(page, 'again', options.command);
  return pageText(page);
}

export const parityText: ParityFormat = { name: 'text', render };
