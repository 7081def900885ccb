import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { hostileScorecard, passedScorecard } from '../testing/sample-scorecards.js';
import { verdictJson, verdictText } from './verdict.js';

const verdict = passedScorecard.verdict!;
const quiet = {
  ...verdict,
  faultFound: false,
  answer: 'No fault found.',
  culprits: [],
  chain: [],
  ruledOut: [],
};

describe('a diagnosis for a person', () => {
  it('says first whether there is a fault, and then where, how it is felt and why one knows', () => {
    const text = verdictText(verdict);
    expect(text).toMatch(/^FAULT FOUND\n/);
    for (const { element } of verdict.culprits) expect(text).toContain(element.id);
    for (const { claim } of verdict.chain) expect(text.replace(/\s+/g, ' ')).toContain(claim);
    expect(text).toMatch(/^Evidence$/m);
  });

  it('opens with what an operator asks first, where that is told', () => {
    const firstLine = {
      ...{ area: 'network' as const, probability: 0.98, ongoing: true, next: 'look at the cable' },
      text: 'Network (98 %): Link a--b went down; still on. Next: look at the cable.',
    };
    expect(verdictText({ ...verdict, firstLine })).toMatch(/^FAULT FOUND[.] Network \(98 %\): Link a--b/);
  });

  it('is short where nothing is wrong', () => {
    expect(verdictText(quiet)).toBe('NO FAULT\n\nDiagnosis\n  No fault found.\n');
  });

  it('never looks like "no fault" when the evidence does not suffice', () => {
    expect(verdictText({ ...quiet, faultFound: null, answer: '' })).toMatch(/^NOT KNOWN/);
  });

  it('keeps within the page whatever names and words come', () => {
    fc.assert(
      fc.property(hostileScorecard, ({ verdict: any }) => {
        const text = verdictText(any ?? quiet, { width: 80 });
        for (const line of text.split('\n')) expect([...line].length).toBeLessThanOrEqual(80);
        // eslint-disable-next-line no-control-regex -- what must not reach a terminal
        expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
      }),
    );
  });
});

describe('a diagnosis for a program', () => {
  it('is the verdict of the stable interface, keys in order', () => {
    expect(JSON.parse(verdictJson(verdict))).toEqual(verdict);
    expect(Object.keys(JSON.parse(verdictJson(verdict)) as object)).toEqual([
      'faultFound',
      'answer',
      'shareExplained',
      'affectedJobs',
      'aggressors',
      'chain',
      'ruledOut',
      'culprits',
    ]);
  });
});
