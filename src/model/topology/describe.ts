/**
 * A topology for people and for the API: a summary of its size and shape, and the whole of it as plain JSON.
 *
 * Diameter is the longest of the shortest routes between NICs, in links. Oversubscription of a leaf is the rate of its
 * host links over that of its links to other switches; null where it has none of the latter.
 */
import type { Topology } from './model.js';
import { addressOf, RoutingGraph } from './routing/graph.js';
import { RouteTable } from './routing/route-table.js';

export interface LeafSubscription {
  leaf: string;
  hostGbps: number;
  fabricGbps: number;
  /** hostGbps / fabricGbps */
  oversubscription: number | null;
}

export interface TopologySummary {
  /** By tier, lower tiers first. */
  devices: Record<string, number>;
  nics: number;
  gpus: number;
  gpusPerHost: number;
  /** 0 when hosts have no scale-up network. */
  scaleUpGbps: number;
  /** By tier of link: how many, and the rates among them in ascending order. */
  links: Record<string, { count: number; ratesGbps: number[] }>;
  /** Numbers of rails, planes and pods; 0 where the fabric has none. */
  rails: number;
  planes: number;
  pods: number;
  /** Links on the longest shortest route between two NICs. */
  diameterLinks: number;
  leaves: LeafSubscription[];
}

/** Size and shape in a few figures. */
export function summarise(topology: Topology): TopologySummary {
  const devices: Record<string, number> = {};
  for (const { tier } of [...topology.devices].sort((a, b) => a.tierLevel - b.tierLevel)) {
    devices[tier] = (devices[tier] ?? 0) + 1;
  }
  const distinct = (values: readonly (number | undefined)[]): number =>
    new Set(values.filter((value) => value !== undefined)).size;
  return {
    devices,
    nics: topology.nics.length,
    gpus: topology.gpus.length,
    gpusPerHost: topology.gpusPerHost,
    scaleUpGbps: topology.scaleUpGbps,
    links: linksByTier(topology),
    rails: distinct(topology.devices.map(({ rail }) => rail)),
    planes: distinct(topology.devices.map(({ plane }) => plane)),
    pods: distinct(topology.devices.map(({ pod }) => pod)),
    diameterLinks: diameterOf(topology),
    leaves: leafSubscriptions(topology),
  };
}

function linksByTier(topology: Topology): TopologySummary['links'] {
  const links: TopologySummary['links'] = {};
  for (const { tier, rateGbps } of topology.links) {
    const entry = (links[tier] ??= { count: 0, ratesGbps: [] });
    entry.count++;
    if (!entry.ratesGbps.includes(rateGbps)) entry.ratesGbps.push(rateGbps);
  }
  for (const { ratesGbps } of Object.values(links)) ratesGbps.sort((a, b) => a - b);
  return links;
}

function diameterOf(topology: Topology): number {
  const graph = new RoutingGraph(topology);
  const table = new RouteTable(graph);
  const oneOfClass = topology.nics.filter(
    ({ index }) => table.classOfNic.indexOf(table.classOfNic[index]) === index,
  );
  let longest = topology.nics.length > oneOfClass.length ? 2 : 0;
  for (const { ports } of oneOfClass) {
    for (const destination of oneOfClass) {
      const ways = ports.map((port) => table.distance(graph.peerNode[port], destination.index));
      const usable = ways.filter((links) => links > 0);
      if (ports !== destination.ports && usable.length > 0)
        longest = Math.max(longest, 1 + Math.min(...usable));
    }
  }
  return longest;
}

function leafSubscriptions(topology: Topology): LeafSubscription[] {
  const { devices, ports, links } = topology;
  return devices
    .filter(({ tier }) => tier === 'leaf')
    .map((leaf) => {
      let hostGbps = 0;
      let fabricGbps = 0;
      for (const port of leaf.ports) {
        const link = links[ports[port].link];
        const peer = link.portA === port ? link.portB : link.portA;
        if (ports[peer].nic >= 0) hostGbps += link.rateGbps;
        else fabricGbps += link.rateGbps;
      }
      const oversubscription = fabricGbps === 0 ? null : hostGbps / fabricGbps;
      return { leaf: leaf.name, hostGbps, fabricGbps, oversubscription };
    });
}

/** Rail, plane, pod and labels as far as an element has them. */
interface Placement {
  rail?: number;
  plane?: number;
  pod?: number;
  labels?: Record<string, string>;
}

export interface TopologyDocument {
  summary: TopologySummary;
  devices: ({ name: string; role: string; tier: string; ports: string[] } & Placement)[];
  nics: { name: string; host: string; address: string; ports: string[]; gpus: number[] }[];
  links: ({
    id: string;
    ends: [string, string];
    tier: string;
    rateGbps: number;
    delayNs: number;
    lossRatio: number;
  } & Placement)[];
}

/** The whole topology by name, without indices. */
export function fullForm(topology: Topology): TopologyDocument {
  const { devices, nics, ports, links, gpus } = topology;
  const graph = new RoutingGraph(topology);
  const portName = (port: number): string => ports[port].name;
  const gpusOfNic = nics.map((): number[] => []);
  for (const { nic, position } of gpus) gpusOfNic[nic].push(position);
  return {
    summary: summarise(topology),
    devices: devices.map((device) => ({
      name: device.name,
      role: device.role,
      tier: device.tier,
      ports: device.ports.map(portName),
      ...placementOf(device),
    })),
    nics: nics.map((nic) => ({
      name: nic.name,
      host: devices[nic.host].name,
      address: addressOf(graph, nic.index),
      ports: nic.ports.map(portName),
      gpus: gpusOfNic[nic.index],
    })),
    links: links.map((link) => ({
      id: link.id,
      ends: [portName(link.portA), portName(link.portB)],
      tier: link.tier,
      rateGbps: link.rateGbps,
      delayNs: link.delayNs,
      lossRatio: link.lossRatio,
      ...placementOf(link),
    })),
  };
}

function placementOf(element: Placement & { labels: Readonly<Record<string, string>> }): Placement {
  const placement: Placement = {};
  if (element.rail !== undefined) placement.rail = element.rail;
  if (element.plane !== undefined) placement.plane = element.plane;
  if (element.pod !== undefined) placement.pod = element.pod;
  if (Object.keys(element.labels).length > 0) placement.labels = { ...element.labels };
  return placement;
}
