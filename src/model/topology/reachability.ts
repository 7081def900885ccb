/**
 * Whether every NIC reaches every other along up/down routes while all is well.
 *
 * A fabric that fails here would strand flows without any fault. NICs whose ports lie in different planes are not
 * expected to reach each other; all others are, and the islands are named when they don't.
 */
import { listChoices } from '../../core/nearest.js';
import type { InputIssue } from '../../core/problem.js';
import { peerPort, type Nic, type Topology } from './model.js';
import { RoutingGraph } from './routing/graph.js';
import { RouteTable } from './routing/route-table.js';

/** One issue for each set of planes that falls apart; empty when the fabric is connected. */
export function reachabilityIssues(topology: Topology): InputIssue[] {
  const table = new RouteTable(new RoutingGraph(topology));
  const issues: InputIssue[] = [];
  for (const representatives of classesByPlanes(topology, table).values()) {
    const islands = islandsOf(representatives, table);
    if (islands.length < 2) continue;
    const named = islands.map((island) => describeIsland(island, topology, table));
    issues.push({
      pointer: '',
      message: `the fabric is not connected: ${islands.length} islands without an up/down route between them: ${named.slice(0, 4).join('; ')}`,
      hint: 'link the islands through a switch of a higher tier',
    });
  }
  return issues;
}

/**
 * The leaves and hosts that lose their way to most others while links are down, a text each; dead hosts left out.
 *
 * @param gone indices of devices that are down themselves
 */
export function cutOffBy(
  topology: Topology,
  downLinks: readonly number[],
  gone: ReadonlySet<number>,
): string[] {
  const table = new RouteTable(
    new RoutingGraph(topology),
    downLinks.map((link) => 2 * link),
  );
  const down = new Set(downLinks);
  // those have a way to nobody, however many they are
  const isDark = ({ ports }: Nic): boolean => ports.every((port) => down.has(topology.ports[port].link));
  return [...classesByPlanes(topology, table).values()].flatMap((representatives) => {
    const islands = islandsOf(representatives, table).map((island) => {
      const classes = new Set(island.map((nic) => table.classOfNic[nic]));
      return topology.nics.filter(
        ({ index, host }) => classes.has(table.classOfNic[index]) && !gone.has(host),
      );
    });
    const alive = islands.filter(([first]) => first !== undefined && !isDark(first));
    const largest = alive.reduce<Nic[]>((most, nics) => (nics.length > most.length ? nics : most), []);
    const others = islands.filter((nics) => nics !== largest);
    return others.filter((nics) => nics.length > 0).map((nics) => namesOf(nics, topology));
  });
}

/** A leaf with the hosts below it; single NICs of hosts that have others. */
function namesOf(nics: readonly Nic[], topology: Topology): string {
  const { devices, ports } = topology;
  const leaves = new Set(
    nics.flatMap((nic) => nic.ports.map((port) => devices[ports[peerPort(topology, port)].device].name)),
  );
  const own = new Set(nics.map(({ index }) => index));
  const hosts = new Set(
    nics.map(({ host, name }) => {
      const whole = topology.nics.every((nic) => nic.host !== host || own.has(nic.index));
      return whole ? devices[host].name : name;
    }),
  );
  const [first, ...more] = leaves;
  const where = more.length === 0 ? first : `${first} and ${more.length} other leaves`;
  return `${listChoices(hosts, 8)} (at ${where})`;
}

/** One NIC of each route class, grouped by the planes its links lie in. */
function classesByPlanes(topology: Topology, table: RouteTable): Map<string, number[]> {
  const groups = new Map<string, number[]>();
  const seen = new Set<string>();
  for (const nic of topology.nics) {
    const planes = nic.ports.map((port) => topology.links[topology.ports[port].link].plane ?? 'none');
    const key = [...new Set(planes)].sort().join();
    const member = `${key}/${table.classOfNic[nic.index]}`;
    if (seen.has(member)) continue;
    seen.add(member);
    groups.set(key, [...(groups.get(key) ?? []), nic.index]);
  }
  return groups;
}

/** Splits NICs into sets within which all pairs have a route; a NIC joins the first set it fits. */
function islandsOf(nics: readonly number[], table: RouteTable): number[][] {
  const islands: number[][] = [];
  for (const nic of nics) {
    const home = islands.find((island) =>
      island.every((other) => table.nicGroupSize(nic, other) > 0 && table.nicGroupSize(other, nic) > 0),
    );
    if (home === undefined) islands.push([nic]);
    else home.push(nic);
  }
  return islands;
}

function describeIsland(representatives: readonly number[], topology: Topology, table: RouteTable): string {
  const classes = new Set(representatives.map((nic) => table.classOfNic[nic]));
  const members = topology.nics.filter((nic) => classes.has(table.classOfNic[nic.index]));
  const leaves = new Set(
    members.flatMap((nic) => nic.ports.map((port) => topology.devices[table.graph.peerNode[port]].name)),
  );
  const shown = [...leaves].slice(0, 3).join(', ');
  const more = leaves.size > 3 ? ', …' : '';
  return `${members[0].name} and ${members.length - 1} other NICs at ${shown}${more}`;
}
