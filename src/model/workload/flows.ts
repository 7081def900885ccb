/**
 * Collectives as flow schedules: which rank sends how many bytes to which, and what must move together.
 *
 * A ring, a tree or a chain is pipelined in chunks, so all its edges advance at the pace of the slowest: one coupled
 * group per channel. Direct exchanges (all-to-all, pipeline neighbours) are independent edges. The payload of an
 * edge is that of the whole collective, by the algorithms that nccl-tests' PERFORMANCE.md analyses.
 * Not modelled: chunk sizes and protocols (LL, LL128, Simple), kernel launch time, in-network reduction.
 */
import type { Topology } from '../topology/model.js';
import { channelsOf, isLocal, ringOf, type Channel, type Hop } from './channels.js';
import type { CollectiveOperation } from './job.js';
import { doubleBinaryTree, treeDepth } from './tree.js';

export interface FlowEdge {
  sourceRank: number;
  destinationRank: number;
  /** Payload over this edge in the whole collective. */
  bytes: number;
}

export interface FlowGroup {
  edges: FlowEdge[];
  /** True: all edges carry data at the pace of the slowest and end together. False: each edge on its own. */
  coupled: boolean;
  /**
   * Dependent hops over the fabric, each of which pays one path latency (coupled: that of the group's slowest
   * fabric edge, which all wait for; else the edge's own). 0 when no edge crosses the fabric.
   */
  steps: number;
  /** Dependent hops inside hosts on the same critical path; each pays the topology's `scaleUpDelayNs`. */
  scaleUpSteps: number;
}

/** What an expansion needs to know of an operation. */
export type CollectiveShape = Pick<CollectiveOperation, 'collective' | 'algorithm' | 'bytes'>;

/**
 * The flow groups that one group of ranks runs for a collective; empty for fewer than two ranks or no bytes.
 * Root of a broadcast is the first rank; send-receive goes from each rank of the group to the next, no wrap.
 *
 * @param group ranks in ring order
 * @param placement GPU index of each rank of the job
 */
export function expandCollective(
  operation: CollectiveShape,
  group: readonly number[],
  placement: Int32Array,
  topology: Topology,
): FlowGroup[] {
  const ranks = group.length;
  const { collective, bytes } = operation;
  if (ranks < 2 || bytes === 0) return [];
  switch (collective) {
    case 'all-reduce':
      if (operation.algorithm === 'tree') return trees(bytes, group, placement, topology);
      return rings((2 * (ranks - 1) * bytes) / ranks, 2 * (ranks - 1), group, placement, topology);
    case 'all-gather':
    case 'reduce-scatter':
      return rings(((ranks - 1) * bytes) / ranks, ranks - 1, group, placement, topology);
    case 'broadcast':
      return broadcastChains(bytes, group, placement, topology);
    case 'all-to-all':
      return directGroups(everyPair(group), bytes / ranks, placement, topology);
    case 'send-receive':
      return directGroups(neighbours(group), bytes, placement, topology);
  }
}

/** Ranks at both ends of an edge sit in one host (or behind one NIC) and never use the fabric. */
export const isLocalEdge = (edge: FlowEdge, placement: Int32Array, topology: Topology): boolean =>
  isLocal(topology, placement[edge.sourceRank], placement[edge.destinationRank]);

function toEdges(hops: readonly Hop[], bytes: number): FlowEdge[] {
  return hops.map(({ from, to }) => ({ sourceRank: from, destinationRank: to, bytes }));
}

function countLocal(edges: readonly FlowEdge[], placement: Int32Array, topology: Topology): number {
  return edges.reduce((count, edge) => count + Number(isLocalEdge(edge, placement, topology)), 0);
}

/** @param rankHops rank-to-rank hops that the last chunk makes one after another around the ring */
function rings(
  bytesPerRing: number,
  rankHops: number,
  group: readonly number[],
  placement: Int32Array,
  topology: Topology,
): FlowGroup[] {
  const channels = channelsOf(group, placement, topology);
  return channels.map((channel) => {
    const edges = toEdges(ringOf(channel, placement, topology).flat(), bytesPerRing / channels.length);
    const local = countLocal(edges, placement, topology);
    const crossed = (edgesOfKind: number) => Math.ceil((rankHops * edgesOfKind) / group.length);
    return { edges, coupled: true, steps: crossed(edges.length - local), scaleUpSteps: crossed(local) };
  });
}

/** The ring from the root onward, cut at the hop that would lead back to it. */
function broadcastChains(
  bytes: number,
  group: readonly number[],
  placement: Int32Array,
  topology: Topology,
): FlowGroup[] {
  const channels = channelsOf(group, placement, topology);
  const root = group[0];
  return channels.map((channel) => {
    const ring = ringOf(channel, placement, topology);
    const start = ring.findIndex((hops) => hops[0].from === root);
    // The last entry of the turned ring leads back to the root, who needs nothing.
    const hops = [...ring.slice(start), ...ring.slice(0, start)].slice(0, -1);
    const edges = toEdges(hops.flat(), bytes / channels.length);
    const local = countLocal(edges, placement, topology);
    return { edges, coupled: true, steps: edges.length - local, scaleUpSteps: local };
  });
}

function trees(
  bytes: number,
  group: readonly number[],
  placement: Int32Array,
  topology: Topology,
): FlowGroup[] {
  const channels = channelsOf(group, placement, topology);
  const share = bytes / channels.length;
  return channels.flatMap((channel) => {
    const hosts = channel.chains.length;
    if (hosts === 1) return [treeGroup(channel, [-1], share)];
    return doubleBinaryTree(hosts).map((parents) => treeGroup(channel, parents, share / 2));
  });
}

/** Reduction up and broadcast down one tree of hosts, with a chain below each host's lead. */
function treeGroup(channel: Channel, parents: readonly number[], bytes: number): FlowGroup {
  const upward: Hop[] = [];
  channel.chains.forEach((chain, host) => {
    if (parents[host] >= 0) upward.push({ from: chain[0], to: channel.chains[parents[host]][0] });
    for (let index = 1; index < chain.length; index++) {
      upward.push({ from: chain[index], to: chain[index - 1] });
    }
  });
  const downward = upward.map(({ from, to }) => ({ from: to, to: from }));
  const longestChain = Math.max(...channel.chains.map((chain) => chain.length));
  const depth = treeDepth(parents);
  return {
    edges: toEdges([...upward, ...downward], bytes),
    coupled: true,
    steps: 2 * depth,
    scaleUpSteps: 2 * (longestChain - 1),
  };
}

function everyPair(group: readonly number[]): Hop[] {
  // Each rank starts with its successor, as NCCL staggers its peers, so that no receiver is everyone's first.
  const pairs: Hop[] = [];
  for (let distance = 1; distance < group.length; distance++) {
    group.forEach((from, index) => pairs.push({ from, to: group[(index + distance) % group.length] }));
  }
  return pairs;
}

function neighbours(group: readonly number[]): Hop[] {
  return group.slice(1).map((to, index) => ({ from: group[index], to }));
}

/** Independent edges: those over the fabric, and those inside hosts, where there are any. */
function directGroups(
  hops: readonly Hop[],
  bytes: number,
  placement: Int32Array,
  topology: Topology,
): FlowGroup[] {
  const local: FlowEdge[] = [];
  const fabric: FlowEdge[] = [];
  for (const edge of toEdges(hops, bytes)) {
    (isLocalEdge(edge, placement, topology) ? local : fabric).push(edge);
  }
  return [
    { edges: fabric, coupled: false, steps: 1, scaleUpSteps: 0 },
    { edges: local, coupled: false, steps: 0, scaleUpSteps: 1 },
  ].filter((group) => group.edges.length > 0);
}
