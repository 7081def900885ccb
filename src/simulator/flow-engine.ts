/**
 * Flows that run: their rates, completions, stalls and resumptions, and the bytes they leave in counters.
 *
 * A flow is one shape with so many wire bytes to go. While any of its QPs has no working path the whole flow stands
 * still, since its edges move at the pace of the slowest. Rates are exactly max-min fair, re-solved once per instant for
 * what its events touched; where the fabric is contended, those of the congestion equilibrium take their place. A flow's
 * bytes are settled only when its rate changes or someone reads counters. Not modelled: slow start after a stall.
 */
import { assertAmount } from '../core/assertion.js';
import { packetBytes, type FabricSettings } from './settings.js';
import type { Beliefs } from './network/beliefs.js';
import type { Backlog } from './congestion/backlog.js';
import type { ByteBook } from './transport/byte-book.js';
import type { CongestionEngine } from './congestion/congestion-engine.js';
import type { Connections } from './transport/connections.js';
import type { Counters } from './sampling/counters.js';
import { EVENT } from './event-kind.js';
import type { EventQueue } from './event-queue.js';
import type { FlowShape } from './rates/flow-shape.js';
import { HostSide } from './network/host-side.js';
import { countTimeouts } from './transport/losses.js';
import type { SharedRates } from './rates/shared-rates.js';
import type { PauseStorms } from './network/pause-storms.js';
import type { QpTimers } from './transport/qp-timers.js';
import type { Rates } from './rates/rates.js';
import { IDLE, idleFlow, RUNNING, STALLED, STARTING, TAIL, type Flow } from './jobs/running-flow.js';
import type { Signals } from './network/signals.js';

const NONE: readonly number[] = [];

export interface FlowListener {
  flowDone(job: number, operation: number): void;
  /** The flow stays inside a host whose processes are gone: there is nobody left to wait for it. */
  flowIsMoot(job: number, shape: FlowShape): boolean;
}

export class FlowEngine {
  private readonly flows: Flow[] = [];
  /** Those whose rates are not those of the max-min solver. */
  private overruled: readonly Flow[] = [];
  /** QPs behind a pause without end. */
  private heldQps = NONE;
  private readonly free: number[] = [];
  private readonly flowOfVariable: number[] = [];
  private timers!: QpTimers;
  private listener!: FlowListener;
  private seenEpoch = 0;
  private seenVersion = 0;
  private seenConditions = 0;
  private seenCongestion = 0;
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
    private readonly connections: Connections,
    private readonly counters: Counters,
    private readonly solver: SharedRates,
    private readonly bytes: ByteBook,
    private readonly congestion: CongestionEngine,
    private readonly backlog: Backlog,
    private readonly storms: PauseStorms,
  ) {
    this.hostSide = new HostSide(
      beliefs.graph.topology,
      settings,
      rates,
      counters,
      (capacity) =>
        this.overruled.length > 0
          ? solver.loadAt(capacity, (variable) => this.flows[this.flowOfVariable[variable]].rate)
          : solver.load(capacity),
      (direction) => congestion.pauses(direction) || !storms.heeds(direction),
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
    const index = this.free.pop() ?? this.flows.push(idleFlow()) - 1;
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
    if (flow.backlog !== undefined) flow.backlog.delivered += flow.remaining;
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
    if (this.seenCongestion !== this.congestion.version) {
      this.seenCongestion = this.congestion.version;
      this.unsolved = true;
    }
    if (this.unsolved) this.solve(nowNs);
  }

  /** Moves all bytes sent so far into the counters. */
  readCounters(nowNs: number): void {
    this.hostSide.account(nowNs);
    this.congestion.account(nowNs);
    for (const flow of this.flows) {
      if (flow.state !== RUNNING) continue;
      this.settle(flow, nowNs);
      this.bytes.flush(flow);
    }
    this.backlog.show();
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
    this.congestion.enter(flow, true);
    this.unsolved = true;
  }

  /** No QP waits for a retransmission, and all have a path that works. */
  private well(shape: FlowShape): boolean {
    return !this.waits(shape) && shape.alive();
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
        if (this.connections.silent(qp) || this.connections.alive(qp)) continue;
        if (this.timers.stalled(qp)) this.timers.loseHold(qp);
        else this.timers.stall(nowNs, qp, windowPackets * shape.weights[edge]);
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
      if (flow.backlog !== undefined && flow.backlog.paths !== shape.paths().paths) this.backlog.leave(flow);
      this.congestion.leave(flow);
      this.congestion.enter(flow, false);
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
      if (this.timers.stalled(shape.qps[at]) && !this.timers.isHeld(shape.qps[at])) return true;
    }
    return false;
  }

  private solve(nowNs: number): void {
    const { solver, congestion, storms } = this;
    this.unsolved = false;
    this.hostSide.account(nowNs);
    solver.solve();
    congestion.find(nowNs);
    this.takeRates(nowNs);
    this.backlog.follow(congestion.shown, (flow) => this.settle(flow, nowNs));
    this.hostSide.update();
    this.holdQps(nowNs, congestion.heldQps);
    if (storms.some) storms.review(nowNs, (queue) => congestion.isStuck(queue));
  }

  /** Max-min rates that have changed, but for flows in contention. */
  private takeRates(nowNs: number): void {
    const { solver, overruled, congestion } = this;
    const ruled = congestion.flows;
    for (const flow of overruled) flow.overruled = false;
    for (const flow of ruled) flow.overruled = true;
    for (let at = 0; at < solver.changedCount; at++) {
      const variable = solver.changed(at);
      const flow = this.flows[this.flowOfVariable[variable]];
      if (!flow.overruled) this.setRate(nowNs, flow, solver.rate(variable));
    }
    for (const flow of overruled) {
      if (flow.overruled || flow.variable < 0) continue;
      const rate = solver.rate(flow.variable);
      if (rate !== flow.rate) this.setRate(nowNs, flow, rate);
    }
    for (const { flows, picture } of congestion.shown) {
      for (let at = 0; at < flows.length; at++) {
        const rate = picture.rates[at];
        if (rate !== flows[at].rate || flows[at].event < 0) this.setRate(nowNs, flows[at], rate);
      }
    }
    this.overruled = ruled;
  }

  private setRate(nowNs: number, flow: Flow, rate: number): void {
    assertAmount(rate, 'the rate of a flow', 'job', flow.job);
    this.settle(flow, nowNs);
    flow.rate = rate;
    this.queue.cancel(flow.event);
    flow.event = -1;
    if (rate <= 0 || flow.remaining === Infinity) return;
    const endNs = nowNs + Math.max(0, flow.remaining / rate);
    flow.event = this.queue.schedule(endNs, EVENT.flowTransferred, this.flowOfVariable[flow.variable]);
  }

  /** Lets the timers of QPs run that a pause holds, and those go on that it holds no longer. */
  private holdQps(nowNs: number, qps: readonly number[]): void {
    if (qps === this.heldQps) return;
    const now = new Set(qps);
    for (const qp of this.heldQps) if (!now.has(qp)) this.timers.release(nowNs, qp);
    for (const qp of qps) this.timers.hold(nowNs, qp);
    this.heldQps = qps;
  }

  private settle(flow: Flow, nowNs: number): void {
    const bytes = Math.min(flow.remaining, flow.rate * (nowNs - flow.settledNs));
    flow.remaining -= bytes;
    flow.unread += bytes;
    if (flow.backlog !== undefined) flow.backlog.delivered += bytes;
    flow.settledNs = nowNs;
  }

  /** Takes a running flow out of the solver, its bytes counted. */
  private release(flow: Flow): void {
    this.bytes.flush(flow);
    this.backlog.leave(flow);
    flow.rate = 0;
    if (flow.variable < 0) return;
    this.solver.remove(flow.variable);
    flow.variable = -1;
    flow.overruled = false;
    this.congestion.leave(flow);
    this.unsolved = true;
  }
}
