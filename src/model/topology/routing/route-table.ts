/**
 * Equal-cost routes for one belief about which links are down.
 *
 * A destination is a NIC with one address, announced by every leaf it is attached to (BGP host routes, as dual-ToR
 * fabrics do). NICs attached to the same leaves form a class and share all routes but the last hop. Routes are
 * valley-free: up any number of tiers, across links of equal tier, then down, never up again; a node that has a way
 * down uses it, else a way across, else a way up, and among those the shortest, all of them. In a Clos that is plain
 * shortest path; it is what eBGP with one AS number per tier yields, and it can't loop while all nodes agree.
 * Classes are worked out when first asked for, and kept. Not modelled: unequal-cost weights, default routes.
 */
import type { PortLists, RoutingGraph } from './graph.js';

const NO_ROUTE = 0;
const DOWN = 1;
const FLAT = 2;
const UP = 3;

/** Routes of one destination class at every switch. */
interface ClassRoutes {
  /** By switch: links from there to the destination NIC, 0 when there is no route. 1 at the leaves of the class. */
  distance: Int16Array;
  /** Next-hop ports by switch, in port order; empty at the leaves of the class, whose next hops differ by NIC. */
  groups: PortLists;
}

export class RouteTable {
  /** Class of each NIC (index: NIC). */
  readonly classOfNic: Int32Array;
  readonly classCount: number;
  /** By link: 1 when both directions are believed up. */
  readonly usable: Uint8Array;
  /** The same by port, for the inner loops. */
  private readonly portUsable: Uint8Array;
  /** Room for the next-hop ports of one class. */
  private readonly found: Int32Array;
  private readonly attachedSwitches: number[][] = [];
  private readonly routes: (ClassRoutes | undefined)[] = [];

  /** @param downDirections directions believed down; a link with either one down carries nothing */
  constructor(
    readonly graph: RoutingGraph,
    downDirections: Iterable<number> = [],
  ) {
    this.usable = new Uint8Array(graph.topology.links.length).fill(1);
    for (const direction of downDirections) this.usable[direction >> 1] = 0;
    this.found = new Int32Array(graph.linkOfPort.length);
    this.portUsable = Uint8Array.from(graph.linkOfPort, (link) => this.usable[link]);
    this.classOfNic = new Int32Array(graph.topology.nics.length);
    this.classCount = this.classify();
  }

  /** Links from a switch to the destination NIC along the routes; 0 when it has none. */
  distance(device: number, destinationNic: number): number {
    return this.routesTo(destinationNic).distance[device];
  }

  /** Number of equal-cost next hops at a switch. */
  groupSize(device: number, destinationNic: number): number {
    const { distance, groups } = this.routesTo(destinationNic);
    if (distance[device] === 1) return this.lastHops(device, destinationNic, -1);
    return groups.start[device + 1] - groups.start[device];
  }

  /** The `member`-th next-hop port (in port order) at a switch; member < groupSize. */
  groupPort(device: number, destinationNic: number, member: number): number {
    const { distance, groups } = this.routesTo(destinationNic);
    if (distance[device] === 1) return this.lastHops(device, destinationNic, member);
    return groups.ports[groups.start[device] + member];
  }

  /** Number of fabric ports through which the source NIC can reach the destination NIC. */
  nicGroupSize(sourceNic: number, destinationNic: number): number {
    return this.firstHops(sourceNic, destinationNic, -1);
  }

  /** The `member`-th of those ports. */
  nicGroupPort(sourceNic: number, destinationNic: number, member: number): number {
    return this.firstHops(sourceNic, destinationNic, member);
  }

  /** Next-hop ports at a node (switch or NIC) as a new array, for people and tests. */
  nextHopPorts(node: number, destinationNic: number): number[] {
    const nic = this.graph.nicOfNode(node);
    const size = nic < 0 ? this.groupSize(node, destinationNic) : this.nicGroupSize(nic, destinationNic);
    return Array.from({ length: size }, (_, member) =>
      nic < 0 ? this.groupPort(node, destinationNic, member) : this.nicGroupPort(nic, destinationNic, member),
    );
  }

  /** Next-hop groups of a class by switch, without the last hops; worked out on first use. */
  classGroups(routeClass: number): PortLists {
    return (this.routes[routeClass] ??= this.work(routeClass)).groups;
  }

  private routesTo(destinationNic: number): ClassRoutes {
    const routeClass = this.classOfNic[destinationNic];
    return (this.routes[routeClass] ??= this.work(routeClass));
  }

  /** Usable ports of a leaf towards a NIC attached to it: their number for member -1, else the member-th port. */
  private lastHops(device: number, destinationNic: number, member: number): number {
    const { nicPorts, peerNode, peerPort } = this.graph;
    let seen = 0;
    for (let at = nicPorts.start[destinationNic]; at < nicPorts.start[destinationNic + 1]; at++) {
      const port = nicPorts.ports[at];
      if (peerNode[port] !== device || this.portUsable[port] === 0) continue;
      if (seen === member) return peerPort[port];
      seen++;
    }
    return seen;
  }

  private firstHops(sourceNic: number, destinationNic: number, member: number): number {
    const { nicPorts, peerNode } = this.graph;
    const { distance } = this.routesTo(destinationNic);
    let seen = 0;
    for (let at = nicPorts.start[sourceNic]; at < nicPorts.start[sourceNic + 1]; at++) {
      const port = nicPorts.ports[at];
      if (this.portUsable[port] === 0 || distance[peerNode[port]] === 0) continue;
      if (seen === member) return port;
      seen++;
    }
    return seen;
  }

  private classify(): number {
    const { nicPorts, peerNode, topology } = this.graph;
    const known = new Map<string, number>();
    for (let nic = 0; nic < topology.nics.length; nic++) {
      const attached: number[] = [];
      for (let at = nicPorts.start[nic]; at < nicPorts.start[nic + 1]; at++) {
        const port = nicPorts.ports[at];
        const leaf = peerNode[port];
        if (this.portUsable[port] === 1 && !attached.includes(leaf)) attached.push(leaf);
      }
      attached.sort((a, b) => a - b);
      const key = attached.join();
      let routeClass = known.get(key);
      if (routeClass === undefined) {
        routeClass = known.size;
        known.set(key, routeClass);
        this.attachedSwitches.push(attached);
      }
      this.classOfNic[nic] = routeClass;
    }
    return known.size;
  }

  private work(routeClass: number): ClassRoutes {
    const { switchEnd: count, up, flat, down } = this.graph;
    const distance = new Int16Array(count);
    const way = new Uint8Array(count);
    let settled = this.attachedSwitches[routeClass];
    for (const leaf of settled) {
      distance[leaf] = 1;
      way[leaf] = DOWN;
    }
    // Routes spread against the traffic: what is reached upwards from the leaf has a way down, and so on.
    settled = this.spread(settled, up, DOWN, distance, way);
    if (flat.ports.length > 0) settled = this.spread(settled, flat, FLAT, distance, way);
    this.spread(settled, down, UP, distance, way);
    return { distance, groups: this.group(distance, way) };
  }

  /** Breadth-first from nodes in order of distance over one way of port; returns all reached, again in order. */
  private spread(
    settled: number[],
    lists: PortLists,
    label: number,
    distance: Int16Array,
    way: Uint8Array,
  ): number[] {
    const { peerNode } = this.graph;
    const fresh: number[] = [];
    const merged: number[] = [];
    let nextSettled = 0;
    let nextFresh = 0;
    while (nextSettled < settled.length || nextFresh < fresh.length) {
      const takeSettled =
        nextFresh >= fresh.length ||
        (nextSettled < settled.length && distance[settled[nextSettled]] <= distance[fresh[nextFresh]]);
      const device = takeSettled ? settled[nextSettled++] : fresh[nextFresh++];
      merged.push(device);
      for (let at = lists.start[device]; at < lists.start[device + 1]; at++) {
        const port = lists.ports[at];
        const peer = peerNode[port];
        if (this.portUsable[port] === 0 || way[peer] !== NO_ROUTE) continue;
        way[peer] = label;
        distance[peer] = distance[device] + 1;
        fresh.push(peer);
      }
    }
    return merged;
  }

  private group(distance: Int16Array, way: Uint8Array): PortLists {
    const { peerNode, up, flat, down } = this.graph;
    const start = new Int32Array(distance.length + 1);
    const { portUsable, found } = this;
    let count = 0;
    for (let device = 0; device < distance.length; device++) {
      const lists = way[device] === UP ? up : way[device] === FLAT ? flat : down;
      if (way[device] !== NO_ROUTE && distance[device] > 1) {
        for (let at = lists.start[device]; at < lists.start[device + 1]; at++) {
          const port = lists.ports[at];
          const peer = peerNode[port];
          // A peer may route by a way that is later in the order; handing it traffic would make a valley.
          const allowed = way[peer] !== NO_ROUTE && way[peer] <= way[device];
          if (allowed && portUsable[port] === 1 && distance[peer] === distance[device] - 1)
            found[count++] = port;
        }
      }
      start[device + 1] = count;
    }
    return { start, ports: found.slice(0, count) };
  }
}
