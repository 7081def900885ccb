/**
 * Explicit flows on a congested lossless fabric, run to the end: queues, pauses, marks and rates follow each other.
 *
 * A fluid in steps of half a hop's time (propagation and one packet): PFC alone gives first-in-first-out
 * sharing under back-pressure, which is far from max-min for flows that only cross a paused link; with marks and
 * reaction points it gives DCQCN's slow recovery. One order holds within a step: pauses that arrive, parcels that
 * arrive, hosts, switches, pauses that are decided. Where nothing moves, steps are skipped. A flow's finish adds what
 * steps round off the latency of its path, so that a flow alone takes (N + L - 1)·tx + 2·L·delay + L·tx_ack.
 * Not modelled: single packets (a mark is drawn by hazard, a queue is short by up to a step's bytes).
 */
import { InputError } from '../../core/problem.js';
import { Prng } from '../../core/prng.js';
import { Endpoints } from './endpoints.js';
import { FluidLinks } from './fluid-links.js';
import type { CongestionFlow, CongestionNetwork, LinksDown } from './network.js';
import { NEXT, PAIR, Parcels, STEP } from './parcels.js';
import { Routes } from './routes.js';
import { SharedBuffers } from './shared-buffers.js';

export interface CongestionOptions {
  /** Draws the marks; same seed, same result. Default 1. */
  seed?: number;
  /** Length of a step, ns; default half the shortest hop. */
  stepNs?: number;
  down?: LinksDown;
  /** Stops the run there, ns; flows that are not finished keep Infinity. */
  untilNs?: number;
}

/** What happened, per flow and per link. */
export interface CongestionResult {
  startNs: Float64Array;
  /** When the sender had the last ACK, ns; Infinity for a flow that did not finish. */
  finishNs: Float64Array;
  /** Last finish of those that finish, ns. */
  makespanNs: number;
  /** Packets sent, repeats included; marks heard and cuts made. */
  sentPackets: Float64Array;
  marks: Int32Array;
  cuts: Int32Array;
  links: LinkTotals;
  steps: number;
}

/** Totals of each link at the end of a run. */
export interface LinkTotals {
  /** Pauses its sender was told, and time it was held, ns. */
  pauses: Int32Array;
  pausedNs: Float64Array;
  queuedInBytes: Float64Array;
  sentBytes: Float64Array;
  queuedBytes: Float64Array;
  underWayBytes: Float64Array;
  /** Lost with the link out of its queue and under way, and dropped for want of buffer at its far end. */
  lostBytes: Float64Array;
  lostUnderWayBytes: Float64Array;
  droppedBytes: Float64Array;
  markedPackets: Float64Array;
  peakBytes: Float64Array;
  /** Queue added up over time, bytes × ns: divided by a time it is the mean queue. */
  queueByteNs: Float64Array;
}

/**
 * Runs the flows until all have finished or nothing can move; flows that wait for each other never start.
 *
 * @throws InputError when a path uses a link that is not there, or a flow waits for none
 */
export function runCongestion(
  network: CongestionNetwork,
  flows: readonly CongestionFlow[],
  options: CongestionOptions = {},
): CongestionResult {
  return new CongestionRun(network, flows, options).run();
}

class CongestionRun {
  private readonly stepNs: number;
  private readonly parcels = new Parcels();
  private readonly routes: Routes;
  private readonly buffers: SharedBuffers;
  private readonly fluid: FluidLinks;
  private readonly ends: Endpoints;
  private readonly switchLinks: number[] = [];
  /** Flows not started yet, earliest last. */
  private readonly ready: number[] = [];
  private readonly waitsFor: Int32Array;
  private readonly waiters: number[][];
  private readonly startNs: Float64Array;
  private readonly finishNs: Float64Array;
  /** What of a flow's first steps had passed before it was known that it starts, ns; about a step at most. */
  private readonly lateNs: Float64Array;
  private readonly pauses: Int32Array;
  private readonly pausedSteps: Float64Array;
  private readonly queueByteSteps: Float64Array;
  /** Pauses under way: link and 1 or -1 by turns, by the step they arrive in, modulo the length. */
  private readonly signals: number[][];
  private step = 0;
  private steps = 0;

  constructor(
    private readonly network: CongestionNetwork,
    private readonly flows: readonly CongestionFlow[],
    private readonly options: CongestionOptions,
  ) {
    checkPaths(network, flows);
    const { links } = network;
    const hopNs = links.reduce((least, link) => Math.min(least, link.delayNs + link.packetNs), Infinity);
    this.stepNs = options.stepNs ?? hopNs / 2;
    this.routes = new Routes(flows, options.down);
    this.buffers = new SharedBuffers(network);
    this.fluid = new FluidLinks(network, this.parcels, this.routes, this.buffers, this.stepNs);
    const random = new Prng(options.seed ?? 1).stream('marks');
    this.ends = new Endpoints(network, flows, this.parcels, this.routes, this.fluid, random, this.stepNs);
    links.forEach((link, index) => {
      if (network.switches[link.from] !== null) this.switchLinks.push(index);
    });
    this.pauses = new Int32Array(links.length);
    this.pausedSteps = new Float64Array(links.length);
    this.queueByteSteps = new Float64Array(links.length);
    const longest = this.fluid.flightSteps.reduce((most, steps) => Math.max(most, steps), 1);
    this.signals = Array.from({ length: longest + 1 }, () => []);
    this.startNs = new Float64Array(flows.length).fill(Infinity);
    this.finishNs = new Float64Array(flows.length).fill(Infinity);
    this.lateNs = new Float64Array(flows.length);
    this.waitsFor = new Int32Array(flows.length);
    this.waiters = flows.map(() => []);
    flows.forEach((flow, index) => {
      for (const other of flow.startAfter ?? []) this.waiters[other].push(index);
      this.waitsFor[index] = flow.startAfter?.length ?? 0;
      if (this.waitsFor[index] === 0) this.schedule(index, flow.startNs ?? 0);
    });
  }

  run(): CongestionResult {
    const untilNs = this.options.untilNs ?? Infinity;
    const downNs = this.options.down?.atNs ?? Infinity;
    let isDown = false;
    while (this.step * this.stepNs < untilNs) {
      if (!this.skipIdle()) break;
      const endNs = (this.step + 1) * this.stepNs;
      if (!isDown && downNs < endNs) {
        isDown = true;
        this.routes.reroute();
        for (const link of this.options.down!.links) this.fluid.takeDown(link);
      }
      while (this.ready.length > 0 && this.startNs[this.ready[this.ready.length - 1]] < endNs) {
        const flow = this.ready.pop()!;
        this.lateNs[flow] = Math.max(0, this.step * this.stepNs - this.startNs[flow]);
        this.ends.start(flow, this.startNs[flow]);
      }
      this.advance();
      this.step++;
      this.steps++;
    }
    return this.result();
  }

  /** Moves to the next start when nothing is under way; false when nothing is left to do. */
  private skipIdle(): boolean {
    if (this.parcels.inUse > 0 || this.ends.active) return true;
    if (this.ready.length === 0) return false;
    const nextNs = this.startNs[this.ready[this.ready.length - 1]];
    this.step = Math.max(this.step, Math.floor(nextNs / this.stepNs));
    return true;
  }

  private advance(): void {
    const { fluid, ends, step } = this;
    this.hearPauses();
    for (let link = 0; link < this.network.links.length; link++) this.land(link);
    ends.runTimers(step * this.stepNs);
    for (const nic of ends.nics) ends.send(nic, step);
    for (const link of this.switchLinks) {
      if (fluid.queues.head[link] < 0) continue;
      const beforeBytes = fluid.queuedBytes[link];
      if (fluid.paused[link] === 0) fluid.serve(link, step, this.stepNs);
      // What passes through within a step has been no queue.
      if (fluid.queues.head[link] >= 0)
        this.queueByteSteps[link] += (beforeBytes + fluid.queuedBytes[link]) / 2;
    }
    this.decidePauses();
    for (const flow of ends.completed) this.finish(flow);
    ends.completed.length = 0;
  }

  /** Everything that reaches the far end of a link in this step. */
  private land(link: number): void {
    const { parcels, fluid, routes } = this;
    const { wires } = fluid;
    if (wires.head[link] < 0) return;
    const roomShare = this.network.switches[this.network.links[link].to] === null ? 1 : this.admit(link);
    while (wires.head[link] >= 0 && parcels.data[wires.head[link] + STEP] <= this.step) {
      const parcel = wires.shift(link);
      const pair = routes.onwards(parcels.data[parcel + PAIR]);
      if (pair + 1 === routes.endOf[pair]) this.ends.deliver(parcel, this.step);
      else this.forward(parcel, pair + 1, roomShare);
    }
  }

  /** Share (0..1) of what arrives over a link that its switch has room for, and takes. */
  private admit(link: number): number {
    const { parcels, fluid } = this;
    const { data } = parcels;
    let bytes = 0;
    let parcel = fluid.wires.head[link];
    while (parcel >= 0 && data[parcel + STEP] <= this.step) {
      bytes += fluid.bytesOf(parcel);
      parcel = data[parcel + NEXT];
    }
    return bytes === 0 ? 1 : this.buffers.admit(link, bytes) / bytes;
  }

  private forward(parcel: number, pair: number, roomShare: number): void {
    const { parcels, fluid } = this;
    const to = this.routes.linkOf[pair];
    if (roomShare <= 0) {
      parcels.free(parcel);
      return;
    }
    let kept = parcel;
    if (roomShare < 1) {
      kept = parcels.cut(parcel, roomShare);
      parcels.free(parcel);
    }
    parcels.data[kept + PAIR] = pair;
    fluid.enqueue(to, kept);
    if (fluid.down[to] === 1) fluid.dropQueue(to);
  }

  private hearPauses(): void {
    const { paused } = this.fluid;
    const signals = this.signals[this.step % this.signals.length];
    for (let index = 0; index < signals.length; index += 2) {
      paused[signals[index]] = signals[index + 1];
      this.pauses[signals[index]] += signals[index + 1];
    }
    signals.length = 0;
    for (let link = 0; link < paused.length; link++) this.pausedSteps[link] += paused[link];
  }

  private decidePauses(): void {
    for (let link = 0; link < this.network.links.length; link++) {
      const decision = this.buffers.decide(link);
      if (decision === 0) continue;
      const arrival = (this.step + this.fluid.flightSteps[link]) % this.signals.length;
      this.signals[arrival].push(link, decision === 1 ? 1 : 0);
    }
  }

  private finish(flow: number): void {
    const finishNs = this.ends.completeNs[flow] + this.roundedOffNs(flow) - this.lateNs[flow];
    this.finishNs[flow] = finishNs;
    for (const waiter of this.waiters[flow]) {
      if (--this.waitsFor[waiter] === 0) {
        this.schedule(waiter, Math.max(finishNs, this.flows[waiter].startNs ?? 0));
      }
    }
  }

  private schedule(flow: number, startNs: number): void {
    this.startNs[flow] = startNs;
    let place = this.ready.length;
    while (place > 0 && this.startNs[this.ready[place - 1]] <= startNs) place--;
    this.ready.splice(place, 0, flow);
  }

  /** Latency of the way there and back, less the steps that stand for it. */
  private roundedOffNs(flow: number): number {
    const { links } = this.network;
    let sumNs = 0;
    let slowestNs = 0;
    for (const link of this.routes.wayOf(2 * flow)) {
      const { packetNs, delayNs } = links[link];
      sumNs += packetNs + delayNs - this.fluid.flightSteps[link] * this.stepNs;
      slowestNs = Math.max(slowestNs, packetNs);
    }
    for (const link of this.routes.wayOf(2 * flow + 1)) {
      sumNs += links[link].ackNs + links[link].delayNs - this.fluid.flightSteps[link] * this.stepNs;
    }
    return sumNs - slowestNs;
  }

  private result(): CongestionResult {
    const { fluid, ends } = this;
    const makespanNs = this.finishNs.reduce((most, ns) => (ns < Infinity ? Math.max(most, ns) : most), 0);
    return {
      startNs: this.startNs,
      finishNs: this.finishNs,
      makespanNs,
      sentPackets: ends.emitted,
      marks: ends.marks,
      cuts: ends.points.cuts,
      links: {
        pauses: this.pauses,
        pausedNs: this.pausedSteps.map((steps) => steps * this.stepNs),
        queuedInBytes: fluid.queuedInBytes,
        sentBytes: fluid.sentBytes,
        queuedBytes: fluid.queuedBytes,
        underWayBytes: Float64Array.from(this.network.links, (_, link) => fluid.underWayBytes(link)),
        lostBytes: fluid.lostBytes,
        lostUnderWayBytes: fluid.lostUnderWayBytes,
        droppedBytes: this.buffers.droppedBytes,
        markedPackets: fluid.markedPackets,
        peakBytes: fluid.peakBytes,
        queueByteNs: this.queueByteSteps.map((bytes) => bytes * this.stepNs),
      },
      steps: this.steps,
    };
  }
}

function checkPaths({ links }: CongestionNetwork, flows: readonly CongestionFlow[]): void {
  flows.forEach(({ path, ackPath, startAfter }, flow) => {
    for (const [name, way] of [['path', path] as const, ['ackPath', ackPath] as const]) {
      way.forEach((link, index) => {
        const pointer = `/flows/${flow}/${name}/${index}`;
        if (links[link] === undefined) throw InputError.at(pointer, `no link ${link}`);
        if (index > 0 && links[link].from !== links[way[index - 1]].to)
          throw InputError.at(pointer, `link ${link} does not begin where link ${way[index - 1]} ends`);
      });
      if (way.length === 0) throw InputError.at(`/flows/${flow}/${name}`, 'a way needs at least one link');
    }
    startAfter?.forEach((other, index) => {
      if (other < 0 || other >= flows.length || other === flow)
        throw InputError.at(`/flows/${flow}/startAfter/${index}`, `no other flow ${other}`);
    });
  });
}
