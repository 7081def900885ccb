/**
 * What goes wrong more than once is one thing to find.
 *
 * A port that is slow, recovers and is slow again has one trouble: who names it has found it, whether in one line or in
 * two. So faults of one kind, side and direction on one element are graded as one, from the first begin to the last end,
 * and so are the culprits that name them. A link that was taken down more than once flaps, whoever took it down.
 */
import type { Culprit } from '../../diagnosis/verdict.js';
import type { CulpritKind } from '../../model/telemetry/vocabulary.js';
import type { Topology } from '../../model/topology/model.js';
import type { TruthEntry } from '../../faults/ground-truth.js';
import { LADDER, elementCredit } from './element-match.js';

export interface Trouble extends TruthEntry {
  /** Kinds that are right. */
  kinds: readonly CulpritKind[];
  /** Places in the truth, of the faults that it is made of. */
  faults: readonly number[];
}

export function troublesOf(truth: readonly TruthEntry[]): Trouble[] {
  const troubles = new Map<string, Trouble>();
  truth.forEach((entry, fault) => {
    const { kind, elements, side, direction } = entry;
    const key = [kind, elements[0]?.id ?? `fault ${fault}`, side, direction].join(' ');
    const known = troubles.get(key);
    troubles.set(
      key,
      known === undefined
        ? { ...entry, kinds: [kind], faults: [fault] }
        : {
            ...known,
            kinds: kind === 'link-down' ? ['link-down', 'link-flap'] : known.kinds,
            faults: [...known.faults, fault],
            fromNs: Math.min(known.fromNs, entry.fromNs),
            toNs: Math.max(known.toNs, entry.toNs),
          },
    );
  });
  return [...troubles.values()];
}

/**
 * By rank. Of two lines about one thing that came back the first counts, with the citations of both and the earlier onset;
 * whoever repeats himself about anything else has named it twice.
 */
export function claimsOf(
  culprits: readonly Culprit[],
  troubles: readonly Trouble[],
  topology: Topology,
): Culprit[] {
  const recurring = troubles.filter(({ faults }) => faults.length > 1);
  const cameBack = ({ element }: Culprit): boolean =>
    recurring.some((trouble) => elementCredit(element, trouble, topology) === LADDER.exact);
  const claims = new Map<string, Culprit>();
  for (const culprit of [...culprits].sort((a, b) => a.rank - b.rank)) {
    const { kind, element, side, direction, onset_s, lostTimeShare, evidence } = culprit;
    const key = cameBack(culprit) ? [kind, element.id, side, direction].join(' ') : `line ${claims.size}`;
    const known = claims.get(key);
    claims.set(
      key,
      known === undefined
        ? culprit
        : {
            ...known,
            onset_s:
              known.onset_s === null || onset_s === null ? known.onset_s : Math.min(known.onset_s, onset_s),
            lostTimeShare:
              known.lostTimeShare === null || lostTimeShare === null
                ? known.lostTimeShare
                : Math.min(1, known.lostTimeShare + lostTimeShare),
            evidence: [...known.evidence, ...evidence],
          },
    );
  }
  return [...claims.values()];
}
