/**
 * A direction of a link that loses everything while both ends say "up" (HPN, SIGCOMM'24: NIC to ToR, fault signal
 * ignored by firmware).
 *
 * Shown by bytes that leave and never arrive, or by a liveness session that fails under two healthy ports. Partial
 * loss looks the same in the byte counters; it is told apart later, when a fault kind for it exists.
 */
import { elementName, elementRef, portId } from '../../core/elements.js';
import type { Direction } from '../../model/telemetry/vocabulary.js';
import { overlaps } from '../series/context.js';
import type { Context, Interval } from '../series/context.js';
import { carriesNothing } from '../features/links/idle-links.js';
import { observeAllLinks } from '../features/links/link-observation.js';
import type { LinkObservation } from '../features/links/link-observation.js';
import { stallOnsetNs, stallUnderWayNs } from '../features/links/stall.js';
import { outcomeOf } from '../explanation.js';
import type { Explanation } from '../explanation.js';
import type { Signature } from '../likelihoods.js';
import { since, until } from '../wording.js';
import type { Candidate } from '../candidate.js';
import type { Family, Observations } from './hypothesis.js';
import { linkRivals, linkSeries, linkSteps } from './link-account.js';
import { linkFindings, lonelySessionLosses, stallOf } from './link-findings.js';

export const oneWayLoss: Family = {
  hypotheses: ['one-way-loss/unknown'],
  hypothesise,
  cause: (context, culprit) => {
    if (culprit.harmless === true) {
      return `lost its session from ${since(culprit)} ${until(context, culprit)} while both ends said "up"`;
    }
    const what = culprit.direction === 'both' ? 'traffic' : `what ${elementName(culprit.direction)} sent`;
    const direction = culprit.direction === 'both' ? "; which direction can't be told" : '';
    return `lost ${what} from ${since(culprit)} ${until(context, culprit)} while both ends said "up"${direction}`;
  },
  reason: (_, culprit) => lossReason(culprit),
  series: (context, culprit) => linkSeries(context, culprit),
  steps: linkSteps,
  rivals: linkRivals,
};

function lossReason(culprit: Explanation): string {
  const shows = (signature: Signature): boolean => outcomeOf(culprit, signature) === 'present';
  if (shows('bytes-vanish') || shows('bytes-missing-at-rest') || shows('sends-into-silence')) {
    return 'Bytes counted out at one end were never counted in at the other.';
  }
  return shows('all-its-connections-stall')
    ? 'Everything that its NIC sends and receives stood still, while its partners went on with others.'
    : 'The session between its ends failed, but no lost bytes were counted.';
}

function hypothesise(context: Context, { links }: Observations): Candidate[] {
  return links.flatMap((observation) => {
    const sessions = lonelySessionLosses(observation);
    const vanished = observation.sentBy.some((direction) => direction.began !== null);
    const stall = stallWhileUp(context, observation);
    if (sessions.length === 0 && !vanished && stall === null) return [];
    const signs = [
      ...brackets(observation),
      ...(stall === null ? [] : [{ fromNs: stall.fromNs, toNs: stall.fromNs }]),
    ];
    const during = suffering(context, observation, [...sessions, ...(stall === null ? [] : [stall])]);
    // a session that bounces over a link that nobody needs
    const isIdle = !vanished && stall === null && carriesNothing(context, observation, during);
    return ([0, 1] as const).map((sender): Candidate => ({
      ...(isIdle ? { harmless: true } : {}),
      hypothesis: 'one-way-loss/unknown',
      element: elementRef(observation.link.id),
      direction: portId(context.portName(observation.ends[sender].port)) as Direction,
      covers: [`link ${observation.link.index}`],
      links: [observation.link.index],
      findings: linkFindings(context, observation, sender),
      during,
      onsetNs: earliest(context, observation, onsetOf(context, signs, sessions)),
    }));
  });
}

/** A stall of the NIC that no port going down explains. */
function stallWhileUp(context: Context, observation: LinkObservation): Interval | null {
  const stall = stallOf(context, observation);
  if (stall === null || observation.episodes.some((episode) => overlaps(episode, stall))) return null;
  const events = observation.ends.flatMap((end) => end.downEvents ?? []);
  return events.some((event) => overlaps(event, stall)) ? null : stall;
}

function brackets(observation: LinkObservation): Interval[] {
  return observation.sentBy.flatMap((direction) => (direction.began === null ? [] : [direction.began]));
}

function suffering(context: Context, observation: LinkObservation, others: readonly Interval[]): Interval {
  const began = brackets(observation);
  const lastSeen = observation.sentBy.flatMap(({ lastSeenNs }) => (lastSeenNs === null ? [] : [lastSeenNs]));
  return {
    fromNs: Math.max(context.window.fromNs, Math.min(...[...began, ...others].map(({ fromNs }) => fromNs))),
    toNs: Math.max(...others.map(({ toNs }) => toNs), ...lastSeen),
  };
}

/** Where hold times are long a session falls seconds late: traffic that stood still by then began to do so earlier. */
function earliest(context: Context, { link }: LinkObservation, onsetNs: number | null): number | null {
  const stallNs = onsetNs === null ? null : stallUnderWayNs(context, onsetNs);
  if (onsetNs === null || stallNs === null) return onsetNs;
  const since = { fromNs: stallNs, toNs: onsetNs };
  const other = context
    .once(observeAllLinks)
    .filter((observation) => observation.link !== link)
    .some((observation) =>
      [...observation.episodes, ...brackets(observation), ...lonelySessionLosses(observation)].some((sign) =>
        overlaps(sign, since),
      ),
    );
  return other ? onsetNs : stallNs;
}

/** A session falls a few missed hellos late, a poll finds the loss up to an interval late: a stall is sharper. */
function onsetOf(context: Context, signs: readonly Interval[], sessions: readonly Interval[]): number | null {
  const sessionNs = Math.min(Infinity, ...sessions.map(({ fromNs }) => fromNs));
  if (sessionNs <= context.window.fromNs) return null;
  const bracket = [...signs].sort((one, other) => one.toNs - other.toNs)[0];
  if (bracket === undefined) return sessionNs;
  const latest = Math.min(sessionNs, bracket.toNs);
  if (latest <= bracket.fromNs) return latest;
  const stallNs = stallOnsetNs(context, { fromNs: bracket.fromNs, toNs: latest });
  if (stallNs !== null) return stallNs;
  return Number.isFinite(sessionNs) ? latest : (bracket.fromNs + latest) / 2;
}
