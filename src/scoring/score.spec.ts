import { expect, it } from '@jest/globals';
import { publishTruth } from './score.js';
import { INJECTED_S, REVERTED_S, truth } from './testing/synthetic-drill.js';

it('the truth is published in seconds, with all names of what was hurt', () => {
  expect(publishTruth([truth])).toEqual([
    {
      kind: 'link-down',
      elements: truth.elements,
      side: 'cable',
      direction: 'both',
      from_s: INJECTED_S,
      to_s: REVERTED_S,
    },
  ]);
});
