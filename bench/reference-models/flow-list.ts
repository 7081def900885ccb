/**
 * A plain list of flows on links of fixed capacity, run to the end: when does each one finish?
 *
 * Event-driven: rates change only when a flow starts or its last byte has left, so bytes are brought up to date only
 * for paths whose rate changes, and everything that happens at one instant is followed by a single max-min solve.
 * A flow may start at a time, or once others are finished (a step of a collective). Its finish is the end of its
 * transfer plus a fixed latency: propagation, store and forward, the last ACK. This is what accuracy cases and
 * benches use; the engine for drills has its own events. Not modelled: queues, loss, congestion control, faults.
 */
import { IndexedHeap } from '../../src/core/heap.js';
import { InputError } from '../../src/core/problem.js';
import { MaxMin } from '../../src/simulator/rates/maxmin.js';
import { PathClasses } from './path-classes.js';

/** One flow of the list; its id is its place in the list. */
export interface ListedFlow {
  /** Link directions it loads, each once, and bytes consumed there per byte of `wireBytes`. */
  links: Int32Array;
  coefficients: Float64Array;
  /** Bytes on the wire, headers included. */
  wireBytes: number;
  /** Earliest start, ns; default 0. */
  startNs?: number;
  /** Ids of flows that must be finished before it starts. */
  startAfter?: readonly number[];
  /** Time from the end of the transfer until the sender knows, ns; default 0. */
  latencyNs?: number;
}

/** Times per flow, ns; Infinity for a flow that never starts or never ends because a link has no capacity. */
export interface FlowListResult {
  startNs: Float64Array;
  finishNs: Float64Array;
  /** Last finish among the flows that finish, ns; 0 for an empty list. */
  makespanNs: number;
  /** How many times the rates were solved, and how many paths got another rate in all. */
  solves: number;
  rateChanges: number;
}

const TRANSFER = 1;
const IN_FLIGHT = 2;

/** Events closer than a femtosecond, or than a double can tell apart, are one instant. */
const instantEndNs = (nowNs: number): number => nowNs + Math.max(1e-6, nowNs * 1e-15);

/**
 * Runs the list.
 *
 * @param capacities bytes/ns per link direction
 * @throws InputError when a flow waits for one that is not there or, in a circle, for itself
 */
export function runFlowList(capacities: Float64Array, flows: readonly ListedFlow[]): FlowListResult {
  return new FlowListRun(capacities, flows).run();
}

class FlowListRun {
  private readonly classes: PathClasses;
  /** By flow: its start or the end of its latency; after all flows, by class: the next end of a transfer. */
  private readonly events: IndexedHeap;
  private readonly phase: Uint8Array;
  /** Flows that wait for flow f: `waiters[waiterStart[f] .. waiterStart[f + 1])`. */
  private readonly waiterStart: Int32Array;
  private readonly waiters: Int32Array;
  private readonly waitsFor: Int32Array;
  private readonly startNs: Float64Array;
  private readonly finishNs: Float64Array;
  private makespanNs = 0;
  private solves = 0;
  private rateChanges = 0;

  constructor(
    capacities: Float64Array,
    private readonly flows: readonly ListedFlow[],
  ) {
    const count = flows.length;
    this.classes = new PathClasses(new MaxMin(capacities), flows);
    this.events = new IndexedHeap(Math.max(1, count + this.classes.count));
    this.phase = new Uint8Array(count);
    this.waitsFor = new Int32Array(count);
    this.startNs = new Float64Array(count).fill(Infinity);
    this.finishNs = new Float64Array(count).fill(Infinity);
    this.waiterStart = new Int32Array(count + 1);
    this.waiters = this.listWaiters();
    for (let flow = 0; flow < count; flow++) {
      if (this.waitsFor[flow] === 0) this.events.set(flow, flows[flow].startNs ?? 0);
    }
  }

  run(): FlowListResult {
    const events = this.events;
    while (events.size > 0) {
      const nowNs = events.peekKey();
      const untilNs = instantEndNs(nowNs);
      let resolve = false;
      while (events.peekKey() <= untilNs) {
        if (this.happen(events.pop(), nowNs)) resolve = true;
      }
      if (resolve) this.share(nowNs);
    }
    return {
      startNs: this.startNs,
      finishNs: this.finishNs,
      makespanNs: this.makespanNs,
      solves: this.solves,
      rateChanges: this.rateChanges,
    };
  }

  /** The next thing in the life of a flow, or of a class; true when it changes who shares the links. */
  private happen(item: number, nowNs: number): boolean {
    // The event's own time counts, not the instant's: the two may differ by rounding.
    const dueNs = this.events.keyOf(item);
    if (item >= this.flows.length) {
      this.endTransfer(item - this.flows.length, dueNs, nowNs);
      return true;
    }
    if (this.phase[item] === IN_FLIGHT) {
      this.finish(item, dueNs, nowNs);
      return false;
    }
    this.phase[item] = TRANSFER;
    this.startNs[item] = nowNs;
    this.classes.enter(item, this.flows[item].wireBytes, nowNs);
    return true;
  }

  private endTransfer(pathClass: number, dueNs: number, nowNs: number): void {
    const flow = this.classes.end(pathClass, dueNs);
    const latencyNs = this.flows[flow].latencyNs ?? 0;
    this.phase[flow] = IN_FLIGHT;
    if (latencyNs > 0) this.events.set(flow, dueNs + latencyNs);
    else this.finish(flow, dueNs, nowNs);
    // Another flow of the class may end at the same instant.
    this.classes.schedule(pathClass, this.events, this.flows.length);
  }

  private finish(flow: number, finishNs: number, nowNs: number): void {
    this.finishNs[flow] = finishNs;
    if (finishNs > this.makespanNs) this.makespanNs = finishNs;
    for (let index = this.waiterStart[flow]; index < this.waiterStart[flow + 1]; index++) {
      const waiter = this.waiters[index];
      if (--this.waitsFor[waiter] === 0)
        this.events.set(waiter, Math.max(nowNs, this.flows[waiter].startNs ?? 0));
    }
  }

  /** Solves, and moves the ends of transfers on paths whose rate or flows changed. */
  private share(nowNs: number): void {
    this.solves++;
    this.rateChanges += this.classes.share(nowNs, this.events, this.flows.length);
  }

  private listWaiters(): Int32Array {
    const { flows, waiterStart, waitsFor } = this;
    flows.forEach((flow, index) => {
      for (const [place, other] of (flow.startAfter ?? []).entries()) {
        if (!Number.isInteger(other) || other < 0 || other >= flows.length) {
          const message = `no flow ${other}; the list has ${flows.length}`;
          throw InputError.at(`/flows/${index}/start_after/${place}`, message);
        }
        waitsFor[index]++;
        waiterStart[other + 1]++;
      }
    });
    for (let flow = 0; flow < flows.length; flow++) waiterStart[flow + 1] += waiterStart[flow];
    const waiters = new Int32Array(waiterStart[flows.length]);
    const next = waiterStart.slice();
    flows.forEach((flow, index) => {
      for (const other of flow.startAfter ?? []) waiters[next[other]++] = index;
    });
    this.refuseCircles(waiters);
    return waiters;
  }

  /** Takes flows out in order of their dependencies (Kahn); what is left waits for itself. */
  private refuseCircles(waiters: Int32Array): void {
    const open = this.waitsFor.slice();
    const ready = new Int32Array(open.length);
    let count = 0;
    for (let flow = 0; flow < open.length; flow++) if (open[flow] === 0) ready[count++] = flow;
    for (let done = 0; done < count; done++) {
      for (let index = this.waiterStart[ready[done]]; index < this.waiterStart[ready[done] + 1]; index++) {
        if (--open[waiters[index]] === 0) ready[count++] = waiters[index];
      }
    }
    const stuck = open.findIndex((waits) => waits > 0);
    if (stuck < 0) return;
    throw InputError.at(`/flows/${stuck}/start_after`, 'the flow waits, through others, for itself');
  }
}
