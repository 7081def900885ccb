/**
 * Links that can be members of one LAG: parallel links between two devices, and the links of one NIC with several ports.
 *
 * A NIC's ports may lead to different switches (dual-ToR: both leaves speak as one to the host).
 */
import type { Topology } from './model.js';

/** Links that share a LAG with a link, itself included, in the topology's order; itself alone when there is none. */
export function lagOf(topology: Topology, link: number): number[] {
  const key = lagKey(topology, link);
  return topology.links
    .filter(({ index }) => index === link || lagKey(topology, index) === key)
    .map(({ index }) => index);
}

/** All links that are members of a LAG of at least two. */
export function lagMembers(topology: Topology): Set<number> {
  const groups = new Map<string, number[]>();
  for (const { index } of topology.links) {
    const key = lagKey(topology, index);
    groups.set(key, [...(groups.get(key) ?? []), index]);
  }
  return new Set([...groups.values()].filter((group) => group.length > 1).flat());
}

function lagKey({ ports, links }: Topology, link: number): string {
  const ends = [ports[links[link].portA], ports[links[link].portB]];
  const nic = ends.find((port) => port.nic >= 0)?.nic;
  if (nic !== undefined) return `nic ${nic}`;
  const [one, other] = ends.map((port) => port.device).sort((a, b) => a - b);
  return `devices ${one} ${other}`;
}
