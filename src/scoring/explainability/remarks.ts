/**
 * A fault that cost nothing is named by a remark as well as by a culprit: who blames what cost nothing would be wrong.
 *
 * Remarks are no accusations, so odd things elsewhere, or from before, take nothing away. But remarks on several places
 * that begin with the fault share its probability, and a remark on everything names nothing.
 */
import type { Culprit, Verdict } from '../../diagnosis/verdict.js';
import type { ElementRef } from '../../core/elements.js';
import { elementCredit, LADDER } from './element-match.js';
import type { ScoringInput } from '../input.js';
import type { Trouble } from './recurrence.js';
import { NS_PER_S } from '../measures/statistics.js';

/** A share of the lost time below this is none. */
const COSTLESS_SHARE = 0.02;
/** A remark belongs to a fault that came within this time of it. */
const NEAR_S = 30;

/** Remarks on more places than these name none of them. */
const MOST_PLACES = 2;

/** The verdict as it is graded: with remarks on faults that cost nothing as its last culprits. */
export function remarkedAsNamed(
  input: ScoringInput,
  verdict: Verdict,
  troubles: readonly Trouble[],
): Pick<Verdict, 'faultFound' | 'culprits'> {
  const { faultFound, culprits, remarks = [] } = verdict;
  const { topology } = input;
  const named: Culprit[] = [];
  for (const trouble of troubles.filter((one) => isCostless(input, one))) {
    const isIt = ({ element }: { element: ElementRef }): boolean =>
      elementCredit(element, trouble, topology) === LADDER.exact;
    if (faultFound === true && culprits.some(isIt)) continue;
    const onsetS = trouble.fromNs / NS_PER_S;
    const near = remarks.filter(
      ({ from_s: fromS }) => fromS === undefined || Math.abs(fromS - onsetS) <= NEAR_S,
    );
    const right = near.find(isIt);
    if (right === undefined) continue;
    const places = new Set(near.map((one) => (isIt(one) ? 'the fault' : one.element.id)));
    if (places.size > MOST_PLACES) continue;
    named.push({
      ...{ rank: culprits.length + named.length + 1, kind: right.kind, element: right.element },
      ...{ side: right.side ?? 'unknown', direction: trouble.direction, onset_s: right.from_s ?? null },
      ...{ lostTimeShare: 0, probability: 1 / places.size, evidence: right.evidence },
    });
  }
  if (named.length === 0) return { faultFound, culprits };
  return { faultFound: true, culprits: [...(faultFound === true ? culprits : []), ...named] };
}

/** Where nobody knows what the fault cost (a lab has no twin), the verdict's word stands. */
const isCostless = ({ lostTimeShares }: ScoringInput, { faults }: Trouble): boolean =>
  lostTimeShares == null || faults.every((fault) => (lostTimeShares[fault] ?? 1) < COSTLESS_SHARE);
