/**
 * A diagnosis alone, without drill and scores: for a person, or the verdict of the stable interface as JSON.
 *
 * The order follows the questions: is something wrong, what, how does it come to be felt, what is it not, and how does
 * one know.
 */
import type { Verdict } from '../../diagnosis/verdict.js';
import { orderedVerdict } from '../json.js';
import { CULPRITS_MAX, asides, evidence, heading, newPage, pageText, paragraph } from './page.js';
import { wrap } from './layout.js';
import { terminalText } from './escape.js';
import type { Page } from './page.js';
import { culpritSentence, firstLines, formatPercent, formatSeconds } from './words.js';

/** What is said of a diagnosis before its own words; the rest only where it has no first line. */
const HEADS = {
  true: ['red', 'FAULT FOUND', ''],
  false: ['green', 'NO FAULT', ''],
  null: ['yellow', 'NOT KNOWN', ': the evidence does not suffice to say'],
} as const;
/** Excluded causes shown; the JSON form has them all. */
const RULED_OUT_MAX = 8;

function culprits(page: Page, verdict: Verdict): void {
  if (verdict.culprits.length === 0) return;
  heading(page, 'Culprits');
  for (const culprit of verdict.culprits.slice(0, CULPRITS_MAX)) {
    const share =
      culprit.lostTimeShare === null ? '' : `, ${formatPercent(culprit.lostTimeShare)} of the lost GPU time`;
    paragraph(page, `${culpritSentence(culprit)}${share}`, `  #${culprit.rank}  `);
  }
  const left = verdict.culprits.length - CULPRITS_MAX;
  if (left > 0) paragraph(page, `and ${left} less likely ones`);
  if (verdict.affectedJobs.length > 0) paragraph(page, `affected jobs: ${verdict.affectedJobs.join(', ')}`);
  if (verdict.aggressors.length > 0)
    paragraph(page, `caused by: ${verdict.aggressors.map(({ id }) => id).join(', ')}`);
}

function chain(page: Page, verdict: Verdict): void {
  if (verdict.chain.length === 0) return;
  heading(page, 'From symptom to cause');
  for (const { element, claim, onset_s } of verdict.chain) {
    const since = onset_s === null ? '' : `, since ${formatSeconds(onset_s)}`;
    paragraph(page, `${element.id}: ${claim}${since}`, '  ← ', '    ');
  }
}

function ruledOut(page: Page, verdict: Verdict): void {
  if (verdict.ruledOut.length === 0) return;
  heading(page, 'Ruled out');
  for (const { kind, element, why } of verdict.ruledOut.slice(0, RULED_OUT_MAX)) {
    paragraph(page, `${kind} at ${element.id}: ${why}`, '  - ');
  }
  const left = verdict.ruledOut.length - RULED_OUT_MAX;
  if (left > 0) paragraph(page, `and ${left} more in the JSON form`);
}

/** A diagnosis for a person in a terminal. */
export function verdictText(verdict: Verdict, options: { colour?: boolean; width?: number } = {}): string {
  const page = newPage(options);
  const [colour, head, rest] = HEADS[`${verdict.faultFound}`];
  const [first] = firstLines(verdict);
  const line = first === undefined ? `${head}${rest}` : `${head}. ${first}`;
  page.lines.push(...wrap(terminalText(line), page.width, '').map((part) => page.paint(colour, part)));
  heading(page, 'Diagnosis');
  paragraph(page, verdict.answer.trim() === '' ? 'without a word of explanation' : verdict.answer);
  culprits(page, verdict);
  chain(page, verdict);
  asides(page, verdict);
  ruledOut(page, verdict);
  evidence(page, verdict);
  return pageText(page);
}

/** The verdict of the stable interface, two blanks deep, keys in the published order. */
export const verdictJson = (verdict: Verdict): string =>
  `${JSON.stringify(orderedVerdict(verdict), null, 2)}\n`;
