/**
 * Troubles of one thing that follow each other: damaged light in the morning, the port shut down at noon.
 *
 * Candidates for one link, or one NIC's host side, compete over the whole window, so that only one of them is named. Where
 * another one shows signs well outside of the time of the one that won, the window is cut between the two and each part
 * is judged by itself. Two parts with different answers are two culprits; the same answer twice is one that came back.
 * Not modelled: more than two troubles of one thing in a window, and two at the same time.
 */
import { windowOf } from '../model/telemetry/window.js';
import { observeDevices } from './features/links/device-observation.js';
import { Context } from './series/context.js';
import type { Interval } from './series/context.js';
import { observeAllLinks } from './features/links/link-observation.js';
import type { Explanation } from './explanation.js';
import { FAMILIES } from './hypotheses/catalog.js';
import { suspects } from './candidate.js';
import type { Candidate, Unit } from './candidate.js';
import { rank } from './rank.js';

/** What is seen within this time of a trouble belongs to it: polls, sessions that settle, retries. */
const AFTERMATH_NS = 3e9;
/** A part that is shorter has no past to compare with. */
const SHORTEST_PART_NS = 5e9;
/** Each costs two more diagnoses. */
const MOST_LOOKS = 4;

/** What everybody puts forward about what is seen. */
export const candidatesOf = (context: Context, working: () => void): Candidate[] =>
  FAMILIES.flatMap((family) => {
    working();
    return family.hypothesise(context, {
      devices: context.once(observeDevices),
      links: context.once(observeAllLinks),
    });
  });

/** The culprits, those apart that were one after the other and took each other's place. */
export function lookAgain(
  context: Context,
  culprits: readonly Explanation[],
  candidates: readonly Candidate[],
  working: () => void,
): Explanation[] {
  let looks = 0;
  return culprits.flatMap((culprit) => {
    const cutNs = looks < MOST_LOOKS ? cutOf(context, culprit, candidates) : null;
    if (cutNs === null) return [culprit];
    looks++;
    const { fromNs, toNs } = context.window;
    const [unit] = culprit.covers;
    const before = judged(context, { fromNs, toNs: cutNs }, unit, working);
    const after = judged(context, { fromNs: cutNs, toNs }, unit, working);
    const isOther = before !== undefined && after !== undefined && !isSame(before, after);
    // what was there when the part began is still the work of the first
    return isOther && after.onsetNs !== null ? [before, after] : [culprit];
  });
}

/** Where to cut the window between a culprit and the signs of another one; null without such signs. */
function cutOf(
  { window }: Context,
  { covers, during }: Explanation,
  candidates: readonly Candidate[],
): number | null {
  const [unit] = covers;
  if (covers.length > 1 || !/^(link|host-side) /.test(unit)) return null;
  const own = candidates.filter((other) => other.covers.length === 1 && other.covers[0] === unit);
  const later = own.find((other) => other.during.toNs > during.toNs + AFTERMATH_NS);
  const earlier = own.find((other) => other.during.fromNs < during.fromNs - AFTERMATH_NS);
  const cutNs =
    later !== undefined
      ? Math.max(during.toNs + AFTERMATH_NS, (during.toNs + later.during.fromNs) / 2)
      : earlier !== undefined
        ? Math.min(during.fromNs - AFTERMATH_NS, (earlier.during.toNs + during.fromNs) / 2)
        : NaN;
  const isInside = cutNs - window.fromNs >= SHORTEST_PART_NS && window.toNs - cutNs >= SHORTEST_PART_NS;
  return isInside ? cutNs : null;
}

/** Who is to blame for a unit in a part of the window; undefined when nobody is. */
function judged(
  context: Context,
  { fromNs, toNs }: Interval,
  unit: Unit,
  working: () => void,
): Explanation | undefined {
  const { topology, jobs, evidence, clockSlackNs } = context;
  const part = new Context({ topology, jobs, evidence: windowOf(evidence, fromNs, toNs) }, clockSlackNs);
  return rank(suspects(candidatesOf(part, working))).culprits.find(
    ({ covers }) => covers.length === 1 && covers[0] === unit,
  );
}

const isSame = (one: Explanation, other: Explanation): boolean =>
  one.kind === other.kind && one.direction === other.direction && one.side === other.side;
