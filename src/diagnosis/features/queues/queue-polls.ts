/**
 * Polls in which something waited in a queue of a switch: how much at most, how many packets it marked, was it held.
 *
 * Watermark, marks and bytes of one queue are read together, so that they belong to the same interval; empty queues tell
 * nothing and are left out, which keeps this small in a fabric that is mostly idle.
 * Not modelled: packets of several sizes; a mark share is that of full packets.
 */
import type { Context, Interval } from '../../series/context.js';
import { overlaps } from '../../series/context.js';
import { observeHeldPorts } from './pause-spread.js';
import { readQueue } from './queues.js';
import { freshColumn, gainWithin, isStill } from '../../series/samples.js';

/** Bytes of a full packet on the wire, RoCE with the largest MTU; smaller ones make shares seem larger. */
const PACKET_BYTES = 4200;

export interface QueuePoll extends Interval {
  port: number;
  rateGbps: number;
  /** Watermark, bytes. */
  depth: number;
  /** Bytes that waited at the poll itself; NaN where that was not read. */
  atPoll: number;
  marks: number;
  /** Share of the packets that left marked; 1 when bytes were not counted. */
  markShare: number;
  /** The port was kept from sending for a part of it, or of the poll before, whose queue it still drains. */
  held: boolean;
}

/** By device; empty for hosts. */
export function observeQueuePolls(context: Context): QueuePoll[][] {
  const { topology } = context;
  const classes = context.classesOf('queue_depth_max_bytes');
  return topology.devices.map(({ role, ports }) =>
    role === 'switch' ? ports.flatMap((port) => pollsOf(context, port, classes)) : [],
  );
}

function pollsOf(context: Context, port: number, classes: readonly number[]): QueuePoll[] {
  const { topology } = context;
  const { rateGbps } = topology.links[topology.ports[port].link];
  const held = context.once(observeHeldPorts)[port];
  return classes.flatMap((priority): QueuePoll[] => {
    const watermark = readQueue(context, 'queue_depth_max_bytes', port, priority);
    // nearly all queues of a fabric
    if (isStill(watermark) && watermark.values[0] === 0) return [];
    const depths = freshColumn(watermark);
    const now = freshColumn(readQueue(context, 'queue_depth_bytes', port, priority));
    let next = 0;
    const marked = readQueue(context, 'queue_ecn_marked_packets', port, priority);
    const sent = readQueue(context, 'queue_tx_bytes', port, priority);
    const polls: QueuePoll[] = [];
    for (let index = 1; index < depths.count; index++) {
      const depth = depths.values[index];
      if (depth === 0) continue;
      const during = { fromNs: depths.timesNs[index - 1], toNs: depths.timesNs[index] };
      while (next < now.count && now.timesNs[next] < during.toNs) next++;
      const marks = gainWithin(marked, during);
      const bytes = gainWithin(sent, during);
      polls.push({
        ...during,
        port,
        rateGbps,
        depth,
        atPoll: next < now.count && now.timesNs[next] === during.toNs ? now.values[next] : NaN,
        marks,
        markShare: bytes > 0 ? (marks * PACKET_BYTES) / bytes : 1,
        held: held.some((poll) =>
          overlaps(poll, { fromNs: 2 * during.fromNs - during.toNs, toNs: during.toNs }),
        ),
      });
    }
    return polls;
  });
}
