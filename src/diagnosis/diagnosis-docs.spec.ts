/** docs/diagnosis.md names every signature and every kind with its sides, so that the table there can't fall behind. */
import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { HYPOTHESES, LIKELIHOODS, THRESHOLDS, kindOf, sideOf } from './likelihoods.js';

const text = readFileSync(new URL('../../docs/diagnosis.md', import.meta.url), 'utf8');
const rows = text.split('\n').filter((line) => line.startsWith('| `'));

it.each(Object.keys(LIKELIHOODS))('names the signature %s', (signature) => {
  expect(text).toContain(`\`${signature}\``);
});

it.each(HYPOTHESES)('has a row for %s', (hypothesis) => {
  const [kind, side] = [kindOf(hypothesis), sideOf(hypothesis)];
  const own = rows.filter((row) => row.split('|')[1].includes(`\`${kind}\``));
  // An unknown side is what is left when no other holds enough of the probability.
  expect(own.some((row) => side === 'unknown' || row.split('|')[3].includes(side))).toBe(true);
});

it('names the thresholds as they are', () => {
  expect(text).toContain(`from a probability of ${THRESHOLDS.name} on`);
  expect(text).toContain(`${100 * THRESHOLDS.coverage} % of the links`);
  expect(text).toContain(`no more than ${100 * THRESHOLDS.unexplainedLoss} %`);
  expect(text).toContain(`no suspect reaches\n${THRESHOLDS.suspect}`);
});
