/**
 * Uplinks that fall idle while their siblings take over what they carried: a hash that no longer spreads.
 *
 * A switch with several ways up uses all of them as long as its hash is independent of what chose before it. When it is
 * not (equal seeds in two tiers), a part of the ways sees no packet at all, at several switches at once, with every port
 * up and every route in place (Gangidi et al., SIGCOMM 2024). A job that stops leaves uplinks idle too, but then nobody
 * takes over; a route that was withdrawn is no choice of the hash; and a job that starts again, perhaps on other hosts,
 * has new connections that hash as they like. An uplink on which little more than acknowledgements goes is no witness.
 * Not modelled: ways of unequal cost; polarisation that was there before the window, which few flows look like as well.
 */
import { peerPort } from '../../../model/topology/model.js';
import type { Context, Interval } from '../../series/context.js';
import { overlaps } from '../../series/context.js';
import { observeRestarts } from '../jobs/restarts.js';
import { freshColumn, gainsBetween, stateSpans } from '../../series/samples.js';
import type { Gains } from '../../series/samples.js';
import { median } from '../../series/statistics.js';

/** Bytes in a poll, as a share of those of the busiest sibling, below which an uplink is idle. */
const IDLE_SHARE = 0.01;
/** Share of its speed at which the busiest sibling must send for that to mean anything. */
const BUSY_SHARE = 0.02;
/** Share of its own usual rate below which an uplink has fallen idle, and was not always nearly so. */
const FALLEN_SHARE = 0.1;
/** Polls in a row. */
const FEWEST_POLLS = 3;
/** Part of what an idle uplink carried that its siblings must carry in addition. */
const TAKEN_OVER = 0.25;
/** A restarted job is at its usual pace after so long. */
const SETTLED_NS = 2e9;
const BYTES_PER_NS_PER_GBPS = 0.125;

export interface IdleSiblings {
  device: number;
  /** Uplinks that fell idle, and those that took over, by port. */
  idle: readonly number[];
  busy: readonly number[];
  during: Interval;
  /** Poll interval in which it began. */
  began: Interval;
}

export const observeIdleSiblings = (context: Context): IdleSiblings[] =>
  context.topology.devices.flatMap((device) => observeSwitch(context, device.index) ?? []);

/** Part of the switches of a tier, with a choice of ways up, that show it at once. */
const SEVERAL = 0.3;
const TOGETHER_NS = 3e9;

/** Whether so many switches of one tier fell to it together that their own traffic is no reason. */
export function atManySwitches({ topology }: Context, found: readonly IdleSiblings[]): boolean {
  const tierOf = (device: number): string => topology.devices[device].tier;
  return found.some(({ device, began }) => {
    const alike = found.filter(
      (other) =>
        tierOf(other.device) === tierOf(device) && Math.abs(other.began.toNs - began.toNs) <= TOGETHER_NS,
    );
    const all = topology.devices.filter(({ tier }) => tier === tierOf(device)).length;
    return alike.length > 1 && alike.length >= SEVERAL * all;
  });
}

function uplinksOf({ topology }: Context, device: number): number[] {
  const { ports, tierLevel } = topology.devices[device];
  return ports.filter((port) => {
    const far = topology.devices[topology.ports[peerPort(topology, port)].device];
    return far.tierLevel > tierLevel;
  });
}

interface Run extends Interval {
  port: number;
  began: Interval;
}

function observeSwitch(context: Context, device: number): IdleSiblings | null {
  const { topology } = context;
  if (topology.devices[device].role !== 'switch') return null;
  const uplinks = uplinksOf(context, device);
  if (uplinks.length < 2) return null;
  const polls = uplinks.map((port) => gainsBetween(freshColumn(context.readPort('port_tx_bytes', port))));
  if (polls.some((own) => own.count < 2 * FEWEST_POLLS)) return null;
  const busiest = busiestByTimes(polls);
  const runs = uplinks.flatMap((port, index) => idleRun(context, port, polls[index], busiest) ?? []);
  if (runs.length === 0 || runs.length === uplinks.length) return null;
  const began = runs.reduce((one, other) => (other.fromNs < one.fromNs ? other : one)).began;
  const during = {
    fromNs: median(runs.map(({ fromNs }) => fromNs)),
    toNs: median(runs.map(({ toNs }) => toNs)),
  };
  const idle = runs.map(({ port }) => port);
  const busy = uplinks.filter((port) => !idle.includes(port));
  const rate = (port: number, inside: boolean): number =>
    meanRate(polls[uplinks.indexOf(port)], during, inside);
  const lost = idle.reduce((sum, port) => sum + rate(port, false) - rate(port, true), 0);
  const gained = busy.reduce((sum, port) => sum + Math.max(0, rate(port, true) - rate(port, false)), 0);
  return gained < TAKEN_OVER * lost ? null : { device, idle, busy, during, began };
}

function meanRate({ count, fromNs, toNs, gains }: Gains, during: Interval, inside: boolean): number {
  let spanNs = 0;
  let gained = 0;
  for (let at = 0; at < count; at++) {
    if (overlaps({ fromNs: fromNs[at], toNs: toNs[at] }, during) !== inside) continue;
    spanNs += toNs[at] - fromNs[at];
    gained += gains[at];
  }
  return spanNs === 0 ? 0 : gained / spanNs;
}

/** What the busiest of some siblings gained in each poll of a port; ports that are polled together share the answer. */
function busiestByTimes(siblings: readonly Gains[]): (own: Gains) => Float64Array {
  const known = new Map<Float64Array, Float64Array>();
  return (own) => {
    let most = known.get(own.fromNs);
    if (most === undefined) known.set(own.fromNs, (most = busiestIn(own, siblings)));
    return most;
  };
}

function busiestIn(own: Gains, siblings: readonly Gains[]): Float64Array {
  const most = new Float64Array(own.count);
  for (const { count, fromNs, toNs, gains } of siblings) {
    for (let at = 0, other = 0; at < own.count; at++) {
      const middle = (own.fromNs[at] + own.toNs[at]) / 2;
      while (other < count && toNs[other] < middle) other++;
      if (other === count) break;
      if (fromNs[other] > middle) continue;
      const gained = (gains[other] / (toNs[other] - fromNs[other])) * (own.toNs[at] - own.fromNs[at]);
      if (gained > most[at]) most[at] = gained;
    }
  }
  return most;
}

/** States of a port in a poll in which a sibling was busy; 0 where nobody was. */
const IDLE = 1;
const IN_USE = 2;

function idlePolls(own: Gains, most: Float64Array, speed: number): Uint8Array {
  const states = new Uint8Array(own.count);
  for (let at = 0; at < own.count; at++) {
    if (most[at] < BUSY_SHARE * speed * (own.toNs[at] - own.fromNs[at])) continue;
    states[at] = own.gains[at] < IDLE_SHARE * most[at] ? IDLE : IN_USE;
  }
  return states;
}

/** First and last place of the longest run of idle polls; null without any. A poll in which nobody sent breaks none. */
function longestRun(states: Uint8Array): [number, number] | null {
  let best: [number, number] | null = null;
  for (let from = states.indexOf(IDLE); from >= 0;) {
    let to = from;
    while (to + 1 < states.length && states[to + 1] !== IN_USE) to++;
    if (best === null || to - from > best[1] - best[0]) best = [from, to];
    from = states.indexOf(IDLE, to + 1);
  }
  return best;
}

/** The longest run of polls in which a port that was in use is not, while a sibling is; null without any. */
function idleRun(
  context: Context,
  port: number,
  own: Gains,
  busiest: (own: Gains) => Float64Array,
): Run | null {
  const { topology } = context;
  const speed = topology.links[topology.ports[port].link].rateGbps * BYTES_PER_NS_PER_GBPS;
  const states = idlePolls(own, busiest(own), speed);
  const best = longestRun(states);
  if (best === null || best[0] === 0) return null;
  const [from, to] = best;
  const rates = Float64Array.from(
    { length: own.count },
    (_, at) => own.gains[at] / (own.toNs[at] - own.fromNs[at]),
  );
  const idle = rates.filter((_, at) => at >= from && at <= to && states[at] === IDLE);
  if (median(idle) >= FALLEN_SHARE * median(rates.subarray(0, from))) return null;
  const inUse = states.subarray(0, from).includes(IN_USE);
  const pollAt = (at: number): Interval => ({ fromNs: own.fromNs[at], toNs: own.toNs[at] });
  const run = { port, fromNs: own.fromNs[from], toNs: own.toNs[to], began: pollAt(from - 1) };
  const excused = withdrawn(context, port, run) || restarted(context, run);
  return idle.length < FEWEST_POLLS || !inUse || excused ? null : run;
}

/** A job stood still, or had just gone on, when it began. */
function restarted(context: Context, { began, fromNs }: Run): boolean {
  const since = { fromNs: began.fromNs, toNs: fromNs };
  return context
    .once(observeRestarts)
    .some(({ stopped }) => overlaps(since, { fromNs: stopped.fromNs, toNs: stopped.toNs + SETTLED_NS }));
}

/** The port went down, or some routes left it, around that time. */
function withdrawn(context: Context, port: number, run: Interval): boolean {
  const down = [port, peerPort(context.topology, port)].some((end) =>
    stateSpans(context.readPort('port_oper_status', end), context.window.toNs).some(
      ({ value, ...span }) => value === 0 && overlaps(span, run),
    ),
  );
  const routes = freshColumn(context.readPort('route_port_prefixes', port));
  let moved = false;
  for (let index = 1; index < routes.count; index++) {
    if (routes.values[index] < routes.values[index - 1]) moved ||= routes.timesNs[index] <= run.toNs;
  }
  return down || moved;
}
