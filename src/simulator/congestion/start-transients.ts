/**
 * What queues, marks and pauses a start leaves in counters before congestion control has found its steady state.
 *
 * Flows that begin do so at line rate, and nobody slows them down for a round trip (equilibrium/onset.ts). Where they
 * meet a contended queue, its peak shows in watermarks, its marks and the pauses of its ingress ports in counters; the
 * time that this takes, less than a millisecond, is not taken off their rates. A port may hold as much as alpha of the
 * buffer that all of them leave free.
 */
import type { FabricSettings } from '../settings.js';
import type { Connections } from '../transport/connections.js';
import { pauseFrames, type Picture } from './congestion-picture.js';
import type { Counters } from '../sampling/counters.js';
import type { EquilibriumNetwork } from './equilibrium/model.js';
import { onset, type Onset } from './equilibrium/onset.js';
import { gain, GainBook, type Gains } from './gains.js';
import type { Flow } from '../jobs/running-flow.js';

/** A contended queue that some flow which begins has to pass. */
interface MetQueue {
  classIndex: number;
  direction: number;
  queuedBytes: number;
  offeredRate: number;
  starters: number;
  burstBytes: number;
  feedbackNs: number;
  /** By ingress direction: bytes/ns that come by it. */
  ingress: Map<number, number>;
  /** QPs of flows through it, and bytes/ns of each. */
  qps: [qp: number, rate: number][];
}

/** What a start adds: amounts by counter, and peaks; and how long that takes. */
interface Transient {
  lastsNs: number;
  gains: Gains;
  peaks: readonly (readonly [classIndex: number, direction: number, bytes: number])[];
}

export class StartTransients {
  private readonly known = new WeakMap<Picture, Map<string, Transient>>();
  /** Starts that are not over, when they began, and the part of them that is counted. */
  private pending: { transient: Transient; beganNs: number; counted: number }[] = [];

  constructor(
    private readonly network: EquilibriumNetwork,
    private readonly settings: FabricSettings,
    private readonly connections: Connections,
    private readonly counters: Counters,
  ) {}

  /**
   * Takes note of what the flows that begin now will leave behind.
   * @param before what was shown of these flows
   * @param flows all that the picture is about, at their rates of before
   * @param begun those of them that begin, in the same order
   * @param rateOf bytes/ns of a flow's variable: of one that begins if nothing in the fabric held it, else its present rate
   */
  begin(
    nowNs: number,
    before: readonly Picture[],
    picture: Picture,
    flows: readonly Flow[],
    begun: readonly Flow[],
    rateOf: (flow: Flow, begins: boolean) => number,
    reuse: boolean,
  ): void {
    const key = `${before.map(({ serial }) => serial).join()} ${begun.map(({ shape }) => shape!.id).join()}`;
    let known = this.known.get(picture);
    if (known === undefined) this.known.set(picture, (known = new Map<string, Transient>()));
    let transient = reuse ? known.get(key) : undefined;
    if (transient === undefined) {
      transient = this.workOut(this.meet(before, picture, flows, new Set(begun), rateOf));
      known.set(key, transient);
    }
    if (transient.lastsNs > 0) this.pending.push({ transient, beganNs: nowNs, counted: 0 });
  }

  /** Counts what has come of starts up to now; nothing shows before its bytes can have come. */
  account(nowNs: number): void {
    if (this.pending.length === 0) return;
    for (const start of this.pending) {
      const { gains, peaks, lastsNs } = start.transient;
      const part = Math.min(1, (nowNs - start.beganNs) / lastsNs);
      if (part === start.counted) continue;
      gain(gains, part - start.counted);
      start.counted = part;
      for (const [classIndex, direction, bytes] of peaks) this.notePeak(classIndex, direction, part * bytes);
    }
    this.pending = this.pending.filter(({ counted }) => counted < 1);
  }

  private notePeak(classIndex: number, direction: number, bytes: number): void {
    const { counters, network } = this;
    const device = network.fromDevice[direction];
    const most = counters.queuedMost[classIndex];
    most[direction] = Math.max(most[direction], bytes);
    counters.bufferUsedMost[device] = Math.max(counters.bufferUsedMost[device], bytes);
  }

  private meet(
    before: readonly Picture[],
    picture: Picture,
    flows: readonly Flow[],
    begun: ReadonlySet<Flow>,
    rateOf: (flow: Flow, begins: boolean) => number,
  ): MetQueue[] {
    const { directions, capacity } = this.network;
    const met = new Map<number, MetQueue>();
    for (const { classIndex, direction } of picture.queues) {
      met.set(classIndex * directions + direction, {
        classIndex,
        direction,
        queuedBytes: 0,
        offeredRate: 0,
        starters: 0,
        burstBytes: 0,
        feedbackNs: 0,
        ingress: new Map(),
        qps: [],
      });
    }
    for (const { classIndex, direction, bytes } of before.flatMap(({ queues }) => queues)) {
      const queue = met.get(classIndex * directions + direction);
      if (queue !== undefined) queue.queuedBytes = bytes;
    }
    const shares = nicShares(begun);
    for (const flow of flows) {
      const { paths, pathQps } = flow.shape!.paths();
      const begins = begun.has(flow);
      const variableRate = rateOf(flow, begins);
      const wireBytes = flow.remaining === Infinity ? Infinity : flow.shape!.wireBytes;
      for (let path = 0; path < paths.count; path++) {
        const [first, end] = [paths.starts[path], paths.starts[path + 1]];
        const weight = paths.weights[path];
        const nic = paths.links[first];
        const share = begins ? (capacity[nic] * weight) / shares.get(nic)! : Infinity;
        const rate = Math.min(weight * variableRate, share);
        for (let at = first + 1; at < end; at++) {
          const queue = met.get(flow.classIndex * directions + paths.links[at]);
          if (queue === undefined) continue;
          const port = paths.links[at - 1];
          queue.ingress.set(port, (queue.ingress.get(port) ?? 0) + rate);
          queue.qps.push([pathQps[path], rate]);
          if (!begins) continue;
          queue.starters++;
          queue.burstBytes += weight * wireBytes;
          queue.feedbackNs = Math.max(queue.feedbackNs, flow.shape!.roundTripNs);
        }
      }
    }
    return [...met.values()].filter(({ starters }) => starters > 0);
  }

  private workOut(queues: readonly MetQueue[]): Transient {
    const { network } = this;
    const book = new GainBook();
    const peaks: [number, number, number][] = [];
    let lastsNs = 0;
    for (const queue of queues) {
      const { classIndex, direction, ingress } = queue;
      for (const [port, rate] of ingress) queue.offeredRate += Math.min(rate, network.capacity[port]);
      const device = network.fromDevice[direction];
      const { pfc, freeShare, marking, reserveBytes, headroomBytes } = network.switchClass(
        device,
        classIndex,
      );
      const buffer = network.bufferBytes[device] - ingress.size * (reserveBytes + headroomBytes);
      const threshold = (freeShare * Math.max(0, buffer)) / (1 + ingress.size * freeShare);
      const found = onset(
        {
          ...queue,
          capacity: Math.min(network.capacity[direction], network.acceptsAll?.(direction) ?? Infinity),
          flows: queue.starters,
          ports: ingress.size,
          thresholdBytes: pfc ? reserveBytes + threshold : Infinity,
          marking,
        },
        network.dcqcn,
        network.packetBytes,
      );
      if (found.peakBytes <= 0) continue;
      peaks.push([classIndex, direction, Math.min(found.peakBytes, network.bufferBytes[device])]);
      lastsNs = Math.max(lastsNs, found.lastsNs);
      this.addStart(queue, found, book);
    }
    return { lastsNs, gains: book.close(), peaks };
  }

  private addStart(
    { classIndex, direction, ingress, qps, offeredRate }: MetQueue,
    found: Onset,
    book: GainBook,
  ): void {
    const { counters, connections, network, settings } = this;
    for (const port of ingress.keys()) {
      if (found.pauses === 0) break;
      book.add(counters.pausedNs, port, found.pausedNs);
      book.add(counters.pauseFrames, port, pauseFrames(found.pauses, found.pausedNs, network.capacity[port]));
    }
    if (found.markedPackets === 0) return;
    book.add(counters.marked[classIndex], direction, found.markedPackets);
    const notices = network.dcqcn === null ? 0 : Math.max(1, found.lastsNs / settings.dcqcn.cnpInterval);
    for (const [qp, rate] of qps) {
      const { sourceNic, destinationNic } = connections.all[connections.connectionOf[qp]];
      const marks = (found.markedPackets * rate) / offeredRate;
      book.add(counters.markedReceived, destinationNic, marks);
      book.add(counters.cnpSent, destinationNic, Math.min(marks, notices));
      book.add(counters.cnpHandled, sourceNic, Math.min(marks, notices));
    }
  }
}

/** By NIC's direction: weights of all paths that begin there. */
function nicShares(flows: ReadonlySet<Flow>): Map<number, number> {
  const shares = new Map<number, number>();
  for (const flow of flows) {
    const { paths } = flow.shape!.paths();
    for (let path = 0; path < paths.count; path++) {
      const nic = paths.links[paths.starts[path]];
      shares.set(nic, (shares.get(nic) ?? 0) + paths.weights[path]);
    }
  }
  return shares;
}
