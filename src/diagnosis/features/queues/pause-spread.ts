/**
 * Who waits for whom: pauses followed upstream from where they begin.
 *
 * An egress port that is held waits for the device at its other end; that device pauses since one of its own egress ports
 * is held, or has more to send than it can. Ports upstream of the root suffer though they may have nothing to send to it.
 * Pauses that go round in a circle have no root: see pause-loops.ts.
 * Not modelled: which of several ports a switch pauses for (all that are held at the time are followed).
 */
import { peerPort } from '../../../model/topology/model.js';
import type { Context, Interval } from '../../series/context.js';
import { overlaps } from '../../series/context.js';
import { pausesSent } from './nic-pause.js';
import type { Increment } from '../../series/samples.js';

export interface HeldPort {
  /** The egress port that could not send. */
  port: number;
  /** Links between it and the root. */
  hops: number;
}

export interface PauseSpread {
  /** All ports that were held on account of the root, the root's own first. */
  held: readonly HeldPort[];
  /** NICs among them. */
  nics: readonly number[];
}

/** By port: polls in which it was kept from sending. */
export const observeHeldPorts = (context: Context): (readonly Increment[])[] =>
  context.topology.ports.map((port) => pausesSent(context, peerPort(context.topology, port.index)));

const heldWithin = (context: Context, port: number, during: Interval): boolean =>
  context.once(observeHeldPorts)[port].some((poll) => overlaps(poll, during));

/** What waits, at how many links' distance, for an egress port of a switch. */
export function spreadFrom(context: Context, root: number, during: Interval): PauseSpread {
  const { topology } = context;
  const hops = new Map<number, number>();
  if (heldWithin(context, root, during)) hops.set(root, 0);
  const open = [root];
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    const { device } = topology.ports[next];
    if (topology.devices[device].role !== 'switch') continue;
    for (const own of topology.devices[device].ports) {
      const upstream = peerPort(topology, own);
      if (own === next || !heldWithin(context, upstream, during)) continue;
      if (hops.has(upstream)) continue;
      hops.set(upstream, (hops.get(next) ?? 0) + 1);
      open.push(upstream);
    }
  }
  return {
    held: [...hops].map(([port, distance]) => ({ port, hops: distance })),
    nics: [...hops.keys()].flatMap((port) =>
      topology.ports[port].nic >= 0 ? [topology.ports[port].nic] : [],
    ),
  };
}
