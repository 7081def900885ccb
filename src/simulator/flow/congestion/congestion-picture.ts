/**
 * What an equilibrium means for counters and gauges while it holds: so much per ns, and so many bytes here and there.
 *
 * Marks, pauses, drops and notifications are rates; queues and buffers are levels. A pause takes a frame to stop, one to
 * go on, and one per 65535 quanta of 512 bit times in between (IEEE 802.1Qbb). A notification travels back the way of the
 * QP's ACKs in a class of its own. Bytes that wait in a queue have been sent by every port before it and by none after;
 * they are kept per direction, so that what goes into a device equals what comes out, waits and is dropped.
 */
import { packetBytes, type FabricSettings } from '../../settings.js';
import { ackWay, type Connections } from '../transport/connections.js';
import type { Counters } from '../polls/counters.js';
import type { EquilibriumFlow, EquilibriumNetwork, EquilibriumResult } from '../equilibrium/model.js';
import { GainBook, type Gains } from './gains.js';
import type { PauseStorms } from '../plant/pause-storms.js';

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

/** A level of a queue, or of bytes on their way: class index, direction, bytes. */
export interface Level {
  classIndex: number;
  direction: number;
  bytes: number;
  /** Of a queue: its watermark, and what leaves it. */
  mostBytes: number;
  rate: number;
}

export interface Picture {
  /** Rates differ from max-min; else only gains of storms are told. */
  congested: boolean;
  /** Useful bytes/ns of each flow's variable, in the order of the flows. */
  rates: Float64Array;
  gains: Gains;
  queues: readonly Level[];
  /** Bytes that have crossed a direction and wait in a queue further on. */
  ahead: readonly Level[];
  /** Buffer in use: device, mean and most bytes. */
  buffers: readonly (readonly [device: number, bytes: number, mostBytes: number])[];
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
    private readonly storms: PauseStorms,
    /** Port that sends on each direction. */
    private readonly portOf: Int32Array,
  ) {
    this.packetBytes = packetBytes(settings);
    this.cnpClass = counters.classOf(settings.dcqcn.cnpPriority);
  }

  make(flows: readonly CongestedFlow[], result: EquilibriumResult): Picture {
    const book = new GainBook();
    const picture: Picture = {
      congested: result.congested,
      rates: result.rate.slice(0, flows.length),
      gains: [],
      queues: [],
      ahead: [],
      buffers: [],
      heldQps: [],
      stuck: new Set(),
      paused: new Set(),
      serial: ++this.made,
    };
    if (result.congested) {
      this.readQueues(result, picture, book);
      this.readPaths(flows, result, picture, book);
      picture.buffers = this.buffersOf(result);
    }
    this.addStorms(picture, book);
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
      const dropped = (result.dropRatio[key] * result.arrivalRate[key]) / this.packetBytes;
      book.add(counters.discards[classIndex], this.portOf[direction], dropped);
      book.add(counters.overflowed, direction, result.discardRate[key] / this.packetBytes);
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

  private addStorms({ stuck }: Picture, book: GainBook): void {
    const { counters, network, storms, connections } = this;
    for (const { direction, classIndex, on } of storms.all) {
      if (!on || !connections.carries(direction ^ 1)) continue;
      book.add(counters.pauseFrames, direction, pauseFramesPerNs(0, 1, network.capacity[direction]));
      const held = storms.blocks(direction, classIndex) || storms.loses(direction, classIndex);
      const known = stuck.has(classIndex * network.directions + direction);
      if (held || known) book.add(counters.pausedNs, direction, 1);
    }
  }

  private readPaths(
    flows: readonly CongestedFlow[],
    result: EquilibriumResult,
    picture: Picture,
    book: GainBook,
  ): void {
    const ahead = new Map<number, number>();
    const repeated = new Map<number, number>();
    const held: number[] = [];
    for (let index = 0; index < flows.length; index++) {
      const first = result.pathStart[index];
      if (result.pathStart[index + 1] === first) continue;
      const flow = flows[index];
      for (let path = 0; path < flow.paths.count; path++) {
        const sent = flow.paths.weights[path] * result.rate[index] * result.pathSentRatio[first + path];
        this.addNotices(flow, path, first + path, sent, result, book);
        this.addBacklog(flow, path, sent, result, ahead);
        if (this.blocked(flow, path, picture.stuck)) held.push(flow.pathQps[path]);
        if (result.pathSentRatio[first + path] > 1) this.noteRepeats(flow, path, result, repeated);
      }
    }
    this.addRepeats(flows, result, repeated, book);
    picture.heldQps = held;
    picture.ahead = [...ahead].map(([key, bytes]) => {
      const direction = key % this.network.directions;
      const classIndex = (key - direction) / this.network.directions;
      return { classIndex, direction, bytes, mostBytes: bytes, rate: 0 };
    });
  }

  /** Marks that arrive, the notifications they cause, and what losses mean for the NICs at both ends. */
  private addNotices(
    flow: CongestedFlow,
    path: number,
    place: number,
    sent: number,
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
      const useful = sent / result.pathSentRatio[place] / this.packetBytes;
      book.add(counters.outOfSequence, destinationNic, Math.max(0, arriving - useful));
    }
    const notices = result.pathCnpPerNs[place];
    if (notices === 0 || network.dcqcn === null) return;
    book.add(counters.cnpSent, destinationNic, notices);
    book.add(counters.cnpHandled, sourceNic, notices);
    const way = ackWay(qp);
    for (let hop = 0; hop < connections.length(way); hop++) {
      const direction = connections.direction(way, hop);
      book.add(counters.carried[this.cnpClass], direction, notices * this.settings.ackBytes);
    }
  }

  /** The path's part of each queue has crossed all directions before it. */
  private addBacklog(
    { paths, classIndex }: CongestedFlow,
    path: number,
    sent: number,
    result: EquilibriumResult,
    ahead: Map<number, number>,
  ): void {
    let waiting = 0;
    for (let at = paths.starts[path + 1] - 1; at >= paths.starts[path]; at--) {
      const key = classIndex * this.network.directions + paths.links[at];
      if (waiting > 0) ahead.set(key, (ahead.get(key) ?? 0) + waiting);
      const arrives = result.arrivalRate[key];
      const isSwitch = this.network.isSwitch[this.network.fromDevice[paths.links[at]]] === 1;
      if (arrives > 0 && isSwitch) waiting += (result.queueBytes[key] * Math.min(sent, arrives)) / arrives;
    }
  }

  private blocked({ paths, classIndex }: CongestedFlow, path: number, stuck: ReadonlySet<number>): boolean {
    if (stuck.size === 0) return false;
    for (let at = paths.starts[path]; at < paths.starts[path + 1]; at++) {
      if (stuck.has(classIndex * this.network.directions + paths.links[at])) return true;
    }
    return false;
  }

  private noteRepeats(
    { paths, classIndex }: CongestedFlow,
    path: number,
    result: EquilibriumResult,
    repeated: Map<number, number>,
  ): void {
    for (let at = paths.starts[path]; at < paths.starts[path + 1]; at++) {
      const key = classIndex * this.network.directions + paths.links[at];
      repeated.set(key, result.carriedRate[key]);
    }
  }

  /** Bytes on the wire beyond the useful ones, on directions that carry packets sent again. */
  private addRepeats(
    flows: readonly CongestedFlow[],
    result: EquilibriumResult,
    repeated: Map<number, number>,
    book: GainBook,
  ): void {
    if (repeated.size === 0) return;
    const { directions } = this.network;
    flows.forEach(({ paths, classIndex }, index) => {
      for (let path = 0; path < paths.count; path++) {
        const useful = paths.weights[path] * result.rate[index];
        for (let at = paths.starts[path]; at < paths.starts[path + 1]; at++) {
          const key = classIndex * directions + paths.links[at];
          const carried = repeated.get(key);
          if (carried !== undefined) repeated.set(key, carried - useful);
        }
      }
    });
    for (const [key, bytesPerNs] of repeated) {
      const direction = key % directions;
      const byClass = this.counters.carried[(key - direction) / directions];
      book.add(byClass, direction, Math.max(0, bytesPerNs));
    }
  }

  private buffersOf(result: EquilibriumResult): [number, number, number][] {
    const buffers: [number, number, number][] = [];
    const { isSwitch } = this.network;
    for (let device = 0; device < isSwitch.length; device++) {
      const most = result.bufferMaxBytes[device];
      if (isSwitch[device] === 1 && most > 0) buffers.push([device, result.bufferBytes[device], most]);
    }
    return buffers;
  }
}
