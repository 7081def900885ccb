/**
 * Circles of ports that wait for each other: the one pause that no receiver and no queue will ever end.
 *
 * Pauses followed downstream end at a NIC that does not take its data, or at a queue with more to send than it can. Where
 * they lead back to where they began, nothing drains: ports stand with bytes in their queues although nobody at an end
 * holds them (Guo et al., SIGCOMM 2016, 4.2; Hawkeye's rule: the node with out-degree 0, or a loop). In a Clos it takes
 * routes that turn up again after they went down, as after failures. A circle that also waits for a port outside of it is
 * not judged: that port may end it. Not modelled: which flows turn.
 */
import { peerPort } from '../../../model/topology/model.js';
import type { Context, Interval } from '../../series/context.js';
import { overlaps } from '../../series/context.js';
import { observeHeldPorts } from './pause-spread.js';
import { allQueues } from './queues.js';
import { freshColumn, increments, samplesWithin } from '../../series/samples.js';

/** Share of a poll for which a port must be held: in a deadlock that is all of it, but polls of two ends are apart. */
const ALL_OF_IT = 0.9;
/** Congestion stops a port for a poll; a deadlock does not let go. */
const FEWEST_POLLS = 3;

export interface PauseLoop {
  /** Egress ports of switches, each waiting for another of them. */
  ports: readonly number[];
  during: Interval;
}

export function observePauseLoops(context: Context): PauseLoop[] {
  const stuck = new Map<number, Interval>();
  context.once(observeHeldPorts).forEach((_, port) => {
    const during = stuckTime(context, port);
    if (during !== null) stuck.set(port, during);
  });
  const waitsFor = new Map([...stuck.keys()].map((port) => [port, successors(context, port, stuck)]));
  return components(inCircles(waitsFor), waitsFor).map((ports) => ({
    ports,
    during: {
      fromNs: Math.max(...ports.map((port) => stuck.get(port)!.fromNs)),
      toNs: Math.min(...ports.map((port) => stuck.get(port)!.toNs)),
    },
  }));
}

/** When a port of a switch was held all the time, sent nothing and had something to send; null when it never was. */
function stuckTime(context: Context, port: number): Interval | null {
  const { topology } = context;
  if (topology.devices[topology.ports[port].device].role !== 'switch') return null;
  const held = context
    .once(observeHeldPorts)
    [port].filter(({ fromNs, toNs, gain }) => gain * 1e9 >= ALL_OF_IT * (toNs - fromNs));
  if (held.length < FEWEST_POLLS) return null;
  const during = { fromNs: held[0].fromNs, toNs: held[held.length - 1].toNs };
  const sent = increments(context.readPort('port_tx_bytes', port)).filter(
    ({ fromNs, toNs }) => fromNs >= during.fromNs && toNs <= during.toNs,
  );
  const stands = sent.length > 0 && sent.every(({ gain }) => gain === 0);
  const waits = allQueues(context, 'queue_depth_bytes', port).some((depth) =>
    samplesWithin(depth, during).some(({ value }) => value > 0),
  );
  return stands && waits && freshColumn(context.readPort('port_tx_bytes', port)).count > 1 ? during : null;
}

/** Ports of the next switch that what waits at a port may be waiting for. */
function successors(context: Context, port: number, stuck: ReadonlyMap<number, Interval>): number[] {
  const { topology } = context;
  const entry = peerPort(topology, port);
  return topology.devices[topology.ports[entry].device].ports.filter((next) => {
    const during = stuck.get(next);
    return next !== entry && during !== undefined && overlaps(during, stuck.get(port)!);
  });
}

/** What is left when ports that wait for nobody, or only for such ports, are taken away, and then those nobody waits for. */
function inCircles(waitsFor: ReadonlyMap<number, readonly number[]>): Set<number> {
  const left = new Set(waitsFor.keys());
  const prune = (keep: (port: number) => boolean): void => {
    for (let before = -1; before !== left.size;) {
      before = left.size;
      for (const port of [...left]) if (!keep(port)) left.delete(port);
    }
  };
  prune((port) => waitsFor.get(port)!.some((next) => left.has(next)));
  prune((port) => [...left].some((other) => waitsFor.get(other)!.includes(port)));
  return left;
}

/** Ports that hang together, where none of them waits for a port outside. */
function components(circles: Set<number>, waitsFor: ReadonlyMap<number, readonly number[]>): number[][] {
  const groups: number[][] = [];
  const seen = new Set<number>();
  const touches = (one: number, other: number): boolean =>
    waitsFor.get(one)!.includes(other) || waitsFor.get(other)!.includes(one);
  for (const start of circles) {
    if (seen.has(start)) continue;
    const group = [start];
    seen.add(start);
    for (const port of group) {
      for (const other of circles) {
        if (seen.has(other) || !touches(port, other)) continue;
        seen.add(other);
        group.push(other);
      }
    }
    if (group.every((port) => waitsFor.get(port)!.every((next) => circles.has(next)))) groups.push(group);
  }
  return groups;
}
