/**
 * A page of text for a terminal in the making: headings, wrapped paragraphs, lists, and the evidence of culprits.
 *
 * Shared by the text forms of a scorecard and of a diagnosis alone, so that both look alike.
 */
import type { Culprit, Verdict } from '../../diagnosis/verdict.js';
import { terminalText } from './escape.js';
import { padEnd, painter, wrap } from './layout.js';
import type { Paint } from './layout.js';
import { NOTES_TITLE, REMARKS_TITLE, formatNumber, noteLines, remarkLines } from './words.js';

/** Culprits and evidence lines shown; the JSON format has them all. */
export const CULPRITS_MAX = 3;
const EVIDENCE_LINES_MAX = 8;
const ASIDES_MAX = 8;
/** Stands for a blank at which a line must not break: no-break space. */
const GLUE = '\u00a0';

export interface Page {
  lines: string[];
  width: number;
  paint: Paint;
}

/** An empty page, 60 to 100 columns wide. */
export const newPage = (options: { colour?: boolean; width?: number }): Page => ({
  lines: [],
  width: Math.min(100, Math.max(60, Math.floor(options.width ?? 100))),
  paint: painter(options.colour ?? false),
});

export const pageText = (page: Page): string => `${page.lines.join('\n')}\n`;

export function heading(page: Page, title: string): void {
  page.lines.push('', page.paint('bold', title));
}

export function paragraph(page: Page, text: string, first = '  ', hang?: string): void {
  page.lines.push(...wrap(terminalText(text), page.width, first, hang));
}

/** A command on a line of its own, never wrapped: a terminal copies what it has broken itself, not what a page has. */
export function command(page: Page, label: string, text: string, indent = '  '): void {
  page.lines.push(`${indent}${label}:`, `${indent}  ${terminalText(text)}`);
}

/** A list with commas in which no entry is torn apart at a line's end. */
export function list(page: Page, entries: readonly string[], indent: string, lead = ''): void {
  const glued = entries.map((entry) => terminalText(entry).replaceAll(' ', GLUE)).join(', ');
  page.lines.push(...wrap(lead + glued, page.width, indent).map((line) => line.replaceAll(GLUE, ' ')));
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

/** What the first culprits rest on; nothing when nothing is cited. */
export function evidence(page: Page, verdict: Verdict | null): void {
  const cited = (verdict?.culprits ?? [])
    .slice(0, CULPRITS_MAX)
    .filter((culprit) => culprit.evidence.length > 0);
  if (cited.length === 0) return;
  heading(page, 'Evidence');
  for (const culprit of cited) {
    if (cited.length > 1) paragraph(page, `for #${culprit.rank}, ${culprit.element.id}`);
    citations(page, culprit);
  }
}

/** What stands out and cost nothing, and what the evidence has wrong; nothing where there is neither. */
export function asides(page: Page, verdict: Verdict | null): void {
  const parts = [
    [REMARKS_TITLE, remarkLines(verdict)],
    [NOTES_TITLE, noteLines(verdict)],
  ] as const;
  for (const [title, lines] of parts) {
    if (lines.length === 0) continue;
    heading(page, title);
    for (const line of lines.slice(0, ASIDES_MAX)) paragraph(page, line, '  - ');
    const left = lines.length - ASIDES_MAX;
    if (left > 0) paragraph(page, `and ${left} more in the JSON form`);
  }
}
