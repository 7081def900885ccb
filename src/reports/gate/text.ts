/** A gate's result for a terminal: the verdict first, then each objective with what it rests on. */
import type { CellResult, GateResult, GateVerdict, ObjectiveVerdict } from '../../comparison/result.js';
import { padEnd } from '../common/layout.js';
import { command, heading, newPage, pageText, paragraph, type Page } from '../common/page.js';
import {
  amount,
  comparedWith,
  headline,
  replayOf,
  VERDICT_SENTENCES,
  type GateFormat,
  type GateReportOptions,
} from './format.js';

const COLOURS: Record<GateVerdict, 'red' | 'yellow' | 'green'> = {
  regression: 'red',
  inconclusive: 'yellow',
  none: 'green',
};

function cell(page: Page, one: CellResult, objective: ObjectiveVerdict, options: GateReportOptions): void {
  const label = page.paint(COLOURS[one.verdict], padEnd(one.verdict, 13));
  const figures =
    one.meanCandidate === null
      ? ''
      : one.meanBaseline === null
        ? `candidate ${amount(one.meanCandidate, objective)}`
        : `${amount(one.meanBaseline, objective)} → ${amount(one.meanCandidate, objective)}, ${comparedWith(one, objective)}`;
  page.lines.push(`    ${label} ${padEnd(one.experiment, 24)} ${figures}`.trimEnd());
  if (one.verdict === 'none') return;
  paragraph(page, one.reason, '                  ');
  const replay = replayOf(one, options);
  if (replay !== undefined) command(page, 'replay', replay, '                  ');
}

function render(result: GateResult, options: GateReportOptions = {}): string {
  const page = newPage(options);
  const { gate, verdict, objectives } = result;
  page.lines.push(page.paint(COLOURS[verdict], page.paint('bold', headline(result))));
  paragraph(
    page,
    `${VERDICT_SENTENCES[verdict]}; level ${gate.alpha}, up to ${gate.seeds} seeds from ${gate.firstSeed}`,
  );
  heading(page, 'Objectives');
  for (const objective of objectives) {
    page.lines.push(`  ${page.paint(COLOURS[objective.verdict], objective.verdict)}: ${objective.name}`);
    for (const one of objective.experiments) cell(page, one, objective, options);
  }
  if (result.differences.length > 0) heading(page, 'What differs');
  for (const line of result.differences) paragraph(page, line, '  - ');
  for (const note of result.notes) paragraph(page, `note: ${note}`);
  const { runs, fromCache } = result.run;
  page.lines.push('', `  ${runs} runs, ${fromCache} of them known from before; version ${gate.version}`);
  if (options.command !== undefined) command(page, 'again', options.command);
  return pageText(page);
}

export const gateText: GateFormat = {
  name: 'text',
  extension: 'txt',
  mediaType: 'text/plain',
  summary: 'for a person at a terminal',
  render,
};
