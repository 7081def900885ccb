/** Remarks: they name what cost nothing, nothing else, and a remark on everything names nothing. */
import { describe, expect, it } from '@jest/globals';
import { plainVerdict, type Culprit, type Remark, type Verdict } from '../../diagnosis/verdict.js';
import type { ScoringInput } from '../input.js';
import {
  drill,
  INJECTED_S,
  LINK,
  rightCulprit,
  SIBLING_LINK,
  topology,
  truth,
} from '../testing/synthetic-drill.js';
import { scoreExplainability } from './explainability.js';

const remark = (id = LINK, fromS: number | undefined = INJECTED_S): Remark => ({
  kind: 'link-down',
  element: { type: 'link', id },
  side: 'cable',
  text: 'odd, but it cost nothing',
  ...(fromS === undefined ? {} : { from_s: fromS }),
  evidence: rightCulprit.evidence,
});
const scored = (
  remarks: Remark[],
  {
    culprits = [],
    found = culprits.length > 0,
    ...overrides
  }: Partial<ScoringInput> & { culprits?: Culprit[]; found?: boolean | null } = {},
) => {
  const verdict: Verdict = { ...plainVerdict(culprits, found), remarks };
  return scoreExplainability(drill({}, { lostTimeShares: [0], ...overrides, verdict }));
};

describe('a remark on a fault that cost nothing', () => {
  it('names it as well as a culprit does', () => {
    expect(scored([remark()]).metrics).toMatchObject({ top1: 1, set_f1: 1, kind_correct: true });
    expect(scored([remark()]).score!).toBeGreaterThan(90);
    expect(scored([], { culprits: [rightCulprit] }).metrics.top1).toBe(1);
  });

  it('by the share of the lost time, too, where others did cost something', () => {
    const second = { ...truth, elements: [{ type: 'link' as const, id: SIBLING_LINK }] };
    const both = { truth: [truth, second], culprits: [rightCulprit] };
    const odd = [remark(SIBLING_LINK)];
    expect(scored(odd, { ...both, lostTimeShares: [1, 0] }).metrics).toMatchObject({ top3: 1, set_f1: 1 });
    expect(scored(odd, { ...both, lostTimeShares: [0.9, 0.1] }).metrics).toMatchObject({ top3: 0.5 });
  });

  it('is no name of one that cost something', () => {
    expect(scored([remark()], { lostTimeShares: [1] }).metrics).toMatchObject({ top1: 0, set_f1: 0 });
  });

  it('loses nothing by odd things from before, and is none among remarks on everything', () => {
    expect(scored([remark(), remark(SIBLING_LINK, -300)]).metrics.top1).toBe(1);
    const everything = topology.links.map(({ id }) => remark(id));
    expect(scored(everything).metrics.top1).toBe(0);
    expect(scored(everything).score!).toBeLessThan(scored([], { found: null }).score! + 35);
  });

  it('comes after whoever is blamed: a wrong culprit stays a wrong one', () => {
    const blamed = { ...rightCulprit, element: { type: 'link' as const, id: SIBLING_LINK }, evidence: [] };
    expect(scored([remark()], { culprits: [blamed] }).metrics).toMatchObject({ top1: 0, top3: 1 });
  });
});
