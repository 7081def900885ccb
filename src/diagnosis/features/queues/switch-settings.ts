/**
 * How a switch treats its queues, against what its peers, and itself at other times, do at the same depth.
 *
 * Operators set thresholds alike. Where NICs heed marks, queues of ports of one speed stay at like depths while they mark:
 * one that marks while hardly anything waits marks too early, one that grows far beyond the others with hardly a mark too
 * late or never. A switch that pauses neighbours at queues that peers carry without a pause keeps too little for them, and
 * one whose queues overflow did not pause in time (Guo et al., SIGCOMM 2016, 6.2). A queue that is itself held by a pause is
 * not judged. Where nobody marks, or nobody heeds marks, there is nothing to compare with, and nothing is said.
 * Not modelled: thresholds that differ by tier on purpose.
 */
import type { Series } from '../../../model/telemetry/series.js';
import { peerPort } from '../../../model/topology/model.js';
import type { Context, Interval } from '../../series/context.js';
import { overlaps } from '../../series/context.js';
import { observeForeignLoads } from '../bytes/foreign-load.js';
import { pausesSent } from './nic-pause.js';
import { observeHeldPorts } from './pause-spread.js';
import { observeQueuePolls } from './queue-polls.js';
import type { QueuePoll } from './queue-polls.js';
import { freshCount, rises, spansAt, union } from '../../series/samples.js';
import { median, quantile, robustSpread } from '../../series/statistics.js';
import { allQueues, queueRises } from './queues.js';

/** A queue that marks is out of line below this part of the depth at which others do, and above so many times it. */
const SHALLOW = 0.15;
const DEEP = 3;
const CONTENDED = 0.25;
/** Switches that mark too early may fill half of all polls: what is usual is read above the median. */
const USUAL = 0.75;
/** At such a depth many more packets than this are marked, as a share. */
const FEW_MARKS = 0.02;
/** Below this part of the depth at which peers pause, or else of that which they carry, there is no reason to pause. */
const NO_REASON = { pausing: 0.25, carrying: 0.5 };
/** Marks in a poll that are no accident. */
const FEWEST_MARKS = 10;
/** Polls that say what is usual, and polls out of line from which on a switch is. */
const FEWEST_PEER_POLLS = 3;
const FEWEST_POLLS = 2;
/** Part of the polls between the first and the last that must be out of line. */
const STEADY_SHARE = 0.5;
/** Depths at which queues mark differ by less where marks are heeded. */
const TIGHT = 0.6;

export interface SwitchSettings {
  device: number;
  /** Polls in which a queue marked although it was short, or was long and hardly did; null when nothing compares. */
  marksShallow: readonly Interval[] | null;
  deepUnmarked: readonly Interval[] | null;
  /** Polls in which it paused a neighbour although its queues were short and free to send; null as above. */
  pausesShallow: readonly Interval[] | null;
  /** Polls in which it dropped intact packets for want of buffer; null when that was not counted, or no switch pauses. */
  discards: readonly Interval[] | null;
  /** Polls in which it dropped them where no switch of the fabric pauses; null where some do, or nobody counted. */
  overflows: readonly Interval[] | null;
  /** Depth at which queues of its fastest port's speed usually mark, bytes; null when nobody does. */
  usualBytes: number | null;
}

/** Switches alone, in device order. */
export function observeSwitchSettings(context: Context): SwitchSettings[] {
  const polls = context.once(observeQueuePolls);
  const usual = usualDepths(context, polls.flat());
  const pauses = context.topology.devices.map(({ index, role }) =>
    role === 'switch' ? ownPauses(context, index, polls[index]) : [],
  );
  const switches = context.topology.devices.filter(({ role }) => role === 'switch');
  // Where nobody ever pauses, PFC is off by design or was never asked for, and drops are what queues without marks end in.
  const isLossy = !anyPause(context);
  const shallow = strayed(polls, usual, SHORT_AND_MARKED);
  const reasons = reasonsToPause(polls, pauses);
  // Bursts of others overshoot before marks are heeded, wherever they meet.
  const bursts = context.once(observeForeignLoads).map(({ during }) => during);
  const calm = polls.map((some) => some.filter((poll) => !bursts.some((burst) => overlaps(burst, poll))));
  const deep = strayed(calm, usual, LONG_AND_UNMARKED);
  return switches.map(({ index }) => ({
    device: index,
    marksShallow: usual.size === 0 ? null : shallow[index],
    deepUnmarked: usual.size === 0 ? null : deep[index],
    pausesShallow: pausesWithoutReason(index, pauses[index], reasons),
    discards: isLossy ? null : discardsOf(context, index, polls[index]),
    overflows: isLossy ? discardsOf(context, index, polls[index]) : null,
    usualBytes: usual.get(fastestGbps(context, index))?.depth ?? null,
  }));
}

interface UsualMarking {
  /** Greatest depth since the last poll of a queue that marks, bytes. */
  depth: number;
  /** Its depth at the poll, where anything waited; NaN where nobody read that. */
  atPoll: number;
}
/** How queues mark, by port speed; empty where marks are not heeded. */
type Usual = ReadonlyMap<number, UsualMarking>;

function usualDepths(context: Context, polls: readonly QueuePoll[]): Usual {
  const byRate = new Map<number, QueuePoll[]>();
  for (const poll of polls) {
    if (poll.marks < FEWEST_MARKS) continue;
    const alike = byRate.get(poll.rateGbps);
    if (alike === undefined) byRate.set(poll.rateGbps, [poll]);
    else alike.push(poll);
  }
  const heeded = marksHeeded(context);
  const usual = new Map<number, UsualMarking>();
  for (const [rateGbps, alike] of byRate) {
    const depths = alike.map(({ depth }) => depth);
    const depth = median(depths);
    const waiting = alike.filter(({ atPoll }) => atPoll > 0).map(({ atPoll }) => atPoll);
    // bursts overshoot to any depth, and what waits once they are over is as telling
    const settled =
      alike.length >= FEWEST_PEER_POLLS &&
      (isTight(depths) || (waiting.length >= FEWEST_PEER_POLLS && isTight(waiting)));
    if (heeded && settled) usual.set(rateGbps, { depth, atPoll: quantile(waiting, USUAL) });
  }
  return usual;
}

const isTight = (depths: readonly number[]): boolean => robustSpread(depths) <= TIGHT * median(depths);

/** Whether some NIC slowed down for a mark, or nobody counted that. */
function marksHeeded(context: Context): boolean {
  const counters = context.topology.nics.flatMap(
    ({ index }) => context.readNic('nic_cnp_handled', index) ?? [],
  );
  const told = counters.filter((series) => freshCount(series) > 1);
  return told.length === 0 || told.some((series) => rises(series).length > 0);
}

interface Rule {
  /** Polls that could have shown it. */
  asks: (poll: QueuePoll, usual: UsualMarking) => boolean;
  isOut: (poll: QueuePoll, usual: UsualMarking) => boolean;
}

const SHORT_AND_MARKED: Rule = {
  asks: ({ marks, atPoll }) => marks >= FEWEST_MARKS && atPoll > 0,
  isOut: ({ atPoll }, usual) => atPoll < SHALLOW * usual.atPoll,
};
const LONG_AND_UNMARKED: Rule = {
  asks: ({ atPoll }, usual) => atPoll >= CONTENDED * usual.atPoll,
  isOut: ({ atPoll, markShare }, usual) => atPoll > DEEP * usual.atPoll && markShare < FEW_MARKS,
};

/** By device: polls in which its queues were out of line, where that sets the switch apart. */
function strayed(
  polls: readonly (readonly QueuePoll[])[],
  usual: Usual,
  { asks, isOut }: Rule,
): Interval[][] {
  const judged = polls.map((some) =>
    some.flatMap((poll) => {
      const peers = usual.get(poll.rateGbps);
      if (peers === undefined || poll.held || !asks(poll, peers)) return [];
      return [{ poll, out: isOut(poll, peers) }];
    }),
  );
  const strays = judged.filter((some) => some.some(({ out }) => out)).length;
  return judged.map((some) => {
    const out = sorted(some.filter((one) => one.out).map(({ poll }) => poll));
    if (out.length < FEWEST_POLLS) return [];
    const during = { fromNs: out[0].fromNs, toNs: Math.max(...out.map(({ toNs }) => toNs)) };
    const inside = some.filter(({ poll }) => overlaps(poll, during));
    const steady = out.length >= STEADY_SHARE * inside.length;
    // It did otherwise before or after, or all others do otherwise: a queue that overshoots in every step does it always.
    const changed = some.length - inside.length >= FEWEST_PEER_POLLS;
    return steady && (changed || strays === 1) ? out : [];
  });
}

interface OwnPause extends Interval {
  /** Of its longest queue meanwhile. */
  depth: number;
}

/** Pauses that a switch sent of its own accord: while none of its ports was held. */
function ownPauses(context: Context, device: number, polls: readonly QueuePoll[]): OwnPause[] {
  const { ports } = context.topology.devices[device];
  const pauses = ports.flatMap((port) => pausesSent(context, port));
  if (pauses.length === 0) return [];
  const held = union(ports.flatMap((port) => context.once(observeHeldPorts)[port]));
  const longest = longestQueues(polls);
  return pauses.flatMap((pause): OwnPause[] => {
    if (held.some((stretch) => overlaps(stretch, pause))) return [];
    const depth = Math.max(
      -Infinity,
      ...longest.filter((poll) => overlaps(poll, pause)).map((poll) => poll.depth),
    );
    return depth === -Infinity ? [] : [{ ...pause, depth }];
  });
}

/** The longest queue of each poll of a switch, whose queues are mostly polled together. */
function longestQueues(polls: readonly QueuePoll[]): OwnPause[] {
  const byTimes = new Map<string, OwnPause>();
  for (const { fromNs, toNs, depth } of polls) {
    const times = `${fromNs} ${toNs}`;
    const known = byTimes.get(times);
    if (known === undefined) byTimes.set(times, { fromNs, toNs, depth });
    else known.depth = Math.max(known.depth, depth);
  }
  return [...byTimes.values()];
}

/** Whether any switch paused a neighbour, for whatever reason. */
const anyPause = (context: Context): boolean =>
  context.topology.devices.some(
    ({ role, ports }) => role === 'switch' && ports.some((port) => pausesSent(context, port).length > 0),
  );

/** Depths at which switches paused, and those that they carried. */
interface Reasons {
  paused: readonly Depth[];
  carried: readonly Depth[];
}

interface Depth {
  device: number;
  depth: number;
}

function reasonsToPause(
  polls: readonly (readonly QueuePoll[])[],
  pauses: readonly (readonly OwnPause[])[],
): Reasons {
  const depths = (some: readonly (readonly { depth: number }[])[]): Depth[] =>
    some.flatMap((own, device) => own.map(({ depth }) => ({ device, depth })));
  return { paused: depths(pauses), carried: depths(polls) };
}

function pausesWithoutReason(
  device: number,
  own: readonly OwnPause[],
  { paused, carried }: Reasons,
): Interval[] | null {
  const isOther = (depth: Depth): boolean => depth.device !== device;
  // most switches never pause, and how deep the queues of others were is then of no use
  if (own.length < FEWEST_POLLS && carried.some(isOther)) return [];
  const ofOthers = (depths: readonly Depth[]): number[] => depths.filter(isOther).map(({ depth }) => depth);
  const others = ofOthers(paused);
  const least =
    others.length >= FEWEST_PEER_POLLS
      ? NO_REASON.pausing * median(others)
      : NO_REASON.carrying * quantile(ofOthers(carried), 0.9);
  if (Number.isNaN(least)) return null;
  const short = own.filter(({ depth }) => depth < least);
  return short.length < FEWEST_POLLS ? [] : sorted(short);
}

/** On arrival, or before a queue that was long while its port was up and no watchdog kept it from sending. */
function discardsOf(context: Context, device: number, polls: readonly QueuePoll[]): Interval[] | null {
  const { ports } = context.topology.devices[device];
  const onArrival = ports.map((port) => context.readPort('port_rx_discards', port));
  const isRead = (series: Series | undefined): boolean => freshCount(series) >= 2;
  const isTold =
    onArrival.some(isRead) ||
    ports.some((port) => allQueues(context, 'queue_drop_packets', port).some(isRead));
  if (!isTold) return null;
  const overflows = ports.flatMap((port) => {
    const drops = queueRises(context, 'queue_drop_packets', port);
    if (drops.length === 0) return [];
    const down = spansAt(context.readPort('port_oper_status', port), 0, context.window.toNs);
    const excused: Interval[] = [...down, ...watchdogSpans(context, port)];
    return drops.filter(
      (drop) =>
        polls.some((poll) => poll.port === port && overlaps(poll, drop)) &&
        !excused.some((span) => overlaps(span, drop)),
    );
  });
  const drops = [...onArrival.flatMap((series) => rises(series)), ...overflows];
  return drops.length < FEWEST_POLLS ? [] : sorted(drops);
}

/** From the poll in which the pause watchdog acted on a queue of a port to that in which it gave it back. */
function watchdogSpans(context: Context, port: number): Interval[] {
  return allQueues(context, 'queue_watchdog_detected', port).flatMap((series) => {
    const restored = rises(context.read('queue_watchdog_restored', series.element));
    return rises(series).map(({ fromNs, toNs }) => ({
      fromNs,
      toNs: restored.find((end) => end.toNs >= toNs)?.toNs ?? context.window.toNs,
    }));
  });
}

const sorted = (found: readonly Interval[]): Interval[] =>
  [...found].sort((one, other) => one.fromNs - other.fromNs || one.toNs - other.toNs);

function fastestGbps({ topology }: Context, device: number): number {
  return Math.max(
    ...topology.devices[device].ports.map((port) => topology.links[topology.ports[port].link].rateGbps),
  );
}

/** Neighbours of a switch that it paused in a stretch, by their port. */
export function pausedNeighbours(context: Context, device: number, during: Interval): number[] {
  return context.topology.devices[device].ports
    .filter((port) => pausesSent(context, port).some((poll) => overlaps(poll, during)))
    .map((port) => peerPort(context.topology, port));
}
