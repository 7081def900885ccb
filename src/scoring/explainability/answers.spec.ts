/** Which culprit answers for which fault, and what of an answer is worth how much. */
import { describe, expect, it } from '@jest/globals';
import type { ElementRef } from '../../core/elements.js';
import type { Culprit } from '../../diagnosis/verdict.js';
import { focusOf, scoreExplainability } from './explainability.js';
import { scoringProfileSchema } from '../profile.js';
import {
  LEAF_PORT,
  SIBLING_LINK,
  SPINE_PORT,
  drill,
  rightCulprit,
  truth,
} from '../testing/synthetic-drill.js';
import { plainVerdict } from '../../diagnosis/verdict.js';

const link = (id: string): ElementRef => ({ type: 'link', id });
const wrong: Culprit = { ...rightCulprit, element: link(SIBLING_LINK), evidence: [] };
const ranked = (...culprits: Culprit[]) => culprits.map((culprit, at) => ({ ...culprit, rank: at + 1 }));
const scored = (culprits: Culprit[]) =>
  scoreExplainability(drill({}, { verdict: plainVerdict(ranked(...culprits)) }));

describe('near misses', () => {
  const port = { type: 'queue' as const, id: `queue:${LEAF_PORT}/3` };
  const match = (...culprits: Culprit[]): number => {
    const kindless = scoringProfileSchema.parse({ explainability: { weights: { kind: 0, element: 1 } } });
    const bare = culprits.map((culprit) => ({ ...culprit, probability: 0.2, evidence: [] }));
    const verdict = plainVerdict(ranked(...bare));
    return scoreExplainability(drill({}, { verdict, profile: kindless })).score!;
  };

  it('are worth their credit by rank: the best of all answers counts', () => {
    const near = { ...rightCulprit, element: port };
    expect(match(near) / match(rightCulprit)).toBeGreaterThan(0.6);
    expect(match(near)).toBeLessThan(match(rightCulprit));
    expect(match(wrong, near)).toBeLessThan(match(near));
    // 0.8 first is more than 1 at rank 2
    expect(match(near, rightCulprit)).toBeGreaterThan(match(wrong, rightCulprit));
    expect(match(wrong)).toBe(0);
  });

  it('are no answer to ranking figures, onset or F1', () => {
    const { metrics } = scored([{ ...rightCulprit, element: port }]);
    expect(metrics).toMatchObject({ top1: 0, reciprocal_rank: 0, set_f1: 0, onset_error_s: null });
    expect(metrics.brier).toBeCloseTo(0.95 ** 2, 9);
  });
});

describe('two faults of one element', () => {
  const optic = { ...truth, kind: 'optic-error' as const };
  const answered = (second: Partial<typeof truth>, ...culprits: Partial<Culprit>[]) =>
    scoreExplainability(
      drill(
        {},
        {
          truth: [optic, { ...optic, ...second }],
          verdict: plainVerdict(
            ranked(
              ...culprits.map((one) => ({
                ...rightCulprit,
                kind: 'optic-error' as const,
                onset_s: truth.fromNs / 1e9,
                ...one,
              })),
            ),
          ),
        },
      ),
    ).metrics;

  it('go to the culprit of their direction, whatever its onset', () => {
    const [there, back] = [`port:${LEAF_PORT}`, `port:${SPINE_PORT}`] as const;
    const first = { direction: there, onset_s: 1 };
    const second = { direction: back, onset_s: 20 };
    for (const order of [
      [first, second],
      [second, first],
    ]) {
      const metrics = scoreExplainability(
        drill(
          {},
          {
            truth: [
              { ...optic, direction: there },
              { ...optic, direction: back },
            ],
            verdict: plainVerdict(
              ranked(...order.map((one) => ({ ...rightCulprit, kind: 'optic-error' as const, ...one }))),
            ),
          },
        ),
      ).metrics;
      expect(metrics).toMatchObject({ kind_correct: true, side_correct: true });
      expect(metrics.onset_error_s).toBeCloseTo(9.5, 9);
    }
  });

  it('go to the culprit of the nearer onset where it names neither of them', () => {
    const later = { kind: 'link-down' as const, fromNs: truth.fromNs + 10e9 };
    const incast = (onset_s: number | null) => ({ kind: 'incast' as const, onset_s });
    expect(answered(later, incast(29), incast(21)).onset_error_s).toBeCloseTo(1, 9);
    expect(answered(later, incast(21), incast(29)).onset_error_s).toBeCloseTo(1, 9);
  });

  it('go to the culprit of their kind, though the sides are mixed up, and to that of their side before its onset', () => {
    const down = { kind: 'link-down' as const, side: 'switch' as const };
    const mixed = answered(down, { side: 'switch' }, { kind: 'link-down', side: 'cable' });
    expect(mixed).toMatchObject({ kind_correct: true, side_correct: false });
    const later = { ...down, fromNs: truth.fromNs + 10e9 };
    const incast = (side: Culprit['side'], onset_s: number) => ({ kind: 'incast' as const, side, onset_s });
    expect(answered(later, incast('switch', 20), incast('cable', 30)).side_correct).toBe(true);
  });

  it('are both named only where both are', () => {
    const down = { kind: 'link-down' as const };
    const other = { kind: 'incast' as const, side: 'switch' as const };
    expect(answered(down, {}, other)).toMatchObject({ kind_correct: false, side_correct: false });
    expect(answered(down, {})).toMatchObject({ kind_correct: false, side_correct: false });
  });

  it('have no onset error where one onset is not named', () => {
    const down = { kind: 'link-down' as const };
    expect(answered(down, {}, { kind: 'link-down', onset_s: null }).onset_error_s).toBeNull();
    expect(answered(down, {}, { kind: 'link-down', onset_s: 24 }).onset_error_s).toBeCloseTo(2, 9);
  });
});

describe('probabilities', () => {
  it('are judged over as many first ranks as there are faults; what is not named has none', () => {
    const second = { ...truth, elements: [link(SIBLING_LINK)] };
    const brier = (...culprits: Culprit[]) =>
      scoreExplainability(drill({}, { truth: [truth, second], verdict: plainVerdict(ranked(...culprits)) }))
        .metrics.brier;
    const sure = { ...rightCulprit, probability: 0.9 };
    expect(brier(sure)).toBeCloseTo((0.01 + 1) / 2, 9);
    expect(brier(sure, { ...wrong, probability: 0.7 })).toBeCloseTo((0.01 + 0.09) / 2, 9);
    expect(brier(sure, { ...wrong, probability: 0.7 }, { ...wrong, probability: 1 })).toBeCloseTo(0.05, 9);
    expect(brier()).toBe(1);
  });

  it('beyond the faults make no answer wider until they add up to more', () => {
    const of = (...all: number[]) =>
      focusOf(
        all.map((probability) => ({ ...wrong, probability })),
        1,
      );
    expect([of(), of(0.4), of(0.5, 0.5), of(1, 1), of(1, 0.6)]).toEqual([1, 1, 1, 0.5, 0.625]);
    expect(focusOf([wrong, wrong], 2)).toBe(1);
  });
});

describe('shares of lost time', () => {
  const error = (claimed: number | null, shares: number[], faults = [truth]) =>
    scoreExplainability(
      drill(
        {},
        {
          truth: faults,
          lostTimeShares: shares,
          verdict: plainVerdict([{ ...rightCulprit, lostTimeShare: claimed }]),
        },
      ),
    ).metrics.share_error;

  it('are off by the distance, one that is not claimed or not named by all of it', () => {
    expect(error(0.25, [1])).toBe(0.75);
    expect(error(1, [0.25])).toBe(0.75);
    expect(error(null, [0.5])).toBe(0.5);
    const second = { ...truth, elements: [link(SIBLING_LINK)] };
    expect(error(0.5, [0.5, 0.5], [truth, second])).toBe(0.25);
    expect(error(0.5, [0.5], [truth, second])).toBe(0);
  });
});

it('citations for what is no fault cover nothing', () => {
  const { metrics } = scored([{ ...wrong, evidence: rightCulprit.evidence }]);
  expect(metrics).toMatchObject({ evidence_coverage: 0, evidence_precision: null });
});

it('without an injection the truth says since when to look', () => {
  const later = { ...truth, elements: [link(SIBLING_LINK)], fromNs: truth.fromNs + 5e9 };
  const known = { truth: [later, truth], verdict: plainVerdict([rightCulprit]) };
  expect(scoreExplainability(drill({}, { ...known, injectedNs: null }))).toEqual(
    scoreExplainability(drill({}, known)),
  );
});
