/**
 * Queue pairs of all jobs and the paths their packets take, traced again only after some route has changed.
 *
 * A connection joins two ranks over the fabric with the job's number of QPs. Each QP has a UDP source port of its
 * own in each direction (RoCEv2 range 49152-65535), drawn from the seed and the QP's name, so data and ACKs each
 * hash for themselves; with `sourcePorts: spread` those of jobs' data are chosen instead (path-load.ts). A path is what the nodes' routes say; `alive` also asks whether the wires carry packets.
 * Not modelled: a QP that changes its port after an error, congestion-aware rehashing.
 */
import { hashText } from '../../core/prng.js';
import { nodeSeeds } from '../../model/topology/routing/hash.js';
import type { FabricSettings } from '../settings.js';
import { PathTracer } from '../../model/topology/routing/path.js';
import type { Beliefs } from '../network/beliefs.js';
import { PathLoad } from './path-load.js';
import type { PhysicalLayer } from '../network/physical-layer.js';

/** Longest path kept; a packet that has crossed so many links is in a loop and dropped. */
const MOST_LINKS = 32;

/** Destination rank of a connection that leads to where a job stores its checkpoints. */
export const STORAGE = -1;

export interface Connection {
  index: number;
  /** Job index, and ranks within that job (or STORAGE); negative for traffic that belongs to no job. */
  job: number;
  sourceRank: number;
  destinationRank: number;
  sourceNic: number;
  destinationNic: number;
  firstQp: number;
  qpCount: number;
  /** Traffic class of its packets, 0-7. */
  priority: number;
}

/** One way of a QP: where its path is kept. Data goes by `2 * qp`, ACKs by `2 * qp + 1`. */
export type Way = number;
export const dataWay = (qp: number): Way => 2 * qp;
export const ackWay = (qp: number): Way => 2 * qp + 1;

/** Queues whose packets are lost although the wire is well. */
export interface LostQueues {
  readonly some: boolean;
  /** Grows with every change. */
  readonly version: number;
  losesPriority(direction: number, priority: number): boolean;
}

const NONE_LOST: LostQueues = { some: false, version: 0, losesPriority: () => false };

export class Connections {
  lostQueues = NONE_LOST;
  readonly all: Connection[] = [];
  qpCount = 0;
  /** By QP: its connection. */
  readonly connectionOf: number[] = [];
  /** By QP: grows when its path (either way) changes. */
  readonly pathVersion: number[] = [];
  /** By way: links of the path, up to the node that drops the packet when `complete` is 0. */
  private readonly lengths: number[] = [];
  private readonly complete: number[] = [];
  private readonly endNodes: number[] = [];
  private readonly sourcePorts: number[] = [];
  private readonly tracedEpoch: number[] = [];
  /** By way: `MOST_LINKS` directions each. */
  private paths = new Int32Array(64 * MOST_LINKS);
  /** By QP: one of its hosts went down, and its process with it. */
  private readonly broken: boolean[] = [];
  private readonly mute: boolean[] = [];
  private losses = 0;
  private readonly tracer: PathTracer;
  /** By node: seed of its ECMP hash. */
  private readonly seeds: Uint32Array;
  private readonly scratch = new Int32Array(MOST_LINKS);
  /** What chosen paths have laid on the links; undefined where ports are drawn. */
  private readonly spread: PathLoad | undefined;

  constructor(
    private readonly beliefs: Beliefs,
    private readonly physical: PhysicalLayer,
    { hashSeed, hashSeeds, sourcePorts }: Pick<FabricSettings, 'hashSeed' | 'hashSeeds' | 'sourcePorts'>,
    private readonly seed: number,
  ) {
    this.spread = sourcePorts === 'spread' ? new PathLoad() : undefined;
    this.seeds = nodeSeeds(beliefs.graph, hashSeed, hashSeeds === 'equal');
    this.tracer = new PathTracer(beliefs.graph, this.seeds, MOST_LINKS);
  }

  /** Seed of a device's ECMP hash. */
  hashSeed(device: number): number {
    return this.seeds[device];
  }

  setHashSeed(device: number, seed: number): void {
    if (this.seeds[device] === seed) return;
    this.seeds[device] = seed;
    this.beliefs.disturb();
  }

  /** @param name unique name of the connection, from which its UDP ports are drawn */
  open(connection: Omit<Connection, 'index' | 'firstQp'>, name: string): Connection {
    const opened: Connection = { ...connection, index: this.all.length, firstQp: this.qpCount };
    this.all.push(opened);
    for (let ordinal = 0; ordinal < connection.qpCount; ordinal++)
      this.addQp(opened.index, `${name}/${ordinal}`);
    return opened;
  }

  private addQp(connection: number, name: string): void {
    const qp = this.qpCount++;
    this.connectionOf.push(connection);
    this.pathVersion.push(0);
    this.broken.push(false);
    this.mute.push(false);
    for (const way of [dataWay(qp), ackWay(qp)]) {
      this.sourcePorts.push(this.sourcePort(name, way, this.all[connection]));
      this.lengths.push(0);
      this.complete.push(0);
      this.endNodes.push(-1);
    }
    this.tracedEpoch.push(-1);
    if ((2 * qp + 2) * MOST_LINKS > this.paths.length) {
      const paths = new Int32Array(this.paths.length * 2);
      paths.set(this.paths);
      this.paths = paths;
    }
  }

  /** New processes at its ends, perhaps on other hosts: new QPs in place of the old ones, whose timers have stopped. */
  renew(index: number, sourceNic: number, destinationNic: number, name: string): void {
    const connection = this.all[index];
    connection.sourceNic = sourceNic;
    connection.destinationNic = destinationNic;
    for (let ordinal = 0; ordinal < connection.qpCount; ordinal++) {
      const qp = connection.firstQp + ordinal;
      this.spread?.release(dataWay(qp));
      for (const way of [dataWay(qp), ackWay(qp)]) {
        this.sourcePorts[way] = this.sourcePort(`${name}/${ordinal}`, way, connection);
      }
      this.tracedEpoch[qp] = -1;
      this.pathVersion[qp]++;
      this.broken[qp] = false;
      this.mute[qp] = false;
    }
  }

  /** Ports of a job's data may be chosen by their paths; the first candidate is the one that would be drawn. */
  private sourcePort(qpName: string, way: Way, { job, sourceNic, destinationNic }: Connection): number {
    const first = hashText(`${qpName}/${way & 1}`, this.seed >>> 0) & 0x3fff;
    const port = (candidate: number): number => 0xc000 + ((first + candidate) & 0x3fff);
    if (this.spread === undefined || job < 0 || (way & 1) === 1) return port(0);
    const { tracer, scratch, beliefs } = this;
    return port(
      this.spread.choose(way, (candidate) => {
        const length = tracer.trace(beliefs.tableOf, sourceNic, destinationNic, port(candidate), scratch);
        return scratch.subarray(0, Math.max(0, length));
      }),
    );
  }

  /** Grows when some path may differ. */
  get epoch(): number {
    return this.beliefs.epoch;
  }

  /** Grows when some link, or queue, carries more or less than before, or processes are gone. */
  get wireVersion(): number {
    return this.physical.version + this.losses + this.lostQueues.version;
  }

  /** Packets get across a direction of a link. */
  carries(direction: number): boolean {
    return this.physical.usable[direction] === 1;
  }

  /** Brings the QP's paths up to date with the routes. */
  trace(qp: number): void {
    if (this.tracedEpoch[qp] === this.beliefs.epoch) return;
    this.tracedEpoch[qp] = this.beliefs.epoch;
    const { sourceNic, destinationNic } = this.all[this.connectionOf[qp]];
    const dataMoved = this.traceWay(dataWay(qp), sourceNic, destinationNic);
    const ackMoved = this.traceWay(ackWay(qp), destinationNic, sourceNic);
    if (dataMoved || ackMoved) this.pathVersion[qp]++;
  }

  private traceWay(way: Way, fromNic: number, toNic: number): boolean {
    const { scratch, tracer } = this;
    const length = tracer.trace(this.beliefs.tableOf, fromNic, toNic, this.sourcePorts[way], scratch);
    const start = way * MOST_LINKS;
    const complete = Number(length >= 0);
    const kept = length >= 0 ? length : this.lengthTo(tracer.endNode, fromNic);
    let moved = kept !== this.lengths[way] || complete !== this.complete[way];
    for (let index = 0; index < kept; index++) {
      moved ||= this.paths[start + index] !== scratch[index];
      this.paths[start + index] = scratch[index];
    }
    this.lengths[way] = kept;
    this.complete[way] = complete;
    this.endNodes[way] = tracer.endNode;
    return moved;
  }

  /** Links of the failed trace in `scratch` from the source to the node that dropped the packet. */
  private lengthTo(endNode: number, fromNic: number): number {
    const { graph } = this.beliefs;
    if (this.tracer.looped) return MOST_LINKS;
    let node = graph.nodeOfNic(fromNic);
    let length = 0;
    while (node !== endNode) node = this.receivingNode(this.scratch[length++]);
    return length;
  }

  private receivingNode(direction: number): number {
    const link = this.beliefs.graph.topology.links[direction >> 1];
    return this.beliefs.graph.ownNode[(direction & 1) === 0 ? link.portB : link.portA];
  }

  length(way: Way): number {
    return this.lengths[way];
  }

  /** The `index`-th direction of a path. */
  direction(way: Way, index: number): number {
    return this.paths[way * MOST_LINKS + index];
  }

  /** Packets arrive, and their ACKs come back. */
  alive(qp: number): boolean {
    this.trace(qp);
    return !this.broken[qp] && this.passes(dataWay(qp)) && this.passes(ackWay(qp));
  }

  /** Packets get from end to end by this way. */
  passes(way: Way): boolean {
    return this.complete[way] === 1 && this.reach(way) === this.lengths[way];
  }

  /** Number of links a packet crosses before it meets one that carries nothing. */
  reach(way: Way): number {
    const start = way * MOST_LINKS;
    const length = this.lengths[way];
    const { usable } = this.physical;
    let index = 0;
    while (index < length && usable[this.paths[start + index]] === 1) {
      if (this.lostQueues.some && this.lost(way, this.paths[start + index])) break;
      index++;
    }
    return index;
  }

  private lost(way: Way, direction: number): boolean {
    return this.lostQueues.losesPriority(direction, this.all[this.connectionOf[way >> 1]].priority);
  }

  /**
   * The port at which the dropping node would send the packet on, had it a route: that of the healthy fabric.
   * -1 when that node is the source NIC of a loop or has no port there either.
   */
  missingPort(way: Way): number {
    const { graph, healthyTable } = this.beliefs;
    const connection = this.all[this.connectionOf[way >> 1]];
    const [fromNic, toNic] =
      (way & 1) === 0
        ? [connection.sourceNic, connection.destinationNic]
        : [connection.destinationNic, connection.sourceNic];
    const node = this.endNodes[way];
    const nic = graph.nicOfNode(node);
    if (nic >= 0) return nic === fromNic ? healthyTable.nicGroupPort(nic, toNic, 0) : -1;
    return healthyTable.groupSize(node, toNic) > 0 ? healthyTable.groupPort(node, toNic, 0) : -1;
  }

  /**
   * The processes on a host are gone: its QPs never work again, those that send from there fall silent.
   * @param ofJob only that job's processes
   * @returns the silent ones
   */
  breakHost(host: number, ofJob?: number): number[] {
    const { nics } = this.beliefs.graph.topology;
    const silenced: number[] = [];
    this.losses++;
    for (const { job, sourceNic, destinationNic, firstQp, qpCount } of this.all) {
      if (ofJob !== undefined && job !== ofJob) continue;
      const sends = nics[sourceNic].host === host;
      if (!sends && nics[destinationNic].host !== host) continue;
      for (let qp = firstQp; qp < firstQp + qpCount; qp++) {
        this.broken[qp] = true;
        if (sends) silenced.push(qp);
        this.mute[qp] ||= sends;
      }
    }
    return silenced;
  }

  /** There is a process at its other end to answer. */
  answered(qp: number): boolean {
    return !this.broken[qp];
  }

  /** The QP's sending process is gone: no timer runs. */
  silent(qp: number): boolean {
    return this.mute[qp];
  }
}
