/**
 * The baseline of votes: every bad connection votes for the links that its packets may have taken.
 *
 * The idea of 007 (Arzani et al., NSDI 2018): a flow in trouble blames each of the h links on its path with 1/h, and the
 * link with the most votes is to blame. There the path is traced; here, as for any operator without traces, a vote is
 * spread over the shortest paths between the two NICs as ECMP would spread the traffic. A connection is bad when it stood
 * still, or else when it ran at less than half of its usual rate. Votes know no kinds: loss is what 007 looks for.
 */
import { edgeId } from '../../../src/core/elements.js';
import type { DiagnosisInput } from '../../../src/diagnosis/index.js';
import { EvidenceIndex, type Series } from '../../../src/model/telemetry/series.js';
import { peerPort, type Topology } from '../../../src/model/topology/model.js';
import type { Job } from '../../../src/model/workload/job.js';
import type { Baseline, Suspect } from './answer.js';
import { fresh, median, rise } from './readings.js';

const MOST_SUSPECTS = 3;
const SLOW = 0.5;

export const linkVotes: Baseline = (input): Suspect[] => {
  const votes = new Float64Array(input.topology.links.length);
  const shares = new PathShares(input.topology);
  for (const [from, to] of badConnections(input)) {
    const { links, hops } = shares.between(from, to);
    for (const [link, share] of links) votes[link] += share / hops;
  }
  return [...votes.keys()]
    .filter((link) => votes[link] > 0)
    .sort((a, b) => votes[b] - votes[a] || a - b)
    .slice(0, MOST_SUSPECTS)
    .map((link) => ({
      kind: 'one-way-loss',
      element: { type: 'link', id: input.topology.links[link].id },
    }));
};

/** NICs at both ends of every connection in trouble. */
function badConnections({ topology, jobs, evidence }: DiagnosisInput): [number, number][] {
  const index = new EvidenceIndex(evidence);
  const stalled: [number, number][] = [];
  const slow: [number, number][] = [];
  for (const series of index.all('edge_tx_bytes')) {
    const ends = endsOf(topology, jobs, series.element);
    if (ends === undefined) continue;
    const standstill = index.get('edge_stalled_s', series.element);
    if (standstill !== undefined && rise(standstill) > 0) stalled.push(ends);
    else if (slowedDown(series)) slow.push(ends);
  }
  return stalled.length > 0 ? stalled : slow;
}

/** Whether a connection moved less than half of its usual bytes in some five polls. */
function slowedDown(series: Series): boolean {
  const bytes = fresh(series);
  const moved = bytes.slice(5).map((value, position) => value - bytes[position]);
  const usual = median(moved);
  return usual > 0 && moved.some((amount) => amount < SLOW * usual);
}

function endsOf(topology: Topology, jobs: readonly Job[], edge: string): [number, number] | undefined {
  const [, name, source, destination] = /^edge:(.*)\/(\d+)-(\d+)$/.exec(edge) ?? [];
  const job = jobs.find((candidate) => candidate.name === name);
  if (job === undefined || edge !== edgeId(name, Number(source), Number(destination))) return undefined;
  const nic = (rank: string): number => topology.gpus[job.placement[Number(rank)]]?.nic;
  return [nic(source), nic(destination)];
}

interface Spread {
  /** Link and the share of the packets that takes it. */
  links: readonly (readonly [number, number])[];
  /** Links on a path. */
  hops: number;
}

/** Shares of all shortest paths between two NICs, each device dividing equally among its next hops. */
class PathShares {
  private readonly known = new Map<number, Spread>();
  private readonly distances = new Map<number, Int32Array>();

  constructor(private readonly topology: Topology) {}

  between(from: number, to: number): Spread {
    const key = from * this.topology.nics.length + to;
    let spread = this.known.get(key);
    if (spread === undefined) this.known.set(key, (spread = this.trace(from, to)));
    return spread;
  }

  private trace(from: number, to: number): Spread {
    const { ports, nics } = this.topology;
    const distance = this.distanceTo(to);
    const links = new Map<number, number>();
    const starts = nics[from].ports.filter((port) => distance[this.deviceBehind(port)] >= 0);
    let open = new Map<number, number>();
    const cross = (port: number, share: number, next: Map<number, number>): void => {
      const { link } = ports[port];
      links.set(link, (links.get(link) ?? 0) + share);
      const device = this.deviceBehind(port);
      next.set(device, (next.get(device) ?? 0) + share);
    };
    for (const port of starts) cross(port, 1 / starts.length, open);
    let hops = 1;
    for (; open.size > 0; hops++) {
      const next = new Map<number, number>();
      for (const [device, share] of open) {
        const onward = this.onward(device, to, distance);
        for (const port of onward) cross(port, share / onward.length, next);
      }
      for (const port of nics[to].ports) next.delete(ports[port].device);
      open = next;
    }
    return { links: [...links], hops };
  }

  private deviceBehind(port: number): number {
    return this.topology.ports[peerPort(this.topology, port)].device;
  }

  /** Ports of a switch towards a NIC, by the shortest way. */
  private onward(device: number, to: number, distance: Int32Array): number[] {
    const { devices, ports, nics } = this.topology;
    const direct = nics[to].ports
      .map((port) => peerPort(this.topology, port))
      .filter((port) => ports[port].device === device);
    if (direct.length > 0) return direct;
    return devices[device].ports.filter((port) => {
      const behind = this.deviceBehind(port);
      return devices[behind].role === 'switch' && distance[behind] === distance[device] - 1;
    });
  }

  /** Switch hops to the leaves of a NIC; -1 for hosts. */
  private distanceTo(to: number): Int32Array {
    const { devices, nics } = this.topology;
    const leaves = [...new Set(nics[to].ports.map((port) => this.deviceBehind(port)))].sort((a, b) => a - b);
    const key = leaves[0];
    const known = this.distances.get(key);
    if (known !== undefined) return known;
    const distance = new Int32Array(devices.length).fill(-1);
    let open = leaves;
    for (const leaf of leaves) distance[leaf] = 0;
    for (let hops = 1; open.length > 0; hops++) {
      const next: number[] = [];
      for (const port of open.flatMap((device) => devices[device].ports)) {
        const behind = this.deviceBehind(port);
        if (devices[behind].role !== 'switch' || distance[behind] >= 0) continue;
        distance[behind] = hops;
        next.push(behind);
      }
      open = next;
    }
    this.distances.set(key, distance);
    return distance;
  }
}
