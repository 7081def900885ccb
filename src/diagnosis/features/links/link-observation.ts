/**
 * Everything the evidence says about one link, from both ends, over the whole window.
 *
 * Status and events are on-change and exact in time but may get lost; counters are polled but cumulative, so that a
 * missed message still shows in `port_link_down_events`. Both are kept, each with "not known" apart from "no".
 */
import type { Series } from '../../../model/telemetry/series.js';
import type { Link } from '../../../model/topology/model.js';
import { conservation, wireBytes } from '../bytes/conservation.js';
import type { Conservation } from '../bytes/conservation.js';
import { overlaps } from '../../series/context.js';
import type { Context, Interval } from '../../series/context.js';
import { observeDevices } from './device-observation.js';
import type { DeviceObservation } from './device-observation.js';
import { cutOut, freshCount, isStateKnown, rises, spansAt, stateSpans, union } from '../../series/samples.js';
import type { Increment, StateSpan } from '../../series/samples.js';
import { quantile } from '../../series/statistics.js';

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
  /**
   * Stretches in which neither end was a next hop for anything any more, where routing tells it and no liveness session
   * does: a neighbour that lost its own routes takes them from one end, a session that ended takes them from both.
   */
  withoutRoutes: readonly Interval[];
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
  const directions = sentBy.flat();
  const skewBytes = skewAllowance(directions);
  const shifted = directions.filter((direction) => shiftsOf(direction).length > 0);
  const believed = sentBy.map(([up, down]): readonly [Conservation, Conservation] => [
    believe(up, down, shifted, skewBytes),
    believe(down, up, shifted, skewBytes),
  ]);
  return context.topology.links.map((link) => {
    const [lower, upper] = context.endsOf(link);
    const ends = [observeEnd(context, devices, lower), observeEnd(context, devices, upper)] as const;
    const episodes = union([...ends[0].down, ...ends[1].down]);
    const withoutRoutes = ends.some(({ bfdKnown }) => bfdKnown) ? [] : routesGone(context, ends);
    return { link, ends, episodes, withoutRoutes, sentBy: believed[link.index] };
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
  shifted: readonly Conservation[],
  skewBytes: number,
): Conservation {
  const { began, certain } = direction;
  if (began === null) return direction;
  const drop = { ...direction, began: null, lastSeenNs: null };
  if (direction.lostBytesAtLeast <= skewBytes) return drop;
  if (certain) return direction;
  const company = shifted.filter(
    (other) =>
      other !== direction && other !== back && shiftsOf(other).some((shift) => overlaps(shift, began)),
  ).length;
  const gainsBack = back.gained !== null && overlaps(back.gained, began);
  return gainsBack || company >= COMPANY ? drop : direction;
}

/** When quiet moments of a direction seem to show a gain or a loss, which rests on nothing else. */
const shiftsOf = ({ gained, certain, began }: Conservation): Interval[] =>
  [gained, certain ? null : began].filter((shift) => shift !== null);

function observeEnd(context: Context, devices: readonly DeviceObservation[], port: number): EndObservation {
  const device = context.topology.ports[port].device;
  const until = context.window.toNs;
  const silent = devices[device].silent;
  const status = context.readPort('port_oper_status', port);
  const admin = context.readPort('port_admin_status', port);
  const bfd = context.readPort('bfd_session_status', port);
  const events = context.readPort('port_link_down_events', port);
  const zero = (series: Series | undefined): readonly StateSpan[] => {
    const spans = spansAt(series, 0, until);
    return spans.length === 0 ? spans : cutOut(spans, silent);
  };
  return {
    port,
    device,
    silent,
    down: zero(status),
    statusKnown: isStateKnown(status),
    downEvents: freshCount(events) < 2 ? null : rises(events),
    shutDown: zero(admin),
    adminKnown: isStateKnown(admin),
    bfdDown: zero(bfd),
    bfdKnown: isStateKnown(bfd),
  };
}

function routesGone(context: Context, [lower, upper]: LinkObservation['ends']): Interval[] {
  const gone = ({ port, silent }: EndObservation): readonly Interval[] => {
    const spans = stateSpans(context.readPort('route_port_prefixes', port), context.window.toNs);
    const lost = spans.filter(({ value }, index) => value === 0 && index > 0);
    return lost.length === 0 ? lost : cutOut(lost, silent);
  };
  const others = gone(upper);
  return others.length === 0
    ? []
    : gone(lower).flatMap((one) =>
        others
          .filter((other) => overlaps(one, other))
          .map((other) => ({
            fromNs: Math.max(one.fromNs, other.fromNs),
            toNs: Math.min(one.toNs, other.toNs),
          })),
      );
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
