/**
 * The flow-level simulator: a fabric with jobs on it, moved forward in simulated time.
 *
 * Event-driven: between two events all rates are constant. Per instant: all its events, then what they mean for
 * paths, flows and rates, once; polls come last, so they see the state after the instant's events. The same topology,
 * jobs, settings and seed, driven by the same calls, give the same evidence byte for byte.
 * Not modelled: packets, queues, ECN, PFC and congestion control; sharing is exact max-min.
 */
import type { Evidence } from '../../telemetry/series.js';
import type { TelemetrySettings } from '../../telemetry/settings.js';
import type { Topology } from '../../topology/model.js';
import { RoutingGraph } from '../../topology/routing/graph.js';
import type { Job } from '../../workload/job.js';
import type { FabricSettings } from '../settings.js';
import { Beliefs } from './beliefs.js';
import { Connections } from './connections.js';
import { ControlPlane } from './control-plane.js';
import { Counters } from './counters.js';
import { EVENT } from './event-kind.js';
import { EventQueue } from './event-queue.js';
import { FlowEngine } from './flow-engine.js';
import type { ShapeContext } from './flow-shape.js';
import { prepareJob } from './job-program.js';
import { JobRunner, type BoundaryKind } from './job-runner.js';
import { PathUse } from './path-use.js';
import { PhysicalLayer } from './physical-layer.js';
import { QpTimers, type QpListener } from './qp-timers.js';
import { RankClocks } from './rank-clocks.js';
import { Rates } from './rates.js';
import { RetransmissionSchedule } from './retransmission.js';
import { Signals, type SignalCondition } from './signals.js';
import { Sampler } from './sampler.js';

export class FlowSimulator {
  private readonly queue = new EventQueue();
  private readonly physical: PhysicalLayer;
  private readonly rates: Rates;
  private readonly signals: Signals;
  private readonly control: ControlPlane;
  private readonly flows: FlowEngine;
  private readonly timers: QpTimers;
  private readonly runner: JobRunner;
  private readonly sampler: Sampler;
  private readonly pathUse: PathUse;
  /** By GPU, then cause: factor by which computations are longer. */
  private readonly slowdowns = new Map<number, Map<string, number>>();
  private clockNs = 0;

  /** @throws InputError when a job's program can't run */
  constructor(
    readonly topology: Topology,
    readonly jobs: readonly Job[],
    readonly settings: FabricSettings,
    telemetry: TelemetrySettings,
    seed: number,
  ) {
    const { queue } = this;
    const beliefs = new Beliefs(new RoutingGraph(topology));
    const physical = new PhysicalLayer(topology, settings, queue);
    const connections = new Connections(beliefs, physical, settings.hashSeed, seed);
    const rates = new Rates(topology);
    const scratch = new Float64Array(rates.capacities.length);
    const signals = new Signals(topology, settings, queue, physical, rates, seed);
    const schedule = new RetransmissionSchedule(settings);
    const context: ShapeContext = { topology, settings, connections, rates, signals, schedule, scratch };
    const ready = jobs.map((job, index) => prepareJob(job, index, context));
    const priorities = jobs.map((job) => job.priority);
    const counters = new Counters(topology, priorities);
    counters.reserve(connections.all.length);
    const clocks = jobs.map(() => new RankClocks());
    this.physical = physical;
    this.rates = rates;
    this.signals = signals;
    this.control = new ControlPlane(topology, settings, queue, physical, beliefs);
    this.flows = new FlowEngine(rates, signals, settings, queue, beliefs, physical, connections, counters);
    this.timers = new QpTimers(
      topology,
      settings,
      queue,
      physical,
      connections,
      counters,
      (connection) => counters.classOf(jobs[connections.all[connection].job].priority),
      this.qpListener(connections),
    );
    this.sampler = new Sampler(
      {
        topology,
        settings,
        jobs,
        physical,
        rates,
        signals,
        control: this.control,
        beliefs,
        connections,
        counters,
        timers: this.timers,
        clocks,
        readCounters: (nowNs) => this.flows.readCounters(nowNs),
      },
      telemetry,
      seed,
    );
    this.runner = new JobRunner(
      ready,
      settings,
      queue,
      this.flows,
      this.sampler,
      this.timers.schedule.patienceNs,
      (priority) => counters.classOf(priority),
      clocks,
      seed,
    );
    this.pathUse = new PathUse(topology, jobs, connections, beliefs);
    this.wire(connections);
  }

  private qpListener(connections: Connections): QpListener {
    return {
      qpResumed: () => this.flows.qpResumed(),
      qpFailed: (qp) => this.runner.fail(this.clockNs, connections.all[connections.connectionOf[qp]].job),
    };
  }

  private wire(connections: Connections): void {
    const { physical, control, sampler, flows, runner } = this;
    flows.attach(this.timers, {
      flowDone: (job, operation) => runner.flowDone(this.clockNs, job, operation),
      flowIsMoot: (job, shape) => runner.isMoot(job, shape),
    });
    physical.listen({
      portStateChanged: (port) => {
        sampler.portStateChanged(port);
        control.portStateChanged(this.clockNs, port);
      },
      portAdminChanged: (port) => sampler.portAdminChanged(port),
      linkChanged: (link) => control.linkChanged(this.clockNs, link),
      carrierReviewed: (link) => this.signals.linkChanged(this.clockNs, link),
      deviceChanged: (device) => {
        control.deviceChanged(device);
        sampler.deviceChanged(device);
        if (physical.deviceUp[device] === 0 && this.topology.devices[device].role === 'host') {
          for (const qp of connections.breakHost(device)) this.timers.forget(this.clockNs, qp);
          runner.hostLost(this.clockNs, device);
        }
      },
    });
    control.listen({
      adjacencyChanged: (port) => sampler.adjacencyChanged(port),
      beliefChanged: (node) => sampler.beliefChanged(node),
    });
  }

  get nowNs(): number {
    return this.clockNs;
  }

  /** Lets the jobs begin, each at its own start time. */
  startJobs(): void {
    this.runner.launch(this.clockNs);
  }

  /** Runs up to and including `toNs`. */
  advance(toNs: number): void {
    while (true) {
      const eventNs = this.queue.nextNs;
      const pollNs = this.sampler.nextNs;
      const nextNs = Math.min(eventNs, pollNs);
      if (nextNs > toNs) break;
      this.moveTo(nextNs);
      if (eventNs <= pollNs) this.instant();
      else this.sampler.poll(nextNs);
    }
    this.moveTo(Math.max(this.clockNs, toNs));
  }

  /**
   * Runs up to and including the instant at which a job's next boundary of that kind begins, or to `untilNs` without one.
   *
   * @param number the boundary wanted, counted over the job's life from 1; the next one when left out
   * @returns when it began, ns; undefined when it did not
   */
  advanceToBoundary(job: number, kind: BoundaryKind, untilNs: number, number?: number): number | undefined {
    let beganNs: number | undefined;
    this.runner.onBoundary = (which, what, count, nowNs) => {
      if (which === job && what === kind && count >= (number ?? 0)) beganNs ??= nowNs;
    };
    try {
      while (beganNs === undefined && this.clockNs < untilNs) {
        this.advance(Math.min(untilNs, Math.max(this.clockNs, this.queue.nextNs)));
      }
    } finally {
      this.runner.onBoundary = undefined;
    }
    return beganNs;
  }

  /** Shuts a port down, or enables it, by configuration. */
  setPortAdmin(port: number, up: boolean): void {
    this.physical.setPortAdmin(this.clockNs, port, up);
    this.settle();
  }

  setCut(link: number, cut: boolean): void {
    this.physical.setCut(this.clockNs, link, cut);
    this.settle();
  }

  /** @param direction `2 * link` or `2 * link + 1`; what is sent on it vanishes */
  setBlackhole(direction: number, hole: boolean): void {
    this.physical.setHole(this.clockNs, direction, hole);
    this.settle();
  }

  setPower(device: number, on: boolean): void {
    this.physical.setPower(this.clockNs, device, on);
    this.settle();
  }

  /** What both ends have negotiated. */
  setLinkRate(link: number, gbps: number): void {
    this.rates.setLink(link, gbps);
    this.signals.linkChanged(this.clockNs, link);
    this.settle();
  }

  /** @param gbps what a NIC can read from or write to its host; Infinity when the slot is as it should be */
  setHostRate(nic: number, gbps: number): void {
    this.flows.hostSide.watch(nic);
    this.rates.setHost(nic, gbps);
    this.settle();
  }

  linkRateGbps(link: number): number {
    return this.rates.linkGbps[link];
  }

  /** Rated speed of all ports of a NIC together. */
  portsRateGbps(nic: number): number {
    return this.rates.portsGbps(nic);
  }

  hostRateGbps(nic: number): number {
    return this.rates.hostGbps[nic];
  }

  /**
   * The worst of all causes decides how fast a GPU computes.
   * @param cause a name of the caller's
   * @param factor how many times longer than normal computations take, 1 for normal
   */
  setSlowdown(cause: string, gpus: readonly number[], factor: number): void {
    for (const gpu of gpus) {
      const causes = this.slowdowns.get(gpu) ?? new Map<string, number>();
      this.slowdowns.set(gpu, causes.set(cause, factor));
      this.runner.slowDown(this.clockNs, gpu, Math.max(...causes.values()));
    }
    this.settle();
  }

  slowdown(cause: string, gpu: number): number {
    return this.slowdowns.get(gpu)?.get(cause) ?? 1;
  }

  /** @param direction `2 * link` or `2 * link + 1`; undefined makes its signal well again */
  setSignal(direction: number, condition: SignalCondition | undefined): void {
    this.signals.set(this.clockNs, direction, condition);
    this.settle();
  }

  signal(direction: number): SignalCondition | undefined {
    return this.signals.condition(direction);
  }

  portAdminUp(port: number): boolean {
    return this.physical.adminUp[port] === 1;
  }

  isCut(link: number): boolean {
    return this.physical.cut[link] === 1;
  }

  isBlackhole(direction: number): boolean {
    return this.physical.hole[direction] === 1;
  }

  isPowered(device: number): boolean {
    return this.physical.powered[device] === 1;
  }

  /** Everything sampled between two instants, both included. */
  evidence(fromNs: number, toNs: number): Evidence {
    return this.sampler.evidence(fromNs, toNs);
  }

  /** Indices of jobs with a rank on, or a present path of data or ACKs over, the element (link, port, device, nic). */
  jobsCrossing(elementId: string): number[] {
    return this.pathUse.jobsCrossing(elementId);
  }

  private moveTo(nowNs: number): void {
    this.clockNs = nowNs;
    this.sampler.setNow(nowNs);
  }

  /** All events of this instant, then what follows from them. */
  private instant(): void {
    while (this.queue.nextNs <= this.clockNs) {
      this.queue.pop();
      this.dispatch();
    }
    this.settle();
  }

  private settle(): void {
    this.flows.commit(this.clockNs);
    this.sampler.commit();
  }

  private dispatch(): void {
    const { kind, subject, detail } = this.queue;
    const nowNs = this.clockNs;
    switch (kind) {
      case EVENT.portState:
        return this.physical.portStateDue(subject);
      case EVENT.sessionState:
        return this.control.sessionDue(nowNs, subject);
      case EVENT.localRepair:
        return this.control.repairDue(nowNs, subject);
      case EVENT.deviceBooted:
        return this.physical.deviceBooted(nowNs, subject);
      case EVENT.announcement:
        return this.control.announcementDue(nowNs, subject, detail);
      case EVENT.flowTransferred:
        return this.flows.transferred(nowNs, subject);
      case EVENT.flowDone:
        return this.flows.done(subject);
      case EVENT.retransmission:
        return this.timers.due(nowNs, subject);
      case EVENT.jobStart:
        return this.runner.start(nowNs, subject);
      case EVENT.computeDone:
        return this.runner.computeDone(nowNs, subject, detail);
      case EVENT.emptyCollective:
        return this.runner.emptyCollective(nowNs, subject, detail);
      case EVENT.alignment:
        return this.signals.alignmentDue(nowNs, subject);
      case EVENT.jobLost:
        return this.runner.lost(nowNs, subject);
      default:
        throw new RangeError(`unknown event kind ${kind}`);
    }
  }
}
