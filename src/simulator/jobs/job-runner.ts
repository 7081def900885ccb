/**
 * Training jobs in motion: step after step through the operation graph, and what a training log says about each.
 *
 * An operation starts when all it depends on are done; a computation is done when its slowest rank is. A step ends when
 * every operation has; the next begins at once.
 * GPU utilisation is the share of the step in which some computation ran or nothing waited on the fabric. A job dies
 * when one of its QPs gives up. A host that goes down takes its ranks' processes with it: what they did among
 * themselves ends, their peers' QPs never hear from them again and give up in the end; a job without such peers dies
 * at once. Checkpoints are synchronous: they come between two steps. Who starts a dead job again: job-supervisor.ts.
 * Not modelled: rank-level overlap, asynchronous checkpoints.
 */
import type { FabricSettings } from '../settings.js';
import { hashText } from '../../core/prng.js';
import { DEFAULT_CHECKPOINT_NS } from '../../model/workload/job.js';
import { EVENT } from '../event-kind.js';
import type { EventQueue } from '../event-queue.js';
import type { FlowEngine } from '../flow-engine.js';
import type { FlowShape } from '../rates/flow-shape.js';
import type { ReadyJob } from './job-program.js';
import type { JobLatencies } from './latencies.js';
import type { ComputeNoise } from '../noise/compute-noise.js';
import { normalAt } from '../noise/draws.js';
import type { RankClocks } from './rank-clocks.js';
import type { BoundaryKind, BoundaryListener, JobListener, Supervisor } from './job-listener.js';
import { JOB_STATE, RunningJob } from './running-job.js';

export type { BoundaryKind, BoundaryListener, JobListener, StepReport, Supervisor } from './job-listener.js';

export class JobRunner {
  private readonly jobs: RunningJob[];
  private readonly jitterSeed: number;
  private supervisor!: Supervisor;
  /** By GPU: how many times longer than normal it computes, where it does. */
  private readonly slowGpus = new Map<number, number>();
  /** Told at each boundary, before what begins there has begun. */
  onBoundary: BoundaryListener | undefined;

  constructor(
    ready: readonly ReadyJob[],
    private readonly settings: FabricSettings,
    private readonly queue: EventQueue,
    private readonly flows: FlowEngine,
    private readonly listener: JobListener,
    /** How long the peers of a lost host go on trying, ns. */
    private readonly patienceNs: number,
    classOf: (priority: number) => number,
    /** By job. */
    clocks: readonly RankClocks[],
    /** By job: takes the durations of what ends. */
    private readonly latencies: readonly JobLatencies[],
    seed: number,
    /** Undefined in a quiet world. */
    private readonly noise: ComputeNoise | undefined,
  ) {
    this.jobs = ready.map((one, index) => new RunningJob(one, classOf(one.job.priority), clocks[index]));
    this.jitterSeed = hashText('compute-jitter', seed >>> 0);
  }

  attach(supervisor: Supervisor): void {
    this.supervisor = supervisor;
  }

  /** Operations of the programs of all jobs. */
  get operations(): number {
    return this.jobs.reduce((sum, { ready }) => sum + ready.operations.length, 0);
  }

  /** Lets all jobs begin at their own start times, those in the past now. */
  launch(nowNs: number): void {
    this.jobs.forEach((job, index) => {
      if (job.state === JOB_STATE.waiting) {
        this.queue.schedule(Math.max(nowNs, job.ready.job.startNs), EVENT.jobStart, index);
      }
    });
  }

  start(nowNs: number, index: number): void {
    const job = this.jobs[index];
    if (job.state !== JOB_STATE.waiting) return;
    job.state = JOB_STATE.running;
    job.startedAtNs = nowNs;
    this.listener.jobStarted(index);
    this.beginStep(nowNs, index);
  }

  computeDone(nowNs: number, index: number, operation: number): void {
    const job = this.jobs[index];
    job.dueEvent[operation] = -1;
    if (job.state !== JOB_STATE.running) return;
    this.account(nowNs, job);
    job.computing--;
    this.operationDone(nowNs, index, operation);
  }

  flowDone(nowNs: number, index: number, operation: number): void {
    const job = this.jobs[index];
    const { operations } = job.ready;
    const isCheckpoint = operation === operations.length;
    const crossesFabric = !isCheckpoint && operations[operation].crossesFabric;
    if (crossesFabric) this.latencies[index].flows.add(nowNs - job.startedNs[operation]);
    if (--job.flowsLeft[operation] > 0) return;
    if (isCheckpoint) {
      this.checkpointDone(nowNs, index);
      return;
    }
    this.account(nowNs, job);
    if (crossesFabric) job.communicating--;
    this.operationDone(nowNs, index, operation);
  }

  /** A job's processes are gone: a QP gave up, or its hosts are gone. */
  fail(nowNs: number, index: number): void {
    const job = this.jobs[index];
    if (!job.alive) return;
    if (this.supervisor.takesOver(nowNs, index)) {
      this.stop(nowNs, index);
      return;
    }
    this.endProcesses(nowNs, index);
    job.state = JOB_STATE.failed;
    this.listener.jobFailed(index);
  }

  isRunning(index: number): boolean {
    return this.jobs[index].state === JOB_STATE.running;
  }

  isWaiting(index: number): boolean {
    return this.jobs[index].state === JOB_STATE.waiting;
  }

  isComplete(index: number): boolean {
    return this.jobs[index].state === JOB_STATE.complete;
  }

  /** Lets a running job stop once it has written a checkpoint at the end of this step, or takes that back. */
  leave(index: number, leaving: boolean): void {
    this.jobs[index].leaving = leaving;
  }

  /** Ends a job's processes, in order to start it again. */
  stop(nowNs: number, index: number): void {
    this.endProcesses(nowNs, index);
    this.jobs[index].state = JOB_STATE.stopped;
    this.listener.jobStopped(index);
  }

  /** Lets a job that has not started begin elsewhere. */
  replace(index: number, ready: ReadyJob): void {
    this.jobs[index].ready = ready;
  }

  /** Starts a stopped job again, from its last checkpoint. */
  resume(nowNs: number, index: number, ready: ReadyJob): void {
    const job = this.jobs[index];
    job.ready = ready;
    job.state = JOB_STATE.running;
    ready.job.placement.forEach((gpu, rank) => {
      job.clocks.setSlowdown(nowNs, rank, this.slowGpus.get(gpu) ?? 1);
    });
    const redone = job.steps - job.savedSteps;
    job.steps = job.savedSteps;
    this.listener.jobResumed(index, job.steps, redone);
    this.beginStep(nowNs, index);
  }

  private endProcesses(nowNs: number, index: number): void {
    const job = this.jobs[index];
    this.queue.cancel(job.deathEvent);
    this.queue.cancel(job.checkpointEvent);
    job.deathEvent = job.checkpointEvent = -1;
    for (let at = 0; at < job.dueEvent.length; at++) {
      this.queue.cancel(job.dueEvent[at]);
      job.dueEvent[at] = -1;
    }
    this.flows.abandon(nowNs, index);
    job.clocks.interrupt(nowNs);
    job.computing = job.communicating = 0;
    job.leaving = false;
    job.lostHosts.clear();
  }

  /** Patience with a lost host is at its end. */
  lost(nowNs: number, index: number): void {
    this.jobs[index].deathEvent = -1;
    this.fail(nowNs, index);
  }

  /** GPUs compute slower, or at normal speed again; what is left of a computation that runs is stretched, too. */
  slowDown(nowNs: number, gpu: number, factor: number): void {
    this.slowGpus.set(gpu, factor);
    for (const [index, job] of this.jobs.entries()) {
      const rank = job.ready.job.placement.indexOf(gpu);
      if (rank < 0) continue;
      const before = job.clocks.slowdown;
      job.clocks.setSlowdown(nowNs, rank, factor);
      const stretch = job.clocks.slowdown / before;
      if (stretch === 1 || job.state !== JOB_STATE.running) continue;
      for (let at = 0; at < job.dueEvent.length; at++) {
        if (job.dueEvent[at] < 0) continue;
        this.queue.cancel(job.dueEvent[at]);
        this.scheduleEnd(index, at, nowNs + (job.dueNs[at] - nowNs) * stretch);
      }
    }
  }

  private scheduleEnd(index: number, at: number, dueNs: number): void {
    const job = this.jobs[index];
    job.dueNs[at] = dueNs;
    job.dueEvent[at] = this.queue.schedule(dueNs, EVENT.computeDone, index, at);
  }

  hostLost(nowNs: number, host: number): void {
    this.jobs.forEach((job, index) => {
      if (job.alive && job.ready.hosts.has(host)) this.loseProcesses(nowNs, index, host);
    });
    this.flows.endMoot(nowNs);
  }

  /** The processes of one job on one host are ended; the host itself lives. */
  evict(nowNs: number, index: number, host: number): void {
    const job = this.jobs[index];
    if (!job.alive || !job.ready.hosts.has(host)) return;
    this.loseProcesses(nowNs, index, host);
    this.flows.endMoot(nowNs);
  }

  private loseProcesses(nowNs: number, index: number, host: number): void {
    const job = this.jobs[index];
    job.lostHosts.add(host);
    this.supervisor.hostLost(nowNs, index);
    if (job.lostHosts.size === job.ready.hosts.size || !job.ready.talkingHosts.has(host)) {
      this.fail(nowNs, index);
    } else if (job.deathEvent < 0) {
      // Peers fail by their own timers; this is for a job whose peers are not waiting for that host.
      job.deathEvent = this.queue.schedule(nowNs + 2 * this.patienceNs, EVENT.jobLost, index);
    }
  }

  isMoot(index: number, shape: FlowShape): boolean {
    if (shape.crossesFabric) return false;
    for (const host of this.jobs[index].lostHosts) if (shape.hosts.has(host)) return true;
    return false;
  }

  private beginStep(nowNs: number, index: number): void {
    const job = this.jobs[index];
    const { operations } = job.ready;
    this.passBoundary(nowNs, index, 'step');
    job.stepStartNs = nowNs;
    const { noise } = this;
    if (noise !== undefined) {
      const { placement } = job.ready.job;
      job.clocks.beginStep(placement.length, (out) => noise.draw(index, job.steps, nowNs, placement, out));
    }
    job.left = operations.length;
    job.waitedNs = 0;
    job.accountedNs = nowNs;
    for (let at = 0; at < operations.length; at++) job.waitsFor[at] = operations[at].predecessors;
    for (let at = 0; at < operations.length; at++) {
      if (operations[at].predecessors === 0) this.begin(nowNs, index, at);
    }
  }

  private begin(nowNs: number, index: number, at: number): void {
    const job = this.jobs[index];
    const operation = job.ready.operations[at];
    job.startedNs[at] = nowNs;
    this.account(nowNs, job);
    if (operation.computeNs !== undefined) {
      job.computing++;
      const workNs = operation.computeNs * this.jitter(index, job.steps * job.waitsFor.length + at);
      this.scheduleEnd(index, at, nowNs + job.clocks.begin(nowNs, workNs));
      return;
    }
    if (operation.shapes.length === 0) {
      this.queue.schedule(nowNs, EVENT.emptyCollective, index, at);
      return;
    }
    if (operation.crossesFabric) {
      job.communicating++;
      this.passBoundary(nowNs, index, 'collective');
    }
    job.flowsLeft[at] = operation.shapes.length;
    for (const shape of operation.shapes) this.flows.start(nowNs, shape, index, at, job.classIndex);
  }

  /** A collective with nothing to send ends as it begins. */
  emptyCollective(nowNs: number, index: number, operation: number): void {
    if (this.jobs[index].state === JOB_STATE.running) this.operationDone(nowNs, index, operation);
  }

  private operationDone(nowNs: number, index: number, at: number): void {
    const job = this.jobs[index];
    const { reportedAs, successors } = job.ready.operations[at];
    job.endedNs[at] = nowNs;
    if (reportedAs !== undefined) this.report(reportedAs, index, nowNs - job.startedNs[at]);
    for (const successor of successors) {
      if (--job.waitsFor[successor] === 0) this.begin(nowNs, index, successor);
    }
    if (--job.left === 0) this.endStep(nowNs, index);
  }

  private report(collective: 'all-reduce' | 'all-to-all', index: number, tookNs: number): void {
    const { allReduce, allToAll } = this.latencies[index];
    (collective === 'all-reduce' ? allReduce : allToAll).add(tookNs);
  }

  private endStep(nowNs: number, index: number): void {
    const job = this.jobs[index];
    const durationNs = nowNs - job.stepStartNs;
    const { largest, operations } = job.ready;
    const bandwidth =
      largest < 0 ? NaN : operations[largest].bytes / (job.endedNs[largest] - job.startedNs[largest]);
    job.steps++;
    job.clocks.endStep(durationNs);
    this.listener.stepEnded({
      job: index,
      steps: job.steps,
      durationNs,
      gpuUtilisation: 1 - job.waitedNs / durationNs,
      algorithmBandwidth: bandwidth,
      busBandwidth: largest < 0 ? NaN : bandwidth * operations[largest].busFactor,
    });
    const { steps: last, checkpoint } = job.ready.job;
    if (job.steps === last) this.complete(nowNs, index);
    else if (job.leaving || (checkpoint !== undefined && job.steps % checkpoint.everySteps === 0))
      this.beginCheckpoint(nowNs, index);
    else this.beginStep(nowNs, index);
  }

  private complete(nowNs: number, index: number): void {
    const job = this.jobs[index];
    this.endProcesses(nowNs, index);
    job.state = JOB_STATE.complete;
    this.listener.jobCompleted(index, nowNs - job.startedAtNs);
    this.supervisor.isComplete(nowNs, index);
  }

  private beginCheckpoint(nowNs: number, index: number): void {
    const job = this.jobs[index];
    const { checkpointShapes, operations } = job.ready;
    const at = operations.length;
    this.passBoundary(nowNs, index, 'checkpoint');
    job.checkpointStartNs = job.startedNs[at] = nowNs;
    job.flowsLeft[at] = checkpointShapes.length;
    for (const shape of checkpointShapes) this.flows.start(nowNs, shape, index, at, job.classIndex);
    if (checkpointShapes.length > 0) return;
    const { durationNs } = job.ready.job.checkpoint ?? { durationNs: DEFAULT_CHECKPOINT_NS };
    job.checkpointEvent = this.queue.schedule(nowNs + durationNs, EVENT.checkpointDone, index);
  }

  checkpointDone(nowNs: number, index: number): void {
    const job = this.jobs[index];
    job.checkpointEvent = -1;
    job.savedSteps = job.steps;
    this.listener.checkpointWritten(index, nowNs - job.checkpointStartNs);
    if (job.leaving) {
      this.stop(nowNs, index);
      this.supervisor.hasLeft(nowNs, index);
    } else this.beginStep(nowNs, index);
  }

  private passBoundary(nowNs: number, index: number, kind: BoundaryKind): void {
    const number = ++this.jobs[index].begun[kind];
    this.onBoundary?.(index, kind, number, nowNs);
  }

  private account(nowNs: number, job: RunningJob): void {
    if (job.computing === 0 && job.communicating > 0) job.waitedNs += nowNs - job.accountedNs;
    job.accountedNs = nowNs;
  }

  private jitter(index: number, draw: number): number {
    const { computeJitter } = this.settings;
    return computeJitter === 0
      ? 1
      : Math.max(0.1, 1 + computeJitter * normalAt(this.jitterSeed, index, draw));
  }
}
