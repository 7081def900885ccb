/**
 * Moving the ranks of a host to another: where they may go, and the placement that results.
 *
 * A rank keeps its position in the host, and with it its NIC and its rail, as device plug-ins and rank files hand GPUs
 * out; so a host can take over when exactly these positions are free there, and none of its GPUs runs a rank of the
 * same job. Hosts without any rank are spares, those under the same leaves the better ones. Not modelled: ranks of one host that go to several.
 */
import { listChoices } from '../../core/nearest.js';
import { peerPort, type Topology } from '../topology/model.js';

/** GPU use of a fabric at some moment. */
export interface GpuUse {
  topology: Topology;
  /** Placement of each job. */
  placements: readonly Int32Array[];
  /** Device indices of hosts that take no ranks: drained ones, and those that store checkpoints. */
  closed?: ReadonlySet<number>;
}

/** Host (device index) → ranks of a job on it, hosts in the order of their first rank. */
export function ranksByHost(placement: Int32Array, topology: Topology): Map<number, number[]> {
  const hosts = new Map<number, number[]>();
  placement.forEach((gpu, rank) => {
    const { host } = topology.gpus[gpu];
    const ranks = hosts.get(host);
    if (ranks === undefined) hosts.set(host, [rank]);
    else ranks.push(rank);
  });
  return hosts;
}

/** What is asked again and again while hosts are compared. */
interface Survey {
  /** Host → position → GPU. */
  gpus: ReadonlyMap<number, ReadonlyMap<number, number>>;
  /** By GPU. */
  taken: Uint8Array;
}

function survey({ topology, placements }: GpuUse): Survey {
  const taken = new Uint8Array(topology.gpus.length);
  for (const placement of placements) for (const gpu of placement) taken[gpu] = 1;
  return { gpus: gpusByHost(topology), taken };
}

function gpusByHost(topology: Topology): Map<number, Map<number, number>> {
  const hosts = new Map<number, Map<number, number>>();
  topology.gpus.forEach(({ host, position }, index) => {
    const gpus = hosts.get(host);
    if (gpus === undefined) hosts.set(host, new Map([[position, index]]));
    else gpus.set(position, index);
  });
  return hosts;
}

/** Why a host can't take the ranks that a job has on another, as a clause; undefined when it can. */
export const whyNoSpare = (use: GpuUse, job: number, fromHost: number, toHost: number): string | undefined =>
  obstacle(use, survey(use), job, fromHost, toHost);

function obstacle(
  { topology, placements, closed }: GpuUse,
  { gpus, taken }: Survey,
  job: number,
  fromHost: number,
  toHost: number,
): string | undefined {
  const { name, role } = topology.devices[toHost];
  if (role !== 'host') return `${name} is a switch`;
  if (toHost === fromHost) return `${name} is the host that they leave`;
  if (closed?.has(toHost)) return `${name} takes no ranks: it is drained, or stores checkpoints`;
  const there = gpus.get(toHost);
  const missing: number[] = [];
  let shared = false;
  for (const gpu of placements[job]) {
    const { host, position } = topology.gpus[gpu];
    shared ||= host === toHost;
    const wanted = there?.get(position);
    if (host === fromHost && (wanted === undefined || taken[wanted] === 1)) missing.push(position);
  }
  if (missing.length > 0) {
    const plural = missing.length > 1;
    return `GPU${plural ? 's' : ''} ${listChoices(missing.map(String))} of ${name} ${plural ? 'are' : 'is'} not free`;
  }
  return shared ? `${name} runs ranks of the same job` : undefined;
}

/**
 * Hosts that can take the ranks a job has on another: idle ones first, of these the ones under the same leaves, then by
 * topology index.
 */
export function spareHosts(use: GpuUse, job: number, fromHost: number): number[] {
  const { topology } = use;
  const found = survey(use);
  const leaves = leavesOf(topology, fromHost);
  const distance = (host: number): number => {
    const busy = [...found.gpus.get(host)!.values()].some((gpu) => found.taken[gpu] === 1);
    const near = [...leavesOf(topology, host)].every((leaf) => leaves.has(leaf));
    return 2 * Number(busy) + Number(!near);
  };
  return [...found.gpus.keys()]
    .filter((host) => obstacle(use, found, job, fromHost, host) === undefined)
    .map((host) => ({ host, distance: distance(host) }))
    .sort((a, b) => a.distance - b.distance || a.host - b.host)
    .map(({ host }) => host);
}

function leavesOf(topology: Topology, host: number): Set<number> {
  return new Set(topology.devices[host].ports.map((port) => topology.ports[peerPort(topology, port)].device));
}

/** The placement after the ranks of one host have gone to another, each to the same position. */
export function movedPlacement(
  placement: Int32Array,
  topology: Topology,
  fromHost: number,
  toHost: number,
): Int32Array {
  const gpus = gpusByHost(topology).get(toHost) ?? new Map<number, number>();
  return placement.map((gpu) => {
    const { host, position } = topology.gpus[gpu];
    return host === fromHost ? (gpus.get(position) ?? gpu) : gpu;
  });
}
