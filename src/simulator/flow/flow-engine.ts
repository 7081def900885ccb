/**
 * Flows that run: exact max-min rates, completions, stalls and resumptions, and the bytes they leave in counters.
 *
 * A flow is one shape with so many wire bytes to go. While any of its QPs has no working path the whole flow stands
 * still, since its edges move at the pace of the slowest. Rates are re-solved once per instant, for what its events
 * touched; a flow's bytes are settled only when its rate changes or someone reads counters.
 * Not modelled: slow start after a stall, congestion control, queues.
 */
import { packetBytes, type FabricSettings } from '../settings.js';
import type { Beliefs } from './beliefs.js';
import type { Connections } from './connections.js';
import type { Counters } from './counters.js';
import { EVENT } from './event-kind.js';
import type { EventQueue } from './event-queue.js';
import type { FlowShape } from './flow-shape.js';
import { HostSide } from './host-side.js';
import { countLosses, countTimeouts } from './losses.js';
import { MaxMin } from './maxmin.js';
import type { PhysicalLayer } from './physical-layer.js';
import type { QpTimers } from './qp-timers.js';
import type { Rates } from './rates.js';
import type { Signals } from './signals.js';

const IDLE = 0;
/** Told to start at this instant; runs or stalls once all events of the instant are known. */
const STARTING = 1;
const RUNNING = 2;
const STALLED = 3;
/** All bytes are across; the latency of the dependent steps is still to pass. */
const TAIL = 4;

interface Flow {
  state: number;
  shape: FlowShape | undefined;
  /** Version of the shape that the solver knows. */
  version: number;
  job: number;
  operation: number;
  classIndex: number;
  variable: number;
  remaining: number;
  rate: number;
  settledNs: number;
  /** Bytes of the variable that no counter has seen yet. */
  unread: number;
  event: number;
}

export interface FlowListener {
  flowDone(job: number, operation: number): void;
  /** The flow stays inside a host whose processes are gone: there is nobody left to wait for it. */
  flowIsMoot(job: number, shape: FlowShape): boolean;
}

export class FlowEngine {
  private readonly solver: MaxMin;
  private readonly flows: Flow[] = [];
  private readonly free: number[] = [];
  private readonly flowOfVariable: number[] = [];
  private timers!: QpTimers;
  private listener!: FlowListener;
  private seenEpoch = 0;
  private seenVersion = 0;
  private seenConditions = 0;
  readonly hostSide: HostSide;
  private someQpResumed = false;
  private readonly starting: number[] = [];
  private unsolved = false;

  constructor(
    private readonly rates: Rates,
    private readonly signals: Signals,
    private readonly settings: FabricSettings,
    private readonly queue: EventQueue,
    private readonly beliefs: Beliefs,
    private readonly physical: PhysicalLayer,
    private readonly connections: Connections,
    private readonly counters: Counters,
  ) {
    this.solver = new MaxMin(rates.capacities);
    this.hostSide = new HostSide(beliefs.graph.topology, rates, counters, (capacity) =>
      this.solver.load(capacity),
    );
  }

  attach(timers: QpTimers, listener: FlowListener): void {
    this.timers = timers;
    this.listener = listener;
  }

  /** Sends so many bytes per heaviest QP of the shape, without end if Infinity; `flowDone` follows. */
  start(
    nowNs: number,
    shape: FlowShape,
    job: number,
    operation: number,
    classIndex: number,
    wireBytes = shape.wireBytes,
  ): void {
    const index = this.free.pop() ?? this.newFlow();
    const flow = this.flows[index];
    flow.shape = shape;
    flow.job = job;
    flow.operation = operation;
    flow.classIndex = classIndex;
    flow.remaining = wireBytes;
    flow.rate = 0;
    flow.unread = 0;
    flow.settledNs = nowNs;
    flow.event = -1;
    flow.state = STARTING;
    this.starting.push(index);
  }

  /** All bytes of a flow are across. */
  transferred(nowNs: number, index: number): void {
    const flow = this.flows[index];
    this.settle(flow, nowNs);
    // What rounding left over belongs to the transfer: every byte must be counted once.
    flow.unread += flow.remaining;
    flow.remaining = 0;
    this.release(flow);
    for (const { connection, lossRatio } of flow.shape!.lossy) {
      const { sourceNic } = this.connections.all[connection];
      countTimeouts(sourceNic, flow.shape!.steps * lossRatio, this.counters, this.timers.schedule);
    }
    this.finishAfter(nowNs, index, flow.shape!.latencyNs);
  }

  done(index: number): void {
    const { job, operation } = this.flows[index];
    this.recycle(index);
    this.listener.flowDone(job, operation);
  }

  qpResumed(): void {
    this.someQpResumed = true;
  }

  /** Ends all flows of a job that died. */
  abandon(nowNs: number, job: number): void {
    for (let index = 0; index < this.flows.length; index++) {
      const flow = this.flows[index];
      if (flow.state === IDLE || flow.job !== job) continue;
      const { qps } = flow.shape!;
      for (let at = 0; at < qps.length; at++) this.timers.abandon(nowNs, qps[at]);
      if (flow.state === RUNNING) {
        this.settle(flow, nowNs);
        this.release(flow);
      }
      this.queue.cancel(flow.event);
      this.recycle(index);
    }
  }

  /** A host was lost: what went on inside it is over. */
  endMoot(nowNs: number): void {
    for (let index = 0; index < this.flows.length; index++) {
      const flow = this.flows[index];
      if (flow.state !== RUNNING || !this.listener.flowIsMoot(flow.job, flow.shape!)) continue;
      this.settle(flow, nowNs);
      this.release(flow);
      this.queue.cancel(flow.event);
      this.finishAfter(nowNs, index, 0);
    }
  }

  /** Brings flows and rates up to date after all events of an instant. */
  commit(nowNs: number): void {
    const { rates, signals } = this;
    const conditions = rates.version + signals.version;
    const moved = this.seenEpoch !== this.beliefs.epoch || this.seenVersion !== this.connections.wireVersion;
    if (moved || this.seenConditions !== conditions) {
      this.seenEpoch = this.beliefs.epoch;
      this.seenVersion = this.connections.wireVersion;
      this.seenConditions = conditions;
      for (const capacity of rates.changed) this.solver.setCapacity(capacity, rates.capacities[capacity]);
      this.unsolved ||= rates.changed.length > 0;
      rates.changed.length = 0;
      this.reviewPaths(nowNs);
    }
    if (this.someQpResumed) {
      this.someQpResumed = false;
      this.resumeStalled(nowNs);
    }
    // Last, because a start brings shapes up to date that running flows may share.
    for (const index of this.starting) {
      if (this.flows[index].state === STARTING) this.runOrStall(nowNs, index);
    }
    this.starting.length = 0;
    if (this.unsolved) this.solve(nowNs);
  }

  /** Moves all bytes sent so far into the counters. */
  readCounters(nowNs: number): void {
    this.hostSide.account(nowNs);
    for (const flow of this.flows) {
      if (flow.state !== RUNNING) continue;
      this.settle(flow, nowNs);
      this.flush(flow);
    }
  }

  private newFlow(): number {
    return (
      this.flows.push({
        state: IDLE,
        shape: undefined,
        version: -1,
        job: -1,
        operation: -1,
        classIndex: 0,
        variable: -1,
        remaining: 0,
        rate: 0,
        settledNs: 0,
        unread: 0,
        event: -1,
      }) - 1
    );
  }

  private finishAfter(nowNs: number, index: number, delayNs: number): void {
    this.flows[index].state = TAIL;
    this.flows[index].event = this.queue.schedule(nowNs + delayNs, EVENT.flowDone, index);
  }

  private recycle(index: number): void {
    this.flows[index].state = IDLE;
    this.flows[index].shape = undefined;
    this.free.push(index);
  }

  private runOrStall(nowNs: number, index: number): void {
    const flow = this.flows[index];
    const shape = flow.shape!;
    shape.compile();
    if (this.listener.flowIsMoot(flow.job, shape)) {
      this.finishAfter(nowNs, index, 0);
      return;
    }
    if (!this.well(shape)) {
      this.halt(nowNs, index);
      return;
    }
    flow.state = RUNNING;
    flow.version = shape.version;
    flow.settledNs = nowNs;
    if (shape.linkCount === 0) {
      // Ranks behind one NIC without a scale-up network: nothing modelled limits them.
      flow.event = this.queue.schedule(nowNs, EVENT.flowTransferred, index);
      return;
    }
    flow.variable = this.solver.add(shape.links, shape.coefficients, shape.linkCount);
    if (shape.cap < Infinity) this.solver.setCap(flow.variable, shape.cap);
    this.flowOfVariable[flow.variable] = index;
    this.unsolved = true;
  }

  /** No QP waits for a retransmission, and all have a path that works. */
  private well(shape: FlowShape): boolean {
    for (let at = 0; at < shape.qps.length; at++) {
      if (this.timers.stalled(shape.qps[at])) return false;
    }
    return shape.alive();
  }

  /** Stops a flow and starts the timers of its QPs that have lost their path. */
  private halt(nowNs: number, index: number): void {
    const flow = this.flows[index];
    const shape = flow.shape!;
    const { rate } = flow;
    if (flow.state === RUNNING) {
      this.settle(flow, nowNs);
      this.release(flow);
      this.queue.cancel(flow.event);
      flow.event = -1;
    }
    flow.state = STALLED;
    flow.rate = 0;
    const windowPackets = (rate * shape.roundTripNs) / packetBytes(this.settings);
    shape.connectionIds.forEach((id, edge) => {
      const { firstQp, qpCount } = this.connections.all[id];
      for (let qp = firstQp; qp < firstQp + qpCount; qp++) {
        if (this.timers.stalled(qp) || this.connections.silent(qp) || this.connections.alive(qp)) continue;
        this.timers.stall(nowNs, qp, windowPackets * shape.weights[edge]);
      }
    });
  }

  /** After a change of routes or wires: stalls flows that lost a path, moves those whose paths changed. */
  private reviewPaths(nowNs: number): void {
    // Several flows may share a shape: all count their bytes by the old paths before any sees the new ones.
    this.readCounters(nowNs);
    for (let index = 0; index < this.flows.length; index++) {
      const flow = this.flows[index];
      if (flow.state !== RUNNING) continue;
      const shape = flow.shape!;
      if (!shape.alive()) {
        this.halt(nowNs, index);
        continue;
      }
      shape.compile();
      if (flow.version === shape.version || flow.variable < 0) continue;
      flow.version = shape.version;
      this.solver.replace(flow.variable, shape.links, shape.coefficients, shape.linkCount);
      this.solver.setCap(flow.variable, shape.cap);
      this.unsolved = true;
    }
  }

  private resumeStalled(nowNs: number): void {
    for (let index = 0; index < this.flows.length; index++) {
      const flow = this.flows[index];
      if (flow.state !== STALLED || this.waits(flow.shape!)) continue;
      this.runOrStall(nowNs, index);
    }
  }

  private waits(shape: FlowShape): boolean {
    for (let at = 0; at < shape.qps.length; at++) {
      if (this.timers.stalled(shape.qps[at])) return true;
    }
    return false;
  }

  private solve(nowNs: number): void {
    this.unsolved = false;
    this.hostSide.account(nowNs);
    this.solver.solve();
    this.hostSide.update();
    for (let at = 0; at < this.solver.changedCount; at++) {
      const variable = this.solver.changed(at);
      const index = this.flowOfVariable[variable];
      const flow = this.flows[index];
      this.settle(flow, nowNs);
      flow.rate = this.solver.rate(variable);
      this.queue.cancel(flow.event);
      flow.event = -1;
      if (flow.rate > 0 && flow.remaining < Infinity) {
        flow.event = this.queue.schedule(
          nowNs + Math.max(0, flow.remaining / flow.rate),
          EVENT.flowTransferred,
          index,
        );
      }
    }
  }

  private settle(flow: Flow, nowNs: number): void {
    const bytes = Math.min(flow.remaining, flow.rate * (nowNs - flow.settledNs));
    flow.remaining -= bytes;
    flow.unread += bytes;
    flow.settledNs = nowNs;
  }

  /** Takes a running flow out of the solver, its bytes counted. */
  private release(flow: Flow): void {
    this.flush(flow);
    flow.rate = 0;
    if (flow.variable < 0) return;
    this.solver.remove(flow.variable);
    flow.variable = -1;
    this.unsolved = true;
  }

  private flush(flow: Flow): void {
    const bytes = flow.unread;
    if (bytes === 0) return;
    flow.unread = 0;
    const { links, coefficients, linkCount, connectionIds, weights, payloadPerWire } = flow.shape!;
    const carried = this.counters.carried[flow.classIndex];
    for (let at = 0; at < linkCount && links[at] < carried.length; at++) {
      carried[links[at]] += coefficients[at] * bytes;
    }
    const { delivered } = this.counters;
    const payload = bytes * payloadPerWire;
    for (let at = 0; at < connectionIds.length; at++) delivered[connectionIds[at]] += weights[at] * payload;
    if (flow.shape!.lossy.length > 0) this.countDamage(flow.shape!, bytes);
  }

  /** Frames that links damaged while so many useful bytes got across, and how the NICs noticed. */
  private countDamage(shape: FlowShape, bytes: number): void {
    const { counters, connections, timers, signals } = this;
    const packets = bytes / packetBytes(this.settings);
    for (let at = 0; at < shape.linkCount && shape.links[at] < signals.frameLoss.length; at++) {
      const direction = shape.links[at];
      counters.damaged[direction] += shape.coefficients[at] * packets * signals.frameLoss[direction];
    }
    for (const lossy of shape.lossy) {
      countLosses(lossy, packets * lossy.weight, counters, connections, timers.schedule);
    }
  }
}
