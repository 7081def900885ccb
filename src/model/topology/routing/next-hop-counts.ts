/**
 * How many next hops a switch has installed, and how many prefixes each port serves.
 *
 * The figures behind the metrics `route_next_hops` and `route_port_prefixes`: one prefix per destination NIC. Routes
 * are shared by all NICs of a class, so the count is members × group size, plus the last hops, which are each NIC's
 * own.
 */
import type { RouteTable } from './route-table.js';

export interface NextHopCounts {
  /** By device: next hops summed over all prefixes; 0 for hosts. */
  nextHops: Int32Array;
  /** By port: prefixes that have this switch port as one of their next hops; 0 for NIC ports. */
  portPrefixes: Int32Array;
}

/** Counts over one table, as if every switch went by it. */
export function nextHopCounts(table: RouteTable): NextHopCounts {
  const { graph } = table;
  const { devices, nics, ports } = graph.topology;
  const nextHops = new Int32Array(devices.length);
  const portPrefixes = new Int32Array(ports.length);
  const members = new Int32Array(table.classCount);
  for (let nic = 0; nic < nics.length; nic++) members[table.classOfNic[nic]]++;
  for (let routeClass = 0; routeClass < table.classCount; routeClass++) {
    const groups = table.classGroups(routeClass).ports;
    for (let at = 0; at < groups.length; at++) portPrefixes[groups[at]] += members[routeClass];
  }
  for (let at = 0; at < graph.nicPorts.ports.length; at++) {
    const port = graph.nicPorts.ports[at];
    if (table.usable[graph.linkOfPort[port]] === 1) portPrefixes[graph.peerPort[port]]++;
  }
  for (let port = 0; port < ports.length; port++) nextHops[ports[port].device] += portPrefixes[port];
  return { nextHops, portPrefixes };
}
