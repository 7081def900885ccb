/**
 * A flow group as one variable of the max-min solver: which link directions it loads, and how much per unit of rate.
 *
 * The variable's rate x is the wire rate (bytes/ns) of one QP of the group's heaviest edge. A direction's coefficient
 * is the sum over all QPs that send data on it of the edge's weight, plus the ACK share of those whose ACKs return
 * over it. Edges inside a host load two scale-up capacities per GPU, with payload only; so do NICs with the host side,
 * but only while that side is limited. QPs whose path loses frames load it with what they send again, and bound the
 * rate by their timeouts. A coupled group is one shape, an uncoupled one a shape per edge.
 */
import type { Topology } from '../../model/topology/model.js';
import type { FlowEdge } from '../../model/workload/flows.js';
import { packetBytes, wireFactor, type FabricSettings } from '../settings.js';
import { ackWay, dataWay, type Connections, type Way } from '../transport/connections.js';
import { hopLoss, lossyQp, pathLoss, slowdown, type LossyQp } from '../transport/losses.js';
import { hostRead, hostWrite, scaleUpIn, scaleUpOut, type Rates } from './rates.js';
import { gatherPaths, type ShapePaths } from './shape-paths.js';
import type { RetransmissionSchedule } from '../transport/retransmission.js';
import type { Signals } from '../network/signals.js';

/** A local edge: GPU indices instead of a connection. */
interface LocalEdge {
  sourceGpu: number;
  destinationGpu: number;
  weight: number;
}

/** What all shapes of a simulator share. */
export interface ShapeContext {
  topology: Topology;
  settings: FabricSettings;
  connections: Connections;
  rates: Rates;
  signals: Signals;
  schedule: RetransmissionSchedule;
  /** One cell per capacity, all zero between uses. */
  scratch: Float64Array;
  /** How many there are. */
  shapes: number;
}

/** Per unit of a shape's variable: bytes that a direction's far end can't read, and those frames in full packets. */
export interface Damage {
  bytes: number;
  packets: number;
}

const NO_DAMAGE: ReadonlyMap<number, Damage> = new Map();

export class FlowShape {
  /** In order of creation. */
  readonly id: number;
  /** Connections of the fabric edges, and the weight of each edge (1 for the heaviest of the group). */
  readonly connectionIds: number[] = [];
  readonly weights: number[] = [];
  readonly qps: Int32Array;
  /** Device indices of hosts with an end of any edge. */
  readonly hosts = new Set<number>();
  /** Bytes on the wire that one QP of the heaviest edge has to send. */
  readonly wireBytes: number;
  links = new Int32Array(0);
  coefficients = new Float64Array(0);
  linkCount = 0;
  /** Most that the variable can be, for reasons other than capacity. */
  cap = Infinity;
  /** QPs whose path loses frames. */
  lossy: LossyQp[] = [];
  /** What links damage on the way, by direction. */
  damage: ReadonlyMap<number, Damage> = NO_DAMAGE;
  private readonly local: LocalEdge[] = [];
  private compiledEpoch = -1;
  private compiledConditions = -1;
  private pathVersions = -1;
  private checkedEpoch = -1;
  private checkedWires = -1;
  private works = true;
  private ways: ShapePaths | undefined;
  private waysVersions = -1;
  private readonly usesScaleUp: boolean;
  /** Grows when `links` and `coefficients` change. */
  version = -1;
  /** Of the slowest QP, as of the last `compile`, ns: one packet's way to the receiver, and its ACK's way back. */
  roundTripNs = 0;

  /**
   * @param placement GPU of each rank of the edges; those of edges over the fabric are not looked up
   * @param queuePairs QPs per connection
   * @param connect connection of an edge over the fabric, undefined for one inside a host
   * @param limit most that the variable may be: wire bytes/ns of one QP of the heaviest edge
   */
  constructor(
    private readonly context: ShapeContext,
    edges: readonly FlowEdge[],
    readonly steps: number,
    private readonly scaleUpSteps: number,
    placement: Int32Array,
    private readonly queuePairs: number,
    connect: (edge: FlowEdge) => number | undefined,
    private readonly limit = Infinity,
  ) {
    const { topology, settings, connections } = context;
    this.id = context.shapes++;
    const heaviest = edges.reduce((most, edge) => Math.max(most, edge.bytes), 0);
    this.wireBytes = (heaviest / queuePairs) * wireFactor(settings);
    this.usesScaleUp = topology.scaleUpGbps > 0;
    const qps: number[] = [];
    for (const edge of edges) {
      const weight = edge.bytes / heaviest;
      const connection = weight > 0 ? connect(edge) : undefined;
      if (connection === undefined) {
        const sourceGpu = placement[edge.sourceRank];
        const destinationGpu = placement[edge.destinationRank];
        this.hosts.add(topology.gpus[sourceGpu].host).add(topology.gpus[destinationGpu].host);
        if (weight > 0) this.local.push({ sourceGpu, destinationGpu, weight });
        continue;
      }
      const { sourceNic, destinationNic } = connections.all[connection];
      this.hosts.add(topology.nics[sourceNic].host).add(topology.nics[destinationNic].host);
      this.connectionIds.push(connection);
      this.weights.push(weight);
      const { firstQp, qpCount } = connections.all[connection];
      for (let ordinal = 0; ordinal < qpCount; ordinal++) qps.push(firstQp + ordinal);
    }
    this.qps = Int32Array.from(qps);
  }

  get crossesFabric(): boolean {
    return this.qps.length > 0;
  }

  /** Payload bytes on an edge of weight 1 per wire byte of one of its QPs. */
  get payloadPerWire(): number {
    return this.queuePairs / wireFactor(this.context.settings);
  }

  /** All QPs work. Worked out once for each state of routes and wires. */
  alive(): boolean {
    const { connections } = this.context;
    if (this.checkedEpoch === connections.epoch && this.checkedWires === connections.wireVersion) {
      return this.works;
    }
    this.checkedEpoch = connections.epoch;
    this.checkedWires = connections.wireVersion;
    this.works = true;
    for (let index = 0; index < this.qps.length && this.works; index++) {
      this.works = connections.alive(this.qps[index]);
    }
    return this.works;
  }

  /** Brings `links`, `coefficients` and the round trip up to date with routes, rates and losses. */
  compile(): void {
    const { connections, rates, signals } = this.context;
    const conditions = rates.version + signals.version;
    const sameConditions = this.compiledConditions === conditions;
    if (sameConditions && this.compiledEpoch === connections.epoch) return;
    this.compiledEpoch = connections.epoch;
    this.compiledConditions = conditions;
    let versions = 0;
    for (let index = 0; index < this.qps.length; index++) {
      connections.trace(this.qps[index]);
      versions += connections.pathVersion[this.qps[index]];
    }
    if (sameConditions && versions === this.pathVersions) return;
    this.pathVersions = versions;
    this.roundTripNs = this.longestRoundTripNs();
    this.gather();
  }

  /** The ways of the data, as of the last `compile`. */
  paths(): ShapePaths {
    if (this.ways === undefined || this.waysVersions !== this.pathVersions) {
      this.waysVersions = this.pathVersions;
      this.ways = gatherPaths(this.connectionIds, this.weights, this.context.connections);
    }
    return this.ways;
  }

  private gather(): void {
    const { topology, settings, scratch } = this.context;
    const touched: number[] = [];
    const load = (link: number, amount: number): void => {
      if (scratch[link] === 0) touched.push(link);
      scratch[link] += amount;
    };
    const ackShare = settings.ackBytes / packetBytes(settings);
    this.connectionIds.forEach((id, edge) => {
      const { firstQp, qpCount } = this.context.connections.all[id];
      for (let qp = firstQp; qp < firstQp + qpCount; qp++) {
        this.loadWay(dataWay(qp), this.weights[edge], load);
        if (ackShare > 0) this.loadWay(ackWay(qp), this.weights[edge] * ackShare, load);
      }
      this.loadHosts(id, this.weights[edge] * this.payloadPerWire, load);
    });
    if (this.usesScaleUp) {
      for (const edge of this.local) {
        load(scaleUpOut(topology, edge.sourceGpu), edge.weight * this.payloadPerWire);
        load(scaleUpIn(topology, edge.destinationGpu), edge.weight * this.payloadPerWire);
      }
    }
    const capBefore = this.cap;
    this.addWaste(touched, load);
    touched.sort((a, b) => a - b);
    if (this.cap !== capBefore || this.differs(touched)) {
      this.links = Int32Array.from(touched);
      this.coefficients = Float64Array.from(touched, (link) => scratch[link]);
      this.linkCount = touched.length;
      this.version++;
    }
    for (const link of touched) scratch[link] = 0;
  }

  /** Loads what QPs on lossy paths send in vain, less what is lost before a link, and caps the rate by the slowest. */
  private addWaste(touched: readonly number[], load: (link: number, amount: number) => void): void {
    const { connections, rates, scratch, settings, schedule, signals } = this.context;
    this.cap = this.limit;
    this.lossy = [];
    this.damage = NO_DAMAGE;
    if (signals.lossy === 0) return;
    const damage = new Map<number, Damage>();
    let alone = this.limit;
    for (const link of touched) alone = Math.min(alone, rates.capacities[link] / scratch[link]);
    const ackShare = settings.ackBytes / packetBytes(settings);
    this.connectionIds.forEach((id, edge) => {
      const { firstQp, qpCount } = connections.all[id];
      const weight = this.weights[edge];
      for (let qp = firstQp; qp < firstQp + qpCount; qp++) {
        const ack = { way: ackWay(qp), share: ackShare, loss: signals.ackLoss };
        if (ackShare > 0) this.lose(ack, weight * ackShare, weight * ackShare, load, damage);
        const lossRatio = pathLoss(qp, connections, signals.frameLoss);
        if (lossRatio === 0) continue;
        const pace = alone * weight;
        const one = lossyQp(qp, id, weight, lossRatio, pace, this.qpLatencyNs(qp), settings);
        this.lossy.push(one);
        this.cap = Math.min(this.cap, alone / slowdown(one, pace, settings, schedule));
        const sent = weight * (1 + one.lossesEach * one.windowPackets);
        this.lose({ way: dataWay(qp), share: 1, loss: signals.frameLoss }, sent, weight, load, damage);
      }
    });
    this.damage = damage;
  }

  /**
   * Follows a stream along its way: what its links damage never reaches the next.
   * @param share size of its frames, in full packets
   * @param sent per unit of the variable
   * @param known what of it all its links are loaded with already
   */
  private lose(
    { way, share, loss }: { way: Way; share: number; loss: Float64Array },
    sent: number,
    known: number,
    load: (link: number, amount: number) => void,
    damage: Map<number, Damage>,
  ): void {
    const { connections } = this.context;
    const length = connections.length(way);
    let arrives = sent;
    for (let index = 0; index < length; index++) {
      const direction = connections.direction(way, index);
      if (arrives !== known) load(direction, arrives - known);
      const lost = arrives * hopLoss(loss, direction);
      if (lost === 0) continue;
      arrives -= lost;
      let there = damage.get(direction);
      if (there === undefined) damage.set(direction, (there = { bytes: 0, packets: 0 }));
      there.bytes += lost;
      there.packets += lost / share;
    }
  }

  private differs(touched: readonly number[]): boolean {
    const { scratch } = this.context;
    return (
      this.version < 0 ||
      touched.length !== this.linkCount ||
      touched.some((link, at) => link !== this.links[at] || scratch[link] !== this.coefficients[at])
    );
  }

  private loadHosts(connection: number, amount: number, load: (link: number, amount: number) => void): void {
    const { topology, rates, connections } = this.context;
    const { sourceNic, destinationNic } = connections.all[connection];
    if (rates.hostLimited(sourceNic, 'send')) load(hostRead(topology, sourceNic), amount);
    if (rates.hostLimited(destinationNic, 'receive')) load(hostWrite(topology, destinationNic), amount);
  }

  private loadWay(way: Way, amount: number, load: (link: number, amount: number) => void): void {
    const { connections } = this.context;
    const length = connections.length(way);
    for (let index = 0; index < length; index++) load(connections.direction(way, index), amount);
  }

  /**
   * What the dependent steps of the collective cost beyond the transfer itself, ns: each pays the latency of
   * the slowest path (propagation, store and forward of one packet per further hop, switches, the ACK's return), and the
   * timeouts that lost last packets mean on average.
   */
  get latencyNs(): number {
    const { topology, schedule } = this.context;
    // The last packet of a step has no follower that would show its loss.
    const timeoutNs = this.lossy.reduce((sum, { lossRatio }) => sum + lossRatio, 0) * schedule.intervalNs(1);
    return this.steps * (this.roundTripNs + timeoutNs) + this.scaleUpSteps * topology.scaleUpDelayNs;
  }

  private longestRoundTripNs(): number {
    let longestNs = 0;
    for (let index = 0; index < this.qps.length; index++) {
      longestNs = Math.max(longestNs, this.qpLatencyNs(this.qps[index]));
    }
    return longestNs;
  }

  private qpLatencyNs(qp: number): number {
    const { settings, connections, rates } = this.context;
    if (connections.length(dataWay(qp)) === 0) return 0;
    const packet = packetBytes(settings);
    // The first hop's packet time is part of the transfer.
    const first = packet / rates.capacities[connections.direction(dataWay(qp), 0)];
    return this.wayLatencyNs(dataWay(qp), packet) - first + this.wayLatencyNs(ackWay(qp), settings.ackBytes);
  }

  private wayLatencyNs(way: Way, bytes: number): number {
    const { topology, settings, connections, rates } = this.context;
    const length = connections.length(way);
    let sumNs = Math.max(0, length - 1) * settings.switchLatency;
    for (let index = 0; index < length; index++) {
      const direction = connections.direction(way, index);
      sumNs += topology.links[direction >> 1].delayNs + bytes / rates.capacities[direction];
    }
    return sumNs;
  }
}
