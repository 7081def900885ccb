/**
 * Everything the evidence says about one link, from both ends, over the whole window.
 *
 * Status and events are on-change and exact in time but may get lost; counters are polled but cumulative, so that a
 * missed message still shows in `port_link_down_events`. Both are kept, each with "not known" apart from "no".
 */
import type { Link } from '../../topology/model.js';
import { conservation, wireBytes } from './conservation.js';
import type { Conservation } from './conservation.js';
import { overlaps } from './context.js';
import type { Context, Interval } from './context.js';
import { observeDevices } from './device-observation.js';
import type { DeviceObservation } from './device-observation.js';
import { cutOut, freshCount, rises, stateSpans, union } from './samples.js';
import type { Increment, StateSpan } from './samples.js';
import { quantile } from './statistics.js';

/** Received light below this is no light; sensors report -40 when nothing arrives, and noise sits above it. */
export const DARK_DBM = -30;
/** How far a loss must stand out from what three quarters of the busy links show through poll skew alone. */
const SKEW_FACTOR = 4;

/** So many other directions that shift in the same poll make a loss at a quiet moment a matter of traffic. */
const COMPANY = 3;

export interface EndObservation {
  port: number;
  device: number;
  /** Stretches in which the device did not answer, so that its word is missing. */
  silent: readonly Interval[];
  /** Stretches in which the port itself said "down" and could be believed. */
  down: readonly StateSpan[];
  /** True when the port's status is known at all. */
  statusKnown: boolean;
  /** Polls between which the link-down counter rose; null when it was not read twice. */
  downEvents: readonly Increment[] | null;
  shutDown: readonly StateSpan[];
  adminKnown: boolean;
  bfdDown: readonly StateSpan[];
  bfdKnown: boolean;
}

export interface LinkObservation {
  link: Link;
  /** The end nearer to the hosts first. */
  ends: readonly [EndObservation, EndObservation];
  /** Stretches in which at least one end was down. */
  episodes: readonly Interval[];
  /** `sentBy[0]`: what the first end sent; `sentBy[1]`: what the second sent. */
  sentBy: readonly [Conservation, Conservation];
}

/** All links, by index. */
export const observeAllLinks = (context: Context): LinkObservation[] =>
  observeLinks(context, context.once(observeDevices));

function observeLinks(context: Context, devices: readonly DeviceObservation[]): LinkObservation[] {
  const sentBy = context.topology.links.map((link) => {
    const [lower, upper] = context.endsOf(link);
    const toleranceBytes = wireBytes(link);
    return [
      sentOver(context, lower, upper, toleranceBytes),
      sentOver(context, upper, lower, toleranceBytes),
    ] as const;
  });
  const skewBytes = skewAllowance(sentBy.flat());
  const believed = sentBy.map(([up, down]) => {
    return [up, down].map((direction, index) =>
      believe(direction, index === 0 ? down : up, sentBy, skewBytes),
    ) as [Conservation, Conservation];
  });
  return context.topology.links.map((link) => {
    const [lower, upper] = context.endsOf(link);
    const ends = [observeEnd(context, devices, lower), observeEnd(context, devices, upper)] as const;
    const episodes = union([...ends[0].down, ...ends[1].down]);
    return { link, ends, episodes, sentBy: believed[link.index] };
  });
}

/** What honest counters with wrong clocks show on most busy links: the fabric is its own control. */
function skewAllowance(directions: readonly Conservation[]): number {
  const apparent = directions
    .filter(({ intact, began }) => intact || began !== null)
    .map(({ lostBytesAtLeast }) => lostBytesAtLeast);
  return apparent.length === 0 ? 0 : SKEW_FACTOR * quantile(apparent, 0.75);
}

/**
 * A loss that stands out. One that rests on quiet moments is dropped when the way back seems to gain at that time, or
 * when several other directions shift with it: then it is the traffic that changed, not the link.
 */
function believe(
  direction: Conservation,
  back: Conservation,
  all: readonly (readonly Conservation[])[],
  skewBytes: number,
): Conservation {
  const { began, certain } = direction;
  if (began === null) return direction;
  const drop = { ...direction, began: null, lastSeenNs: null };
  if (direction.lostBytesAtLeast <= skewBytes) return drop;
  if (certain) return direction;
  const shifts = (other: Conservation): boolean =>
    [other.gained, other.certain ? null : other.began].some(
      (shift) => shift !== null && overlaps(shift, began),
    );
  const company = all.flat().filter((other) => other !== direction && other !== back && shifts(other)).length;
  const gainsBack = back.gained !== null && overlaps(back.gained, began);
  return gainsBack || company >= COMPANY ? drop : direction;
}

function observeEnd(context: Context, devices: readonly DeviceObservation[], port: number): EndObservation {
  const device = context.topology.ports[port].device;
  const until = context.window.toNs;
  const silent = devices[device].silent;
  const status = stateSpans(context.readPort('port_oper_status', port), until);
  const admin = stateSpans(context.readPort('port_admin_status', port), until);
  const bfd = stateSpans(context.readPort('bfd_session_status', port), until);
  const events = context.readPort('port_link_down_events', port);
  const zero = (spans: readonly StateSpan[]): StateSpan[] =>
    cutOut(
      spans.filter((span) => span.value === 0),
      silent,
    );
  const known = (spans: readonly StateSpan[]): boolean => spans.some((span) => !Number.isNaN(span.value));
  return {
    port,
    device,
    silent,
    down: zero(status),
    statusKnown: known(status),
    downEvents: freshCount(events) < 2 ? null : rises(events),
    shutDown: zero(admin),
    adminKnown: known(admin),
    bfdDown: zero(bfd),
    bfdKnown: known(bfd),
  };
}

function sentOver(context: Context, from: number, to: number, toleranceBytes: number): Conservation {
  return conservation(
    context.readPort('port_tx_bytes', from),
    context.readPort('port_rx_bytes', to),
    toleranceBytes,
    context.clockSlackNs,
  );
}

/** Both ends were down together at some time, only one of them ever was, or it can't be told. */
export function endsDownTogether(observation: LinkObservation): boolean | null {
  const [lower, upper] = observation.ends;
  if (observation.episodes.length === 0) return null;
  if (lower.down.some((one) => upper.down.some((other) => overlaps(one, other)))) return true;
  const heard = observation.ends.every(
    (end) =>
      end.statusKnown &&
      !observation.episodes.some((episode) => end.silent.some((gap) => overlaps(gap, episode))),
  );
  return heard ? false : null;
}

/** How often the link went down, by the end that saw most of it; null when nobody can say. */
export function timesDown(observation: LinkObservation): number | null {
  const counts = observation.ends.flatMap((end) => {
    const counted = end.downEvents?.reduce((sum, { gain }) => sum + gain, 0);
    return [...(end.statusKnown ? [end.down.length] : []), ...(counted === undefined ? [] : [counted])];
  });
  return counts.length === 0 ? null : Math.max(...counts);
}
