import { describe, expect, it } from '@jest/globals';
import { plainVerdict } from '../../diagnosis/verdict.js';
import type { Culprit } from '../../diagnosis/verdict.js';
import { scoreExplainability } from './explainability.js';
import { claimsOf, troublesOf } from './recurrence.js';
import { drill, rightCulprit, topology, truth } from '../testing/synthetic-drill.js';

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

  it('of one kind that comes again are a flap only where the link was down', () => {
    const errors = { ...other, fromNs: other.fromNs + 10e9 };
    expect(troublesOf([other, errors])).toMatchObject([{ kinds: ['optic-error'], faults: [0, 1] }]);
    expect(troublesOf([truth, again])).toMatchObject([
      { kinds: ['link-down', 'link-flap'], fromNs: truth.fromNs, toNs: again.toNs },
    ]);
    expect(troublesOf([again, truth])).toMatchObject([{ fromNs: truth.fromNs, toNs: again.toNs }]);
    expect(troublesOf([truth, other])).toHaveLength(2);
  });

  it('told in several lines have the earlier onset, all citations, and no more than all of the lost time', () => {
    const claims = (...culprits: Partial<Culprit>[]) =>
      claimsOf(
        ranked(...culprits.map((one) => ({ ...rightCulprit, ...one }))),
        troublesOf([truth, again]),
        topology,
      );
    const [claim, ...more] = claims(
      { onset_s: 35, lostTimeShare: 0.25 },
      { onset_s: 20, lostTimeShare: 0.5, evidence: rightCulprit.evidence.slice(0, 1) },
    );
    expect(more).toEqual([]);
    expect(claim).toMatchObject({ rank: 1, onset_s: 20, lostTimeShare: 0.75 });
    expect(claim.evidence).toHaveLength(3);
    expect(claims({ lostTimeShare: 0.8 }, { lostTimeShare: 0.7 })[0].lostTimeShare).toBe(1);
    // what one line does not know the first one decides
    const unsure = { onset_s: null, lostTimeShare: null };
    const sure = { onset_s: 30, lostTimeShare: 0.4 };
    expect(claims(sure, unsure)).toMatchObject([sure]);
    expect(claims(unsure, sure)).toMatchObject([unsure]);
  });

  it('that came once are not one line when named twice', () => {
    expect(claimsOf(ranked(rightCulprit, rightCulprit), troublesOf([truth]), topology)).toHaveLength(2);
  });
});
