/**
 * What looks miscabled though everything is connected: remarks for people, never refusals.
 *
 * A link is odd only in comparison: a host or leaf that differs from more than half of its kind. Where there is no such
 * majority nothing is said, since fabrics of mixed shape are real. Kinds: hosts with as many ports, leaves of one plane
 * and pod.
 */
import { peerPort, type Device, type Topology } from './model.js';

const MOST_REMARKS = 20;

/** A sentence each; empty for a fabric that is wired alike everywhere. */
export function wiringRemarks(topology: Topology): string[] {
  const all = [...crossedRails(topology), ...gatheredHosts(topology), ...unequalLeaves(topology)];
  const left = all.length - MOST_REMARKS;
  return left <= 0 ? all : [...all.slice(0, MOST_REMARKS), `and ${left} more remarks on the wiring`];
}

const deviceAcross = (topology: Topology, port: number): Device =>
  topology.devices[topology.ports[peerPort(topology, port)].device];

/** The value that more than half have; undefined where there is none, or fewer than three to compare. */
function usual<T>(values: readonly T[]): T | undefined {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  for (const [value, count] of counts) if (values.length >= 3 && 2 * count > values.length) return value;
  return undefined;
}

interface RailEnd {
  host: number;
  nic: string;
  rail: number;
  leaf: Device;
}

/** NICs at a leaf where the other hosts have another rail; both of a pair that is swapped are told in one sentence. */
function crossedRails(topology: Topology): string[] {
  const ends = topology.nics.flatMap(({ host, name, position, ports }) =>
    ports.map((port): RailEnd => {
      const rail = topology.links[topology.ports[port].link].rail ?? position;
      return { host, nic: name, rail, leaf: deviceAcross(topology, port) };
    }),
  );
  const byLeaf = groupBy(ends, ({ leaf }) => leaf.index);
  const railOf = new Map(
    [...byLeaf].map(([leaf, here]) => {
      // a host with several NICs at a leaf has no rails there
      const byHost = groupBy(here, ({ host }) => host);
      const alone = here.filter(({ host }) => byHost.get(host)!.length === 1);
      return [leaf, alone.length === here.length ? usual(alone.map(({ rail }) => rail)) : undefined];
    }),
  );
  const crossed = ends.filter(({ rail, leaf }) => (railOf.get(leaf.index) ?? rail) !== rail);
  const ofHost = groupBy(crossed, ({ host }) => host);
  return [...ofHost.values()].map((own) => {
    const places = own.map(
      ({ nic, rail, leaf }) =>
        `${nic} (rail ${rail}) is at ${leaf.name}, where other hosts have rail ${railOf.get(leaf.index)}`,
    );
    const swapped = own.length > 1 ? `rails of ${topology.devices[own[0].host].name} look swapped: ` : '';
    return `${swapped}${places.join(', and ')}`;
  });
}

/** Hosts whose ports are at fewer leaves than those of hosts with as many. */
function gatheredHosts(topology: Topology): string[] {
  const hosts = topology.devices
    .filter(({ role }) => role === 'host')
    .map(({ name, ports }) => ({
      name,
      count: ports.length,
      leaves: [...new Set(ports.map((port) => deviceAcross(topology, port).name))],
    }));
  return [...groupBy(hosts, ({ count }) => count).values()].flatMap((alike) => {
    const most = usual(alike.map(({ leaves }) => leaves.length));
    return alike
      .filter(({ leaves }) => most !== undefined && leaves.length < most)
      .map(
        ({ name, count, leaves }) =>
          `${name} has its ${count} links at ${leaves.join(', ')}, where most hosts have theirs at ${most} leaves`,
      );
  });
}

/** Leaves with fewer switches above them, or another rate to them, than most have. */
function unequalLeaves(topology: Topology): string[] {
  const leaves = topology.devices
    .filter(({ tierLevel }) => tierLevel === 1)
    .map((leaf) => {
      const up = leaf.ports.filter((port) => deviceAcross(topology, port).tierLevel > leaf.tierLevel);
      const gbps = up.reduce((sum, port) => sum + topology.links[topology.ports[port].link].rateGbps, 0);
      const above = [...new Set(up.map((port) => deviceAcross(topology, port).name))];
      return { leaf, gbps, above, links: up.length };
    });
  const alike = groupBy(leaves, ({ leaf }) => `${leaf.plane}/${leaf.pod}`);
  return [...alike.values()].flatMap((group) => {
    const reach = usual(group.map(({ above }) => above.length));
    const rate = usual(group.map(({ gbps }) => gbps));
    return group.flatMap(({ leaf, gbps, above, links }) => {
      if (reach !== undefined && above.length < reach) {
        const cut = above.length === 1 ? `: without ${above[0]} it is cut off` : '';
        return [
          `${leaf.name} has its ${links} uplinks at ${above.join(', ') || 'no switch'}, where most leaves reach ${reach} switches above${cut}`,
        ];
      }
      if (rate === undefined || gbps === rate) return [];
      return [
        `${leaf.name} has ${links} uplinks of ${gbps} Gbps together, where most leaves have ${rate} Gbps`,
      ];
    });
  });
}

function groupBy<T, Key>(items: readonly T[], keyOf: (item: T) => Key): Map<Key, T[]> {
  const groups = new Map<Key, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}
