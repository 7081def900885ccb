/**
 * Where equal hash seeds make one switch's choice decide the next one's.
 *
 * A switch takes member `hash mod size` of its group. With one seed, the switch behind member m of a group of g sees
 * only hashes m, m + g, m + 2g …, so that of its own group of h it can use the members (m + g·t) mod h and no others.
 * Two tiers choose once on the way up and can't polarise, nor can groups whose sizes have no common factor.
 */
import type { Device, Topology } from '../model/topology/model.js';
import { RoutingGraph } from '../model/topology/routing/graph.js';
import { RouteTable } from '../model/topology/routing/route-table.js';

/** Switches, in the topology's order, that with equal seeds would leave some of their next hops idle. */
export function followersOf(switches: readonly Device[], topology: Topology): Device[] {
  const graph = new RoutingGraph(topology);
  const routes = new RouteTable(graph);
  const alike = new Set(switches.map(({ index }) => index));
  const followers = new Set<number>();
  for (const nic of oneNicOfEachClass(routes, topology)) {
    for (const { index } of switches) {
      const size = routes.groupSize(index, nic);
      if (size < 2) continue;
      const membersTo = new Map<number, number[]>();
      for (let member = 0; member < size; member++) {
        const next = graph.peerNode[routes.groupPort(index, nic, member)];
        if (alike.has(next)) membersTo.set(next, [...(membersTo.get(next) ?? []), member]);
      }
      for (const [next, members] of membersTo) {
        const nextSize = routes.groupSize(next, nic);
        if (nextSize > 1 && reachable(members, size, nextSize) < nextSize) followers.add(next);
      }
    }
  }
  return topology.devices.filter(({ index }) => followers.has(index));
}

/** Routes are the same for all NICs behind the same leaves, but for the last hop, which chooses nothing. */
function oneNicOfEachClass(routes: RouteTable, topology: Topology): number[] {
  const first = new Map<number, number>();
  for (const { index } of topology.nics) {
    const routeClass = routes.classOfNic[index];
    if (!first.has(routeClass)) first.set(routeClass, index);
  }
  return [...first.values()];
}

/** Members of a group that hashes can reach which were any of `members` of `size` before. */
function reachable(members: readonly number[], size: number, nextSize: number): number {
  const reached = new Set<number>();
  for (const member of members) {
    for (let turn = 0; turn < nextSize; turn++) reached.add((member + size * turn) % nextSize);
  }
  return reached.size;
}
