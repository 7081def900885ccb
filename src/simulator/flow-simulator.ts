/**
 * The flow-level simulator: a fabric with jobs on it, moved forward in simulated time.
 *
 * Event-driven: between two events all rates are constant. Per instant: all its events, then what they mean for
 * paths, flows and rates, once; polls come last, so they see the state after the instant's events. The same topology,
 * jobs, settings and seed, driven by the same calls, give the same evidence byte for byte.
 * Not modelled: single packets; queues, marks and pauses are those of the steady state between events.
 */
import { assertClock, InternalError } from '../core/assertion.js';
import { CourseStore, type CourseStoreOptions } from '../model/telemetry/columns/course-store.js';
import type { EvidenceSize } from '../model/telemetry/evidence-size.js';
import type { Evidence } from '../model/telemetry/series.js';
import type { TelemetrySettings } from '../model/telemetry/settings.js';
import type { Topology } from '../model/topology/model.js';
import { RoutingGraph } from '../model/topology/routing/graph.js';
import type { Job } from '../model/workload/job.js';
import { priorityClasses } from './congestion-settings.js';
import type { FabricSettings } from './settings.js';
import { Beliefs } from './network/beliefs.js';
import { watchBoundaries, type WantedBoundary } from './jobs/boundary-watch.js';
import { assembleFlows } from './congestion/congestion-parts.js';
import { Connections } from './transport/connections.js';
import { ControlPlane } from './network/control-plane.js';
import { Counters } from './sampling/counters.js';
import { Effort } from './effort.js';
import { EventGuard } from './event-guard.js';
import { EVENT } from './event-kind.js';
import { EventQueue } from './event-queue.js';
import { FabricControls } from './network/fabric-controls.js';
import { noiseOf } from './noise/noise.js';
import { World, type statedTraits } from './noise/world.js';
import type { FlowEngine } from './flow-engine.js';
import type { ShapeContext } from './rates/flow-shape.js';
import { BackgroundEventTimes } from './background-event-times.js';
import { BackgroundEvents } from './noise/background-events.js';
import { InjectedTraffic } from './injected-traffic.js';
import { prepareJob, restarter, type KnownConnections, type ReadyJob } from './jobs/job-program.js';
import { JobRunner } from './jobs/job-runner.js';
import { JobSupervisor, type MoveOrder } from './jobs/job-supervisor.js';
import { JobLatencies } from './jobs/latencies.js';
import { PathUse } from './transport/path-use.js';
import { PauseStorms } from './network/pause-storms.js';
import { PhysicalLayer } from './network/physical-layer.js';
import { Placements } from './jobs/placements.js';
import { QpTimers, type QpListener } from './transport/qp-timers.js';
import { RankClocks } from './jobs/rank-clocks.js';
import { Rates } from './rates/rates.js';
import { RetransmissionSchedule } from './transport/retransmission.js';
import { Signals } from './network/signals.js';
import { Sampler, type SamplerSources } from './sampling/sampler.js';
import { SwitchClasses } from './network/switch-classes.js';

export interface FlowSimulatorOptions {
  /** False works out anew what a repeated step has worked out before, for the test that this changes nothing. */
  reuse?: boolean;
  /** Where samples go that memory has no room for; left out: all of them stay in memory. */
  samples?: CourseStoreOptions;
  /** What the file states in place of draws. */
  traits?: ReturnType<typeof statedTraits>;
}

export class FlowSimulator extends FabricControls {
  private readonly queue = new EventQueue();
  protected readonly physical: PhysicalLayer;
  protected readonly rates: Rates;
  protected readonly signals: Signals;
  protected readonly connections: Connections;
  protected readonly counters: Counters;
  protected readonly flows: FlowEngine;
  protected readonly runner: JobRunner;
  protected readonly load: InjectedTraffic;
  protected readonly storms: PauseStorms;
  protected readonly switches: SwitchClasses;
  private readonly control: ControlPlane;
  private readonly timers: QpTimers;
  protected readonly sampler: Sampler;
  private readonly pathUse: PathUse;
  protected readonly placements: Placements;
  protected readonly supervisor: JobSupervisor;
  private readonly background: BackgroundEventTimes | undefined;
  /** What was drawn beside what was asked for. */
  readonly world: World;
  /** Signs of life, and how exact the searches for steady states are. */
  readonly effort = new Effort();
  private readonly guard = new EventGuard(() => this.eventful);
  private clockNs = 0;
  /** True while an instant is worked out, and for good once that has failed. */
  private midway = false;

  /** @throws InputError when a job's program can't run */
  constructor(
    readonly topology: Topology,
    readonly jobs: readonly Job[],
    readonly settings: FabricSettings,
    telemetry: TelemetrySettings,
    seed: number,
    { reuse = true, samples, traits }: FlowSimulatorOptions = {},
  ) {
    super();
    const { queue } = this;
    const world = new World(settings.realism, seed, traits);
    this.world = world;
    const noise = noiseOf(world, topology, jobs, telemetry);
    const beliefs = new Beliefs(new RoutingGraph(topology));
    const physical = new PhysicalLayer(topology, settings, queue, noise.timing);
    const connections = new Connections(beliefs, physical, settings, seed);
    const rates = new Rates(topology);
    const signals = new Signals(topology, settings, queue, physical, rates, seed, noise.optics);
    const schedule = new RetransmissionSchedule(settings);
    const parts = { topology, settings, connections, rates, signals, schedule };
    const context: ShapeContext = { ...parts, scratch: new Float64Array(rates.capacities.length), shapes: 0 };
    const known = jobs.map((): KnownConnections => new Map<string, number>());
    const ready = jobs.map((job, index) => prepareJob(job, index, context, known[index]));
    const placements = new Placements(topology, jobs, (host) => physical.deviceUp[host] === 1);
    const latencies = jobs.map(() => new JobLatencies());
    const jobPriorities = jobs.map((job) => job.priority);
    const counters = new Counters(topology, priorityClasses(settings, jobPriorities));
    const clocks = jobs.map(() => new RankClocks());
    this.physical = physical;
    this.rates = rates;
    this.signals = signals;
    this.connections = connections;
    this.counters = counters;
    const switches = new SwitchClasses(topology, settings, counters.priorities);
    const storms = new PauseStorms(topology, settings, queue, switches, counters);
    this.switches = switches;
    this.storms = storms;
    connections.lostQueues = storms;
    this.control = new ControlPlane(topology, settings, queue, physical, beliefs, noise.timing);
    const { effort } = this;
    const around = { queue, physical, beliefs, counters, switches, storms, effort };
    this.flows = assembleFlows({ ...parts, ...around }, reuse);
    this.timers = this.timersOf(connections, storms);
    this.load = new InjectedTraffic(context, connections, counters, this.timers, this.flows);
    const watched = { beliefs, clocks, latencies, placements, noise };
    this.sampler = new Sampler(this.sources(watched), telemetry, seed, new CourseStore(samples));
    this.runner = new JobRunner(
      ready,
      settings,
      queue,
      this.flows,
      this.sampler,
      this.timers.schedule.patienceNs,
      (priority) => counters.classOf(priority),
      clocks,
      latencies,
      seed,
      noise.compute,
    );
    this.placements = placements;
    this.supervisor = this.supervise(connections, restarter(jobs, known, placements, context));
    this.pathUse = new PathUse(topology, jobs, connections, beliefs, placements);
    this.wire(connections);
    if (!world.isQuiet) this.background = this.backgroundEvents(world);
  }

  private backgroundEvents(world: World): BackgroundEventTimes {
    const { topology, queue, physical, control } = this;
    return new BackgroundEventTimes(new BackgroundEvents(world, topology, control.betweenSwitches), queue, {
      physical,
      control,
      throttle: (gpu, factor) => this.setSlowdown('too hot', [gpu], factor),
      resetCounters: (nowNs, device) => this.sampler.resetCounters(nowNs, device),
    });
  }

  private sources(
    more: Pick<SamplerSources, 'beliefs' | 'clocks' | 'latencies' | 'placements' | 'noise'>,
  ): SamplerSources {
    const { topology, settings, jobs, physical, rates, signals } = this;
    const { control, connections, counters, timers } = this;
    const readCounters = (nowNs: number): void => this.flows.readCounters(nowNs);
    const network = { topology, settings, jobs, physical, rates, signals };
    return { ...network, control, connections, counters, timers, ...more, readCounters };
  }

  private supervise(connections: Connections, prepare: (job: number) => ReadyJob): JobSupervisor {
    const { topology, jobs, queue, runner, placements, physical, sampler } = this;
    const isUp = (host: number): boolean => physical.deviceUp[host] === 1;
    return new JobSupervisor(topology, jobs, queue, runner, placements, isUp, prepare, {
      evict: (job, host) => {
        for (const qp of connections.breakHost(host, job)) this.timers.forget(this.clockNs, qp);
        runner.evict(this.clockNs, job, host);
      },
      ranksMoved: (fromHost, toHost) => [fromHost, toHost].forEach((host) => sampler.hostChanged(host)),
      ranksGone: (hosts) => hosts.forEach((host) => sampler.hostChanged(host)),
    });
  }

  private timersOf(connections: Connections, storms: PauseStorms): QpTimers {
    const { topology, settings, queue, physical, counters } = this;
    const listener = this.qpListener(connections);
    return new QpTimers(topology, settings, queue, physical, connections, counters, storms, listener);
  }

  private qpListener(connections: Connections): QpListener {
    return {
      qpResumed: () => this.flows.qpResumed(),
      qpFailed: (qp) => {
        const { job } = connections.all[connections.connectionOf[qp]];
        if (job < 0) this.load.fail(this.clockNs, job);
        else this.runner.fail(this.clockNs, job);
      },
    };
  }

  private wire(connections: Connections): void {
    const { physical, control, sampler, flows, runner, supervisor } = this;
    runner.attach(supervisor);
    flows.attach(this.timers, {
      flowDone: (job, operation) => {
        if (job >= 0) runner.flowDone(this.clockNs, job, operation);
      },
      flowIsMoot: (job, shape) => job >= 0 && runner.isMoot(job, shape),
    });
    physical.listen({
      portStateChanged: (port) => {
        this.signals.portChanged(this.clockNs, port);
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
        } else supervisor.review(this.clockNs);
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
    this.begin();
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
    this.midway = false;
  }

  /** Runs up to and including the instant at which the first of these boundaries of jobs begins, or to `untilNs`. */
  advanceToFirstBoundary(
    wanted: readonly WantedBoundary[],
    untilNs: number,
  ): { index: number; beganNs: number } | undefined {
    return watchBoundaries(this.runner, wanted, () => {
      if (this.clockNs >= untilNs) return false;
      this.advance(Math.min(untilNs, Math.max(this.clockNs, this.queue.nextNs)));
      return true;
    });
  }

  /**
   * Orders the ranks of a job off a host; the order stands until it is withdrawn.
   * @throws InputError when the job has no rank there, or the host to go to can't take them
   */
  orderMove(order: MoveOrder): void {
    this.supervisor.order(this.clockNs, order);
    this.settle();
  }

  /** The job stays where it is by now; one that has found no host may have its own back. */
  withdrawMove(job: number, fromHost: number): void {
    this.supervisor.withdraw(this.clockNs, job, fromHost);
    this.settle();
  }

  moveOrder(job: number, fromHost: number): MoveOrder | undefined {
    return this.supervisor.orderOf(job, fromHost);
  }

  /** How much will have been sampled after so long. */
  evidenceSize(durationNs: number): EvidenceSize {
    return this.sampler.evidenceSize(durationNs);
  }

  /** Everything sampled between two instants, both included. */
  evidence(fromNs: number, toNs: number): Evidence {
    return this.sampler.evidence(fromNs, toNs);
  }

  /** Indices of jobs with a rank on, or a present path of data or ACKs over, the element (link, port, device, nic). */
  jobsCrossing(elementId: string): number[] {
    return this.pathUse.jobsCrossing(elementId);
  }

  /** Ports, queue pairs and operations: what may have events. */
  private get eventful(): number {
    return this.topology.ports.length + this.connections.qpCount + this.runner.operations;
  }

  private begin(): void {
    if (this.midway) {
      throw new InternalError('a simulation that has failed can not go on', 'advance', {
        nowNs: this.clockNs,
      });
    }
    this.midway = true;
  }

  private moveTo(nowNs: number): void {
    assertClock(this.clockNs, nowNs, 'the clock of the simulation');
    this.clockNs = this.effort.nowNs = nowNs;
    this.sampler.setNow(nowNs);
    this.effort.work();
  }

  /** All events of this instant, then what follows from them. */
  private instant(): void {
    while (this.queue.nextNs <= this.clockNs) {
      this.queue.pop();
      this.dispatch();
    }
    this.commit();
  }

  /** What a change from outside means for flows and rates; one that failed before only keeps the setting. */
  protected settle(): void {
    if (this.midway) return;
    this.midway = true;
    this.commit();
    this.midway = false;
  }

  private commit(): void {
    this.flows.commit(this.clockNs);
    this.sampler.commit();
  }

  private dispatch(): void {
    const { kind, subject, detail } = this.queue;
    const nowNs = this.clockNs;
    this.guard.count(nowNs, kind, subject);
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
      case EVENT.watchdog:
        return this.storms.due(subject, detail);
      case EVENT.checkpointDone:
        return this.runner.checkpointDone(nowNs, subject);
      case EVENT.jobRestart:
        return this.supervisor.due(nowNs, subject);
      case EVENT.background:
        return this.background?.due(nowNs, subject, detail === 1);
      case EVENT.hour:
        return this.background?.hour(subject);
      case EVENT.jobLost:
        return this.runner.lost(nowNs, subject);
      default:
        throw new RangeError(`unknown event kind ${kind}`);
    }
  }
}
