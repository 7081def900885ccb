/**
 * Who waits for whom: pauses followed upstream from where they begin, and back to it from where they are felt.
 *
 * An egress port that is held waits for the device at its other end; that device pauses since one of its own egress ports
 * is held, or has more to send than it can. Followed to its end the graph names the root (Hawkeye's rule): a NIC that
 * pauses is an injection from a host, a switch that pauses while none of its ports is held is contention there, and a
 * port that is met twice closes a loop in which everybody waits for everybody. Ports upstream of the root suffer though
 * they may have nothing to send to it.
 * Not modelled: which of several ports a switch pauses for; all that are held at the time are followed.
 */
import { peerPort } from '../../topology/model.js';
import type { Context, Interval } from './context.js';
import { overlaps } from './context.js';
import { pausesSent } from './nic-pause.js';
import type { Increment } from './samples.js';

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
  loop: boolean;
}

/** By port: polls in which it was kept from sending. */
export const observeHeldPorts = (context: Context): Increment[][] =>
  context.topology.ports.map((port) => pausesSent(context, peerPort(context.topology, port.index)));

const heldWithin = (context: Context, port: number, during: Interval): boolean =>
  context.once(observeHeldPorts)[port].some((poll) => overlaps(poll, during));

/** What waits, at how many links' distance, for an egress port of a switch. */
export function spreadFrom(context: Context, root: number, during: Interval): PauseSpread {
  const { topology } = context;
  const hops = new Map<number, number>();
  if (heldWithin(context, root, during)) hops.set(root, 0);
  const open = [root];
  let loop = false;
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    const { device } = topology.ports[next];
    if (topology.devices[device].role !== 'switch') continue;
    for (const own of topology.devices[device].ports) {
      const upstream = peerPort(topology, own);
      if (own === next || !heldWithin(context, upstream, during)) continue;
      if (upstream === root) loop = true;
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
    loop,
  };
}

export type PauseRoot =
  | { type: 'host'; nic: number; port: number }
  | { type: 'contention'; device: number }
  | { type: 'loop'; port: number };

/** Where the pauses that hold an egress port begin. */
export function rootsOf(context: Context, port: number, during: Interval): PauseRoot[] {
  const { topology } = context;
  const roots = new Map<string, PauseRoot>();
  const seen = new Set<number>();
  const follow = (held: number, way: readonly number[]): void => {
    if (way.includes(held)) {
      roots.set('loop', { type: 'loop', port: held });
      return;
    }
    if (seen.has(held)) return;
    seen.add(held);
    const pausing = peerPort(topology, held);
    const { device, nic } = topology.ports[pausing];
    if (nic >= 0) {
      roots.set(`nic ${nic}`, { type: 'host', nic, port: pausing });
      return;
    }
    const further = topology.devices[device].ports.filter(
      (own) => own !== pausing && heldWithin(context, own, during),
    );
    if (further.length === 0) roots.set(`device ${device}`, { type: 'contention', device });
    for (const own of further) follow(own, [...way, held]);
  };
  follow(port, []);
  return [...roots.values()];
}
