/**
 * Channels: the order in which a group's ranks pass data on, as NCCL lays its rings through hosts.
 *
 * Ranks that reach each other without the fabric form one chain (a host with a scale-up network; without one, the
 * GPUs behind one NIC). A group that spans hosts gets one channel per NIC that every host can offer. Channel c
 * enters and leaves each host through the NIC of its c-th lead, so each NIC carries 1/channels of the bytes; the
 * last rank of a chain hands its data to the lead over scale-up before it leaves (NCCL's PXN).
 * Source: NCCL's graph search (one NIC per channel, no rail crossing) and its 2.12 notes on PXN.
 * Not modelled: several channels per NIC, rings that change direction, NVLS.
 */
import type { Topology } from '../topology/model.js';

/** One ring (or tree of hosts) through all ranks of a group. */
export interface Channel {
  /** Ranks of each host in the order data visits them; `chains[h][0]` is the lead that owns the channel's NIC. */
  chains: number[][];
}

/** `from` and `to` are ranks. */
export interface Hop {
  from: number;
  to: number;
}

/** Whether two GPUs exchange data without touching the fabric. */
export function isLocal(topology: Topology, gpuA: number, gpuB: number): boolean {
  const a = topology.gpus[gpuA];
  const b = topology.gpus[gpuB];
  return topology.scaleUpGbps > 0 ? a.host === b.host : a.nic === b.nic;
}

/** Ranks of a group by locality domain, domains in the order of their first rank. */
function localChains(group: readonly number[], placement: Int32Array, topology: Topology): number[][] {
  const chains = new Map<number, number[]>();
  for (const rank of group) {
    const gpu = topology.gpus[placement[rank]];
    const domain = topology.scaleUpGbps > 0 ? gpu.host : gpu.nic;
    const chain = chains.get(domain);
    if (chain === undefined) chains.set(domain, [rank]);
    else chain.push(rank);
  }
  return [...chains.values()];
}

/** NIC positions of a chain → index in the chain of the first rank behind that NIC. */
function leadsByPosition(chain: number[], placement: Int32Array, topology: Topology): Map<number, number> {
  const leads = new Map<number, number>();
  chain.forEach((rank, index) => {
    const { position } = topology.nics[topology.gpus[placement[rank]].nic];
    if (!leads.has(position)) leads.set(position, index);
  });
  return leads;
}

const rotate = (chain: number[], start: number): number[] => [
  ...chain.slice(start),
  ...chain.slice(0, start),
];

const sorted = (numbers: number[]): number[] => numbers.sort((a, b) => a - b);

/**
 * The channels of a group. NIC positions that all hosts share come first, so that a channel stays on its rail
 * wherever the placement allows it.
 */
export function channelsOf(group: readonly number[], placement: Int32Array, topology: Topology): Channel[] {
  const chains = localChains(group, placement, topology);
  if (chains.length === 1) return [{ chains }];
  const leads = chains.map((chain) => leadsByPosition(chain, placement, topology));
  const shared = sorted([...leads[0].keys()].filter((position) => leads.every((lead) => lead.has(position))));
  const order = leads.map((lead) => {
    const others = [...lead.keys()].filter((position) => !shared.includes(position));
    return [...shared, ...sorted(others)];
  });
  const count = Math.min(...order.map((positions) => positions.length));
  return Array.from({ length: count }, (_, channel) => ({
    chains: chains.map((chain, host) => rotate(chain, leads[host].get(order[host][channel])!)),
  }));
}

/**
 * The ring of a channel: one entry per rank, the hops that bring data from it to its successor (two where the data
 * must first reach the lead's NIC over scale-up).
 */
export function ringOf(channel: Channel, placement: Int32Array, topology: Topology): Hop[][] {
  const { chains } = channel;
  const ring: Hop[][] = [];
  chains.forEach((chain, host) => {
    for (let index = 0; index + 1 < chain.length; index++) {
      ring.push([{ from: chain[index], to: chain[index + 1] }]);
    }
    const lead = chain[0];
    const last = chain[chain.length - 1];
    const next = chains[(host + 1) % chains.length][0];
    const sameNic = topology.gpus[placement[last]].nic === topology.gpus[placement[lead]].nic;
    if (chains.length === 1 || sameNic) ring.push([{ from: last, to: next }]);
    else
      ring.push([
        { from: last, to: lead },
        { from: lead, to: next },
      ]);
  });
  return ring;
}
