/**
 * What an equilibrium means for counters and gauges while it holds: so much per ns, and so many bytes here and there.
 *
 * Marks, pauses, drops and notifications are rates; queues and buffers are levels. A pause takes a frame to stop, one to
 * go on, and one per 65535 quanta of 512 bit times in between (IEEE 802.1Qbb). A notification travels back the way of the
 * QP's ACKs in a class of its own. What a path loses on its way, what it sends again for that, and what of it waits where
 * is worked out path by path, hop by hop, so that what goes into a device equals what comes out, waits and is dropped.
 */
import { packetBytes, type FabricSettings } from '../settings.js';
import { ackWay, type Connections, type Way } from '../transport/connections.js';
import type { Counters } from '../sampling/counters.js';
import type { EquilibriumFlow, EquilibriumNetwork, EquilibriumResult } from './equilibrium/model.js';
import { GainBook, type Gains } from './gains.js';
import type { PauseStorms } from '../network/pause-storms.js';
import type { Signals } from '../network/signals.js';
import { hopLoss } from '../transport/losses.js';
import type { FlowWaits } from './flow-backlog.js';

/** Longest pause that one frame asks for, in bit times. */
const PAUSE_BIT_TIMES = 65535 * 512;
/**
 * Pause frames: one to stop and one to go on, and one whenever a pause would run out.
 * @param share of the time that the sender is held
 * @param lineRate bytes/ns
 */
export const pauseFramesPerNs = (pausesPerNs: number, share: number, lineRate: number): number =>
  pauseFrames(pausesPerNs, share, lineRate);

/** As {@link pauseFramesPerNs}, for so many pauses that hold for so many ns in all. */
export const pauseFrames = (pauses: number, heldNs: number, lineRate: number): number =>
  2 * pauses + (heldNs * lineRate * 8) / PAUSE_BIT_TIMES;

/** A direction that is held for all of the time, but for rounding. */
const STANDS_STILL = 1 - 1e-9;

/** A flow as the equilibrium sees it, with the QP of each of its paths. */
export interface CongestedFlow extends EquilibriumFlow {
  readonly pathQps: Int32Array;
}

/** A level of a queue: class index, direction, bytes. */
export interface Level {
  classIndex: number;
  direction: number;
  bytes: number;
  /** Its watermark, and what leaves it. */
  mostBytes: number;
  rate: number;
}

/** What contended flows have of a switch's buffer, bytes. */
export interface BufferClaim {
  device: number;
  usedBytes: number;
  /** Free buffer at which the fullest of their ports or queues would be at its threshold; Infinity where one is. */
  neededBytes: number;
  /** Of the switch, for all. */
  sharedBytes: number;
}

export interface Picture {
  /** Useful bytes/ns of each flow's variable, in the order of the flows. */
  rates: Float64Array;
  gains: Gains;
  queues: readonly Level[];
  /** What of each flow waits in queues, in the order of the flows. */
  waits: readonly (FlowWaits | undefined)[];
  /** Buffer in use: device, mean and most bytes. */
  buffers: readonly (readonly [device: number, bytes: number, mostBytes: number])[];
  claims: readonly BufferClaim[];
  /** QPs that wait behind a pause without end. */
  heldQps: readonly number[];
  /** Directions whose sender is held some of the time. */
  paused: Set<number>;
  /** Queues, by class × directions + direction, that some flow crosses and that send nothing. */
  stuck: ReadonlySet<number>;
  /** Tells pictures apart: from 1, in order of making. */
  serial: number;
}

export class PictureMaker {
  private readonly packetBytes: number;
  private readonly cnpClass: number;
  private made = 0;

  constructor(
    private readonly network: EquilibriumNetwork,
    private readonly settings: FabricSettings,
    private readonly connections: Connections,
    private readonly counters: Counters,
    private readonly signals: Signals,
    private readonly storms: PauseStorms,
    /** Port that sends on each direction. */
    private readonly portOf: Int32Array,
    /** NIC at the end of each direction, or -1. */
    private readonly nicAt: Int32Array,
  ) {
    this.packetBytes = packetBytes(settings);
    this.cnpClass = counters.classOf(settings.dcqcn.cnpPriority);
  }

  make(flows: readonly CongestedFlow[], result: EquilibriumResult): Picture {
    const book = new GainBook();
    const picture: Picture = {
      rates: result.rate.slice(0, flows.length),
      gains: [],
      queues: [],
      waits: [],
      buffers: this.buffersOf(result),
      claims: this.claimsOf(result),
      heldQps: [],
      stuck: new Set(),
      paused: new Set(),
      serial: ++this.made,
    };
    this.readQueues(result, picture, book);
    this.readPaths(flows, result, picture, book);
    picture.gains = book.close();
    return picture;
  }

  private readQueues(result: EquilibriumResult, picture: Picture, book: GainBook): void {
    const { counters, network } = this;
    const queues: Level[] = [];
    const stuck = new Set<number>();
    for (let at = 0; at < result.touchedCount; at++) {
      const key = result.touched[at];
      const direction = key % network.directions;
      const classIndex = (key - direction) / network.directions;
      const [bytes, rate] = [result.queueBytes[key], result.carriedRate[key]];
      if (result.queueMaxBytes[key] > 0) {
        queues.push({ classIndex, direction, bytes, mostBytes: result.queueMaxBytes[key], rate });
      }
      const packetsPerNs = rate / this.packetBytes;
      book.add(counters.marked[classIndex], direction, result.markRatio[key] * packetsPerNs);
      const share = result.pausedShare[key];
      if (share >= STANDS_STILL) stuck.add(key);
      if (this.storms.blocks(direction, classIndex)) continue;
      book.add(counters.pausedNs, direction, share);
      if (share > 0) picture.paused.add(direction);
      const frames = pauseFramesPerNs(result.pausesPerNs[key], share, network.capacity[direction]);
      book.add(counters.pauseFrames, direction, frames);
    }
    picture.queues = queues;
    picture.stuck = stuck;
  }

  /** @param isStuck whether flows cross a queue (class × directions + direction) that sends nothing */
  stormGains(isStuck: (queue: number) => boolean): Gains {
    const { counters, network, storms, connections } = this;
    const book = new GainBook();
    for (const { direction, classIndex, on } of storms.all) {
      if (!on || !connections.carries(direction ^ 1)) continue;
      book.add(counters.pauseFrames, direction, pauseFramesPerNs(0, 1, network.capacity[direction]));
      const held = storms.blocks(direction, classIndex) || storms.loses(direction, classIndex);
      const known = isStuck(classIndex * network.directions + direction);
      if (held || known) book.add(counters.pausedNs, direction, 1);
    }
    return book.close();
  }

  private readPaths(
    flows: readonly CongestedFlow[],
    result: EquilibriumResult,
    picture: Picture,
    book: GainBook,
  ): void {
    const held: number[] = [];
    const crowds = this.crowds(flows, result, picture.stuck);
    picture.waits = flows.map((flow, index) => {
      const first = result.pathStart[index];
      if (result.pathStart[index + 1] === first) return undefined;
      const waits = { path: [] as number[], place: [] as number[], bytes: [] as number[] };
      for (let path = 0; path < flow.paths.count; path++) {
        const useful = flow.paths.weights[path] * result.rate[index];
        const sent = this.readHops(flow, path, useful, first + path, result, book, waits, crowds);
        this.addNotices(flow, path, first + path, sent, useful, result, book);
        if (this.blocked(flow, path, picture.stuck)) held.push(flow.pathQps[path]);
      }
      return waits.path.length > 0 ? waits : undefined;
    });
    picture.heldQps = held;
  }

  /**
   * Follows a path from hop to hop: what it sends beyond its useful bytes, what is dropped of it, and what waits.
   * @param crowds weights of the paths that stand before queues which send nothing
   * @returns bytes/ns that it sends
   */
  private readHops(
    { paths, classIndex }: CongestedFlow,
    path: number,
    useful: number,
    place: number,
    result: EquilibriumResult,
    book: GainBook,
    waits: { path: number[]; place: number[]; bytes: number[] },
    crowds: ReadonlyMap<number, number>,
  ): number {
    const { counters, network } = this;
    const [start, end] = [paths.starts[path], paths.starts[path + 1]];
    const lossy = result.pathLossRatio[place] > 0;
    let sent = useful;
    if (lossy) {
      // A search ends near its aim: useful bytes must arrive.
      let passes = 1;
      for (let at = start; at < end; at++) passes *= this.passing(classIndex, paths.links[at], result).all;
      sent *= Math.max(result.pathSentRatio[place], 1 / passes);
    }
    let arrives = sent;
    for (let at = start; at < end; at++) {
      const direction = paths.links[at];
      const key = classIndex * network.directions + direction;
      const level = network.isSwitch[network.fromDevice[direction]] === 1 ? result.queueBytes[key] : 0;
      if (level === 0 && !lossy) continue;
      const crowd = crowds.get(key);
      const { data, queue, port } = this.passing(classIndex, direction, result);
      const share = crowd === undefined ? arrives / data : paths.weights[path] / crowd;
      if (level > 0 && share > 0) {
        waits.path.push(path);
        waits.place.push(at);
        waits.bytes.push(level * share);
      }
      if (!lossy) continue;
      const crosses = arrives * queue;
      book.add(counters.discards[classIndex], this.portOf[direction], (arrives - crosses) / this.packetBytes);
      book.add(counters.carried[classIndex], direction, Math.max(0, crosses - useful));
      arrives = crosses * port;
      const discards = (crosses - arrives) / this.packetBytes;
      book.add(counters.overflowed, direction, discards);
      if (this.nicAt[direction] >= 0) book.add(counters.nicDiscards, this.nicAt[direction], discards);
    }
    return sent;
  }

  /** Data that comes to a queue, and the shares of it that are not dropped there, nor on arrival at the next device. */
  private passing(
    classIndex: number,
    direction: number,
    result: EquilibriumResult,
  ): { data: number; queue: number; port: number; all: number } {
    const key = classIndex * this.network.directions + direction;
    const carried = result.carriedDataRate[key];
    const dropped = result.dropRatio[key] * result.arrivalRate[key];
    const data = carried + dropped;
    const atNic = dropped > 0 ? this.droppedByNic(classIndex, direction, result, dropped) : 0;
    const crosses = carried + atNic;
    const queue = data > 0 ? crosses / data : 1;
    const port = crosses > 0 ? 1 - (result.discardRate[key] + atNic) / crosses : 1;
    return { data, queue, port, all: queue * port };
  }

  /** Of what is lost at the end of a path, bytes/ns that the link carries and a slow NIC has no room for. */
  private droppedByNic(
    classIndex: number,
    direction: number,
    result: EquilibriumResult,
    dropped: number,
  ): number {
    const { capacity, classes, directions } = this.network;
    const accepted = this.network.acceptsAll?.(direction) ?? Infinity;
    if (this.nicAt[direction] < 0 || accepted >= capacity[direction]) return 0;
    let room = capacity[direction];
    for (let other = 0; other < classes; other++) room -= result.carriedRate[other * directions + direction];
    return Math.max(0, Math.min(dropped, room));
  }

  /** By queue that sends nothing: weights of the paths that stand before it. */
  private crowds(
    flows: readonly CongestedFlow[],
    result: EquilibriumResult,
    stuck: ReadonlySet<number>,
  ): Map<number, number> {
    const crowds = new Map<number, number>();
    for (let index = 0; stuck.size > 0 && index < flows.length; index++) {
      if (result.pathStart[index + 1] === result.pathStart[index]) continue;
      const { paths, classIndex } = flows[index];
      for (let path = 0; path < paths.count; path++) {
        for (let at = paths.starts[path]; at < paths.starts[path + 1]; at++) {
          const key = classIndex * this.network.directions + paths.links[at];
          if (stuck.has(key)) crowds.set(key, (crowds.get(key) ?? 0) + paths.weights[path]);
        }
      }
    }
    return crowds;
  }

  /** Marks that arrive, the notifications they cause, and what losses mean for the NICs at both ends. */
  private addNotices(
    flow: CongestedFlow,
    path: number,
    place: number,
    sent: number,
    useful: number,
    result: EquilibriumResult,
    book: GainBook,
  ): void {
    const { counters, connections, network } = this;
    const qp = flow.pathQps[path];
    const { sourceNic, destinationNic } = connections.all[connections.connectionOf[qp]];
    const loss = result.pathLossRatio[place];
    const arriving = (sent * (1 - loss)) / this.packetBytes;
    book.add(counters.markedReceived, destinationNic, arriving * result.pathMarkRatio[place]);
    if (loss > 0) {
      book.add(counters.sequenceErrors, sourceNic, (sent * loss) / this.packetBytes);
      book.add(counters.outOfSequence, destinationNic, Math.max(0, arriving - useful / this.packetBytes));
    }
    const notices = result.pathCnpPerNs[place];
    if (notices === 0 || network.dcqcn === null) return;
    book.add(counters.cnpSent, destinationNic, notices);
    book.add(counters.cnpHandled, sourceNic, notices * this.sendNotices(ackWay(qp), notices, book));
  }

  /** Counts notifications on their way back. @returns the share of them that arrives */
  private sendNotices(way: Way, notices: number, book: GainBook): number {
    const { counters, connections, cnpClass, settings, signals } = this;
    let arrives = 1;
    for (let hop = 0; hop < connections.length(way); hop++) {
      const direction = connections.direction(way, hop);
      const lost = arrives * hopLoss(signals.ackLoss, direction);
      arrives -= lost;
      book.add(counters.carried[cnpClass], direction, notices * arrives * settings.ackBytes);
      book.add(counters.vanished[cnpClass], direction, notices * lost * settings.ackBytes);
      book.add(counters.damaged, direction, notices * lost);
    }
    return arrives;
  }

  private blocked({ paths, classIndex }: CongestedFlow, path: number, stuck: ReadonlySet<number>): boolean {
    if (stuck.size === 0) return false;
    for (let at = paths.starts[path]; at < paths.starts[path + 1]; at++) {
      if (stuck.has(classIndex * this.network.directions + paths.links[at])) return true;
    }
    return false;
  }

  private buffersOf(result: EquilibriumResult): [number, number, number][] {
    const buffers: [number, number, number][] = [];
    const { devices } = result;
    for (let at = 0; at < result.deviceCount; at++) {
      const device = devices[at];
      const most = exact(result.bufferMaxBytes[device]);
      if (most > 0) buffers.push([device, exact(result.bufferBytes[device]), most]);
    }
    return buffers;
  }

  private claimsOf(result: EquilibriumResult): BufferClaim[] {
    const claims: BufferClaim[] = [];
    for (let at = 0; at < result.deviceCount; at++) {
      const device = result.devices[at];
      claims.push({
        device,
        usedBytes: result.bufferBytes[device],
        neededBytes: result.bufferNeededBytes[device],
        sharedBytes: result.bufferSharedBytes[device],
      });
    }
    return claims;
  }
}

/** Bytes in steps of 2^-10: sums of such amounts are exact, in whatever order they come and go. */
const exact = (bytes: number): number => Math.round(bytes * 1024) / 1024;
