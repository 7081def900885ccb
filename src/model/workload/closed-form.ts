/**
 * How fast a step could be at best: the closed forms of ring, tree and direct collectives on an idle fabric that
 * spreads load perfectly. A measured step that is much longer than this was not healthy to begin with.
 *
 * Transfer: the busiest NIC, scale-up port or set of leaf uplinks carries its payload with packet headers, and the
 * ACKs of what it receives share its sending side. Latency: each dependent step pays one path (propagation, store and forward of a packet at
 * every further hop, the ACK's way back), over the fewest hops. A step then takes the longest chain of its program,
 * and no less than its busiest port needs for all its bytes. Not modelled: congestion, ECMP collisions, other jobs,
 * oversubscription above the leaves (all of them only make it longer).
 */
import type { Topology } from '../topology/model.js';
import { expandCollective, isLocalEdge, type FlowEdge, type FlowGroup } from './flows.js';
import type { CollectiveOperation, Job } from './job.js';
import { LeafUplinks } from './leaf-uplinks.js';
import { PathLatencies, type WireSettings } from './path-latency.js';

export type { WireSettings } from './path-latency.js';

/** Lower bound of a job's step time, ns. 0 for an empty program. */
export function idealStepNs(job: Job, topology: Topology, settings: WireSettings): number {
  const model = new IdealModel(job.placement, topology, settings);
  const { operations } = job.program;
  const endNs = new Float64Array(operations.length);
  const uses = new Map<Ideal, number>();
  operations.forEach((operation, index) => {
    let startNs = 0;
    for (const before of operation.after) {
      if (before >= index) throw new RangeError(`operation ${index} waits for a later one (${before})`);
      startNs = Math.max(startNs, endNs[before]);
    }
    if (operation.type === 'compute') endNs[index] = startNs + operation.durationNs;
    else {
      const ideal = model.collective(operation);
      endNs[index] = startNs + ideal.takesNs;
      uses.set(ideal, (uses.get(ideal) ?? 0) + 1);
    }
  });
  const total = model.emptyLoads();
  for (const [{ busyNs }, count] of uses) busyNs.forEach((ns, port) => (total[port] += ns * count));
  return Math.max(maximum(endNs), maximum(total));
}

/** Lower bound of one collective of a job (all its groups at once), ns. */
export function idealCollectiveNs(
  operation: CollectiveOperation,
  placement: Int32Array,
  topology: Topology,
  settings: WireSettings,
): number {
  return new IdealModel(placement, topology, settings).collective(operation).takesNs;
}

interface Ideal {
  takesNs: number;
  /** How long each port that takes part is busy, ns, by port number. */
  busyNs: ReadonlyMap<number, number>;
}

const maximum = (values: Iterable<number>): number => {
  let most = 0;
  for (const value of values) most = Math.max(most, value);
  return most;
};

/** Ports are numbered, each out then in: NICs, GPUs into their scale-up network, uplinks of sets of leaves. */
class IdealModel {
  private readonly uplinks: LeafUplinks;
  private readonly latencies: PathLatencies;
  private readonly nicBytesPerNs: Float64Array;
  /** By port: what the edges at hand carry, ns; all zero between uses. */
  private readonly own: Float64Array;
  private readonly touched: number[] = [];
  private readonly known = new Map<CollectiveOperation['groups'], Map<string, Ideal>>();

  constructor(
    private readonly placement: Int32Array,
    private readonly topology: Topology,
    private readonly settings: WireSettings,
  ) {
    this.latencies = new PathLatencies(topology, settings);
    this.uplinks = new LeafUplinks(topology);
    this.own = this.emptyLoads();
    this.nicBytesPerNs = Float64Array.from(topology.nics, (nic) =>
      nic.ports.reduce((sum, port) => sum + topology.links[topology.ports[port].link].rateGbps / 8, 0),
    );
  }

  emptyLoads(): Float64Array {
    return new Float64Array(2 * (this.uplinkBase + this.uplinks.count));
  }

  private get uplinkBase(): number {
    return this.topology.nics.length + this.topology.gpus.length;
  }

  /** Layers of a model repeat the same collective over the same groups: each shape is worked out once. */
  collective(operation: CollectiveOperation): Ideal {
    const key = `${operation.collective}/${operation.algorithm}/${operation.bytes}`;
    let byShape = this.known.get(operation.groups);
    if (byShape === undefined) this.known.set(operation.groups, (byShape = new Map<string, Ideal>()));
    let ideal = byShape.get(key);
    if (ideal === undefined) byShape.set(key, (ideal = this.compute(operation)));
    return ideal;
  }

  private compute(operation: CollectiveOperation): Ideal {
    const busyNs = new Map<number, number>();
    let longestNs = 0;
    let leastLatencyNs = Infinity;
    for (const group of operation.groups) {
      for (const flows of expandCollective(operation, group, this.placement, this.topology)) {
        for (const part of flows.coupled ? [flows.edges] : flows.edges.map((edge) => [edge])) {
          const latencyNs = this.latencyNs(flows, part);
          longestNs = Math.max(longestNs, this.transferNs(part, busyNs) + latencyNs);
          leastLatencyNs = Math.min(leastLatencyNs, latencyNs);
        }
      }
    }
    if (longestNs === 0) return { takesNs: 0, busyNs };
    return { takesNs: Math.max(longestNs, maximum(busyNs.values()) + leastLatencyNs), busyNs };
  }

  /** Time of the busiest port of edges that move together; what each port carries is added to `busyNs`. */
  private transferNs(edges: readonly FlowEdge[], busyNs: Map<number, number>): number {
    const { own, touched } = this;
    touched.length = 0;
    for (const edge of edges) this.addEdge(edge);
    let mostNs = 0;
    for (const port of touched) {
      mostNs = Math.max(mostNs, own[port]);
      busyNs.set(port, (busyNs.get(port) ?? 0) + own[port]);
      own[port] = 0;
    }
    return mostNs;
  }

  private add(port: number, ns: number): void {
    if (ns === 0) return;
    if (this.own[port] === 0) this.touched.push(port);
    this.own[port] += ns;
  }

  private cross(port: number, bytesPerNs: number, outBytes: number, inBytes: number): void {
    this.add(2 * port, outBytes / bytesPerNs);
    this.add(2 * port + 1, inBytes / bytesPerNs);
  }

  private addEdge(edge: FlowEdge): void {
    const { topology, placement, settings } = this;
    const source = placement[edge.sourceRank];
    const destination = placement[edge.destinationRank];
    if (isLocalEdge(edge, placement, topology)) {
      if (topology.scaleUpGbps === 0) return;
      const ns = edge.bytes / (topology.scaleUpGbps / 8);
      this.add(2 * (topology.nics.length + source), ns);
      this.add(2 * (topology.nics.length + destination) + 1, ns);
      return;
    }
    const [from, to] = [topology.gpus[source].nic, topology.gpus[destination].nic];
    const packets = edge.bytes / settings.mtu;
    const data = packets * (settings.mtu + settings.headerBytes);
    const acks = packets * settings.ackBytes;
    this.cross(from, this.nicBytesPerNs[from], data, acks);
    this.cross(to, this.nicBytesPerNs[to], acks, data);
    if (!this.uplinks.between(from, to)) return;
    const [up, down] = [this.uplinks.setOf(from), this.uplinks.setOf(to)];
    this.cross(this.uplinkBase + up, this.uplinks.bytesPerNs(up), data, acks);
    this.cross(this.uplinkBase + down, this.uplinks.bytesPerNs(down), acks, data);
  }

  private latencyNs(flows: FlowGroup, edges: readonly FlowEdge[]): number {
    const { topology, placement } = this;
    let sumNs = 0;
    let count = 0;
    if (flows.steps > 0) {
      for (const edge of edges) {
        if (isLocalEdge(edge, placement, topology)) continue;
        const source = topology.gpus[placement[edge.sourceRank]].nic;
        sumNs += this.latencies.between(source, topology.gpus[placement[edge.destinationRank]].nic);
        count++;
      }
    }
    const meanNs = count === 0 ? 0 : sumNs / count;
    return flows.steps * meanNs + flows.scaleUpSteps * topology.scaleUpDelayNs;
  }
}
