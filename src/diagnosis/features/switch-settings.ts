/**
 * How a switch treats its queues, against what its peers, and itself at other times, do at the same depth.
 *
 * Operators set thresholds alike, so that marking begins at one depth everywhere for ports of one speed. A queue that
 * marks far below it marks too early; one that grows far beyond it without a mark marks too late or never; a switch that
 * pauses its neighbours below it keeps too little for them, and one that discards on arrival in a lossless class did not
 * pause in time (Guo et al., SIGCOMM 2016, 6.2). A queue that is itself held by a pause is not judged: it sends nothing that
 * could be marked. Where nobody ever marks there is nothing to compare with, and nothing is said.
 * Not modelled: thresholds that differ by tier on purpose.
 */
import { peerPort } from '../../topology/model.js';
import type { Context, Interval } from './context.js';
import { overlaps } from './context.js';
import { pausesSent } from './nic-pause.js';
import { observeHeldPorts } from './pause-spread.js';
import { classesOf, readQueue } from './queues.js';
import { freshColumn, gainWithin, rises } from './samples.js';
import { median } from './statistics.js';

/** Depths this far below and above the usual one at which queues mark are out of line. */
const SHALLOW = 0.25;
const DEEP = 2;
/** Depths below this part of the usual one are no reason to pause. */
const NO_REASON = 0.9;
/** Marks in a poll that are no accident. */
const FEWEST_MARKS = 10;
/** Polls of its peers that say what is usual. */
const FEWEST_PEER_POLLS = 3;
/** Polls out of line from which on a switch is. */
const FEWEST_POLLS = 2;

export interface SwitchSettings {
  device: number;
  /** Polls in which a queue marked although it was short, or was long and did not; null when nothing could be compared. */
  marksShallow: readonly Interval[] | null;
  deepUnmarked: readonly Interval[] | null;
  /** Polls in which it paused a neighbour although its queues were short and free to send; null as above. */
  pausesShallow: readonly Interval[] | null;
  /** Polls in which it dropped intact packets on arrival; null when that was not counted. */
  discards: readonly Interval[] | null;
  /** What is usual for its fastest port, bytes; null when nobody marks. */
  usualBytes: number | null;
}

interface QueuePoll extends Interval {
  device: number;
  rateGbps: number;
  depth: number;
  marks: number;
}

/** Switches alone, by device order. */
export function observeSwitchSettings(context: Context): SwitchSettings[] {
  const { topology } = context;
  const polls = topology.devices.map(({ role, index }) =>
    role === 'switch' ? queuePolls(context, index) : [],
  );
  const marking = polls.flat().filter(({ marks, depth }) => marks >= FEWEST_MARKS && depth > 0);
  return topology.devices
    .filter(({ role }) => role === 'switch')
    .map(({ index }) => observeSwitch(context, index, polls[index], usualDepths(marking)));
}

/** Depth per Gbit/s at which queues mark, by port speed. */
type Usual = ReadonlyMap<number, number>;

function usualDepths(marking: readonly QueuePoll[]): Usual {
  const byRate = new Map<number, number[]>();
  for (const { rateGbps, depth } of marking) {
    const depths = byRate.get(rateGbps);
    if (depths === undefined) byRate.set(rateGbps, [depth]);
    else depths.push(depth);
  }
  const enough = [...byRate].filter(([, depths]) => depths.length >= FEWEST_PEER_POLLS);
  // Half of all polls may be out of line before the median is.
  return new Map(enough.map(([rate, depths]) => [rate, median(depths)]));
}

/** Polls of its queues that were not held by a pause. */
function queuePolls(context: Context, device: number): QueuePoll[] {
  const { topology } = context;
  const held = context.once(observeHeldPorts);
  return topology.devices[device].ports.flatMap((port) => {
    const { rateGbps } = topology.links[topology.ports[port].link];
    return classesOf(context, port).flatMap((priority): QueuePoll[] => {
      const depths = freshColumn(readQueue(context, 'queue_depth_max_bytes', port, priority));
      const marked = readQueue(context, 'queue_ecn_marked_packets', port, priority);
      const polls: QueuePoll[] = [];
      for (let index = 1; index < depths.count; index++) {
        const depth = depths.values[index];
        if (depth === 0) continue;
        const during = { fromNs: depths.timesNs[index - 1], toNs: depths.timesNs[index] };
        if (held[port].some((poll) => overlaps(poll, during))) continue;
        polls.push({ device, rateGbps, depth, marks: gainWithin(marked, during), ...during });
      }
      return polls;
    });
  });
}

function observeSwitch(
  context: Context,
  device: number,
  polls: readonly QueuePoll[],
  usual: Usual,
): SwitchSettings {
  const compared = polls.flatMap((poll) => {
    const depth = usual.get(poll.rateGbps);
    return depth === undefined ? [] : [{ ...poll, relative: poll.depth / depth }];
  });
  const some = (found: readonly Interval[]): readonly Interval[] | null =>
    usual.size === 0 ? null : found.length < FEWEST_POLLS ? [] : sorted(found);
  const speeds = context.topology.devices[device].ports.map(
    (port) => context.topology.links[context.topology.ports[port].link].rateGbps,
  );
  return {
    device,
    marksShallow: some(compared.filter(({ marks, relative }) => marks >= FEWEST_MARKS && relative < SHALLOW)),
    deepUnmarked: some(compared.filter(({ marks, relative }) => marks === 0 && relative > DEEP)),
    pausesShallow: some(pausesWithoutReason(context, device, compared)),
    discards: discardsOf(context, device),
    usualBytes: usual.get(Math.max(...speeds)) ?? null,
  };
}

const sorted = (found: readonly Interval[]): Interval[] =>
  [...found].sort((one, other) => one.fromNs - other.fromNs || one.toNs - other.toNs);

/** Pauses that it sent while none of its own ports was held and no queue of it was as deep as those of its peers. */
function pausesWithoutReason(
  context: Context,
  device: number,
  compared: readonly (Interval & { relative: number })[],
): Interval[] {
  const { ports } = context.topology.devices[device];
  const held = context.once(observeHeldPorts);
  return ports
    .flatMap((port) => pausesSent(context, port))
    .filter((pause) => {
      if (ports.some((port) => held[port].some((poll) => overlaps(poll, pause)))) return false;
      const meanwhile = compared.filter((poll) => overlaps(poll, pause));
      return meanwhile.length > 0 && meanwhile.every(({ relative }) => relative < NO_REASON);
    });
}

function discardsOf(context: Context, device: number): Interval[] | null {
  const counters = context.topology.devices[device].ports.map((port) =>
    context.readPort('port_rx_discards', port),
  );
  if (counters.every((series) => freshColumn(series).count < 2)) return null;
  return sorted(counters.flatMap((series) => rises(series)));
}

/** Neighbours of a switch that it paused in a stretch, by their port. */
export function pausedNeighbours(context: Context, device: number, during: Interval): number[] {
  return context.topology.devices[device].ports
    .filter((port) => pausesSent(context, port).some((poll) => overlaps(poll, during)))
    .map((port) => peerPort(context.topology, port));
}
