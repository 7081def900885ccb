import { describe, expect, it } from '@jest/globals';
import { plainVerdict } from '../../diagnosis/verdict.js';
import type { Culprit } from '../../diagnosis/verdict.js';
import { scoreExplainability } from './explainability.js';
import { drill, rightCulprit, truth } from '../testing/synthetic-drill.js';

const ranked = (...culprits: Culprit[]) => culprits.map((culprit, at) => ({ ...culprit, rank: at + 1 }));

describe('several faults of one element', () => {
  const other = {
    ...truth,
    kind: 'optic-error' as const,
    fromNs: truth.fromNs + 15e9,
    toNs: truth.toNs + 15e9,
  };
  const again = { ...truth, fromNs: truth.fromNs + 15e9, toNs: truth.toNs + 15e9 };
  const optic: Culprit = { ...rightCulprit, kind: 'optic-error', onset_s: other.fromNs / 1e9 };
  const against = (truths: (typeof truth | typeof other)[], ...culprits: Culprit[]) =>
    scoreExplainability(drill({}, { truth: truths, verdict: plainVerdict(ranked(...culprits)) }));

  it('are each answered by the culprit of their kind, in whatever order they are listed', () => {
    const scores = [
      against([truth, other], rightCulprit, optic),
      against([other, truth], rightCulprit, optic),
      against([truth, other], optic, rightCulprit),
    ];
    for (const { score, metrics } of scores) {
      expect(metrics).toMatchObject({ top1: 1, top3: 1, set_f1: 1, kind_correct: true, side_correct: true });
      expect(metrics.onset_error_s).toBeCloseTo(0.005, 6);
      expect(score).toBeCloseTo(scores[0].score!, 9);
    }
  });

  it('are one thing to find where they are alike, told in one line or in two', () => {
    const once = against([truth, again], rightCulprit);
    const twice = against([truth, again], rightCulprit, { ...rightCulprit, onset_s: again.fromNs / 1e9 });
    expect(once.metrics).toMatchObject({ top1: 1, top3: 1, set_f1: 1, kind_correct: true });
    expect(once.score).toBeCloseTo(against([truth], rightCulprit).score!, 9);
    expect(twice.score).toBeCloseTo(once.score!, 9);
    const flap = against([truth, again], { ...rightCulprit, kind: 'link-flap' });
    expect(flap.metrics.kind_correct).toBe(true);
    expect(against([truth], { ...rightCulprit, kind: 'link-flap' }).metrics.kind_correct).toBe(false);
  });

  it('have the shares of all of them together', () => {
    const half = { ...rightCulprit, lostTimeShare: 0.9 };
    const verdict = plainVerdict(ranked(half));
    const { metrics } = scoreExplainability(
      drill({}, { truth: [truth, again], verdict, lostTimeShares: [0.5, 0.4] }),
    );
    expect(metrics.share_error).toBeCloseTo(0, 9);
  });
});
