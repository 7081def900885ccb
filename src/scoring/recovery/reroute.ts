/**
 * Time to reroute: from injection until nothing crosses the dead links any more and their healthy siblings carry the
 * traffic, from port counters alone.
 *
 * Equal cost is decided by hashing, so an even split is no fair demand on a member: with few connections a healthy
 * member may rightly carry little, and removing a member reshuffles all. A member's fair share is therefore what it
 * carries once things have settled (second half of the hold), and the group as a whole must carry its traffic of
 * before, less the capacity that is gone. Resolution is the poll interval; where route changes are logged, a reroute
 * is never before the last route left the dead links. Not knowable for a link without sibling.
 */
import { portId } from '../../core/elements.js';
import type { EvidenceIndex } from '../../model/telemetry/series.js';
import type { Topology } from '../../model/topology/model.js';
import type { FaultElements } from '../measures/fault-elements.js';
import { LinkTraffic, lowerPort, memberLinks, totalRate } from '../measures/link-traffic.js';
import { freshSamples, valueAt } from '../measures/samples.js';
import type { Span } from '../measures/samples.js';
import { median } from '../measures/statistics.js';

/** A rate may fall short of its fair share by this much: polls and steps are not in step. */
export const SHARE_TOLERANCE = 0.1;
/** An interval this many times the usual one has a lost poll in it. */
const LOST_POLL = 1.5;
/** A dead link may still count this share of its former rate: retransmission attempts up to the hole. */
const DEAD_SHARE = 0.01;

interface Group {
  dead: LinkTraffic[];
  healthy: LinkTraffic[];
}

/** Groups of siblings around the dead links; undefined when a dead link has none. */
function groupsOf(index: EvidenceIndex, topology: Topology, elements: FaultElements): Group[] | undefined {
  const byMembers = new Map<string, Group>();
  for (const link of elements.links) {
    const members = memberLinks(topology, link);
    const healthy = members.filter((member) => !elements.links.has(member));
    if (healthy.length === 0) return undefined;
    const key = `${topology.ports[lowerPort(topology, link)].device}:${members.join(',')}`;
    if (byMembers.has(key)) continue;
    const dead = members.filter((member) => elements.links.has(member));
    const traffic = (member: number) => new LinkTraffic(index, topology, member);
    byMembers.set(key, { dead: dead.map(traffic), healthy: healthy.map(traffic) });
  }
  return [...byMembers.values()];
}

const lowest = (rates: readonly (number | null)[]): number =>
  Math.min(...rates.filter((rate): rate is number => rate !== null));

/**
 * When one group has settled on its healthy members.
 * @returns 'idle' for a group without traffic before the fault, null when it never settles or counters are silent
 */
function settledAtNs(
  group: Group,
  fromNs: number,
  injectedNs: number,
  untilNs: number,
): number | 'idle' | null {
  const [reference] = group.healthy;
  const baseline = reference.spans(fromNs, injectedNs);
  const everyMember = [...group.dead, ...group.healthy];
  const before = lowest(baseline.map((span) => totalRate(everyMember, span)));
  const deadBefore = Math.max(0, ...baseline.map((span) => totalRate(group.dead, span) ?? 0));
  if (!Number.isFinite(before)) return null;
  if (deadBefore === 0) return 'idle';
  const capacityLeft = group.healthy.length / everyMember.length;
  const settled = reference.spans((injectedNs + untilNs) / 2, untilNs);
  const fairShares = group.healthy.map((member) => lowest(settled.map((span) => member.rate(span))));
  const good = (span: Span): boolean => {
    const dead = totalRate(group.dead, span);
    const carried = totalRate(group.healthy, span);
    if (dead === null || carried === null) return false;
    return (
      dead <= DEAD_SHARE * deadBefore &&
      carried >= (1 - SHARE_TOLERANCE) * capacityLeft * before &&
      group.healthy.every((member, at) => member.rate(span)! >= (1 - SHARE_TOLERANCE) * fairShares[at])
    );
  };
  const spans = reference.spans(injectedNs, untilNs);
  const atNs = firstSteadyNs(spans, good);
  // Polls that were lost until then may have hidden the moment: it was then or before, and nobody can tell.
  const usualNs = median(baseline.map((span) => span.toNs - span.fromNs));
  const lost = (span: Span): boolean =>
    span.toNs - span.fromNs > LOST_POLL * usualNs || totalRate(everyMember, span) === null;
  return atNs === null || spans.some((span) => span.fromNs <= atNs && lost(span)) ? null : atNs;
}

/** Start of the first interval that is good together with the one after it (or is the last one). */
export function firstSteadyNs(spans: readonly Span[], good: (span: Span) => boolean): number | null {
  const at = spans.findIndex((span, position) => {
    const next = spans[position + 1];
    return good(span) && (next === undefined || good(next));
  });
  return at === -1 ? null : spans[at].fromNs;
}

/**
 * When the last route left the dead links, as logged; the injection where no log tells. What a dead device logs once it
 * is back is no news about the reroute.
 */
function routesLeftAtNs(
  index: EvidenceIndex,
  topology: Topology,
  elements: FaultElements,
  injectedNs: number,
  untilNs: number,
): number {
  let latestNs = injectedNs;
  for (const port of elements.ports) {
    const samples = freshSamples(index.get('route_port_prefixes', portId(topology.ports[port].name)));
    if ((valueAt(samples, injectedNs) ?? 0) === 0) continue;
    const left = samples.find(({ timeNs, value }) => timeNs > injectedNs && timeNs <= untilNs && value === 0);
    latestNs = Math.max(latestNs, left?.timeNs ?? injectedNs);
  }
  return latestNs;
}

/**
 * Nanoseconds from injection to the reroute.
 * @param untilNs the revert, or the end where nothing was reverted
 * @returns null when there is no sibling, when counters do not tell, or when traffic never settled
 */
export function timeToRerouteNs(
  index: EvidenceIndex,
  topology: Topology,
  elements: FaultElements,
  injectedNs: number,
  untilNs: number,
): number | null {
  const groups = groupsOf(index, topology, elements);
  if (groups === undefined || groups.length === 0) return null;
  let latestNs: number | null = null;
  for (const group of groups) {
    const atNs = settledAtNs(group, index.evidence.fromNs, injectedNs, untilNs);
    if (atNs === null) return null;
    if (atNs !== 'idle') latestNs = Math.max(latestNs ?? 0, atNs - injectedNs);
  }
  if (latestNs === null) return null;
  // A poll interval hides the milliseconds at its start; the log of routes does not.
  const rerouteNs = Math.max(
    latestNs,
    routesLeftAtNs(index, topology, elements, injectedNs, untilNs) - injectedNs,
  );
  return rerouteNs <= untilNs - injectedNs ? rerouteNs : null;
}
