/**
 * Training jobs in motion: step after step through the operation graph, and what a training log says about each.
 *
 * An operation starts when all it depends on are done; a computation is done when its slowest rank is. A step ends when
 * every operation has; the next begins at once.
 * GPU utilisation is the share of the step in which some computation ran or nothing waited on the fabric. A job dies
 * when one of its QPs gives up. A host that goes down takes its ranks' processes with it: what they did among
 * themselves ends, their peers' QPs never hear from them again and give up in the end; a job without such peers dies
 * at once.
 * Not modelled: restart from a checkpoint, rank-level overlap.
 */
import type { FabricSettings } from '../settings.js';
import { hashText } from '../../kernel/prng.js';
import { EVENT } from './event-kind.js';
import type { EventQueue } from './event-queue.js';
import type { FlowEngine } from './flow-engine.js';
import type { FlowShape } from './flow-shape.js';
import type { ReadyJob } from './job-program.js';
import { normalAt } from './noise.js';
import type { RankClocks } from './rank-clocks.js';

/** What the training log says when a step ends. */
export interface StepReport {
  job: number;
  steps: number;
  durationNs: number;
  gpuUtilisation: number;
  /** Of the largest fabric collective, bytes/ns (= GB/s); NaN when the job has none. */
  algorithmBandwidth: number;
  busBandwidth: number;
}

export interface JobListener {
  jobStarted(job: number): void;
  stepEnded(report: StepReport): void;
  jobFailed(job: number): void;
}

/** Starts that something else may be aligned with: of a step, a collective over the fabric, a checkpoint. */
export type BoundaryKind = 'step' | 'collective' | 'checkpoint';

/** @param number counts the boundaries of that kind in the job's life, from 1; redone ones count again */
export type BoundaryListener = (job: number, kind: BoundaryKind, number: number, nowNs: number) => void;

const WAITING = 0;
const RUNNING = 1;
const FAILED = 2;

class RunningJob {
  state = WAITING;
  steps = 0;
  stepStartNs = 0;
  /** Operations of the step that are not done. */
  left = 0;
  /** By operation: what it still waits for; flows still under way; when it started and ended. */
  readonly waitsFor: Int32Array;
  readonly flowsLeft: Int32Array;
  readonly startedNs: Float64Array;
  readonly endedNs: Float64Array;
  /** By operation: the end of a computation that runs, and its event; -1 when none runs. */
  readonly dueNs: Float64Array;
  readonly dueEvent: Int32Array;
  computing = 0;
  communicating = 0;
  /** Time of this step in which GPUs waited for the fabric, up to `accountedNs`. */
  waitedNs = 0;
  accountedNs = 0;
  readonly lostHosts = new Set<number>();
  /** A death already due. */
  deathEvent = -1;
  /** Boundaries passed so far. */
  readonly begun: Record<BoundaryKind, number> = { step: 0, collective: 0, checkpoint: 0 };

  constructor(
    readonly ready: ReadyJob,
    readonly classIndex: number,
    readonly clocks: RankClocks,
  ) {
    const count = ready.operations.length;
    this.waitsFor = new Int32Array(count);
    this.flowsLeft = new Int32Array(count);
    this.startedNs = new Float64Array(count);
    this.endedNs = new Float64Array(count);
    this.dueNs = new Float64Array(count);
    this.dueEvent = new Int32Array(count).fill(-1);
  }
}

export class JobRunner {
  private readonly jobs: RunningJob[];
  private readonly jitterSeed: number;
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
    seed: number,
  ) {
    this.jobs = ready.map((one, index) => new RunningJob(one, classOf(one.job.priority), clocks[index]));
    this.jitterSeed = hashText('compute-jitter', seed >>> 0);
  }

  /** Lets all jobs begin at their own start times, those in the past now. */
  launch(nowNs: number): void {
    this.jobs.forEach((job, index) => {
      if (job.state === WAITING) {
        this.queue.schedule(Math.max(nowNs, job.ready.job.startNs), EVENT.jobStart, index);
      }
    });
  }

  start(nowNs: number, index: number): void {
    const job = this.jobs[index];
    if (job.state !== WAITING) return;
    job.state = RUNNING;
    this.listener.jobStarted(index);
    this.beginStep(nowNs, index);
  }

  computeDone(nowNs: number, index: number, operation: number): void {
    const job = this.jobs[index];
    job.dueEvent[operation] = -1;
    if (job.state !== RUNNING) return;
    this.account(nowNs, job);
    job.computing--;
    this.operationDone(nowNs, index, operation);
  }

  flowDone(nowNs: number, index: number, operation: number): void {
    const job = this.jobs[index];
    if (--job.flowsLeft[operation] > 0) return;
    this.account(nowNs, job);
    if (job.ready.operations[operation].crossesFabric) job.communicating--;
    this.operationDone(nowNs, index, operation);
  }

  /** A job that will not come back: a QP gave up, or its hosts are gone. */
  fail(nowNs: number, index: number): void {
    const job = this.jobs[index];
    if (job.state === FAILED) return;
    job.state = FAILED;
    this.queue.cancel(job.deathEvent);
    job.deathEvent = -1;
    this.flows.abandon(nowNs, index);
    this.listener.jobFailed(index);
  }

  /** Patience with a lost host is at its end. */
  lost(nowNs: number, index: number): void {
    this.jobs[index].deathEvent = -1;
    this.fail(nowNs, index);
  }

  /** GPUs compute slower, or at normal speed again; what is left of a computation that runs is stretched, too. */
  slowDown(nowNs: number, gpu: number, factor: number): void {
    for (const [index, job] of this.jobs.entries()) {
      const rank = job.ready.job.placement.indexOf(gpu);
      if (rank < 0) continue;
      const before = job.clocks.slowdown;
      job.clocks.setSlowdown(nowNs, rank, factor);
      const stretch = job.clocks.slowdown / before;
      if (stretch === 1 || job.state !== RUNNING) continue;
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
      if (job.state === FAILED || !job.ready.hosts.has(host)) return;
      job.lostHosts.add(host);
      if (job.lostHosts.size === job.ready.hosts.size || !job.ready.talkingHosts.has(host)) {
        this.fail(nowNs, index);
      } else if (job.deathEvent < 0) {
        // Peers fail by their own timers; this is for a job whose peers are not waiting for that host.
        job.deathEvent = this.queue.schedule(nowNs + 2 * this.patienceNs, EVENT.jobLost, index);
      }
    });
    this.flows.endMoot(nowNs);
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
    if (this.jobs[index].state === RUNNING) this.operationDone(nowNs, index, operation);
  }

  private operationDone(nowNs: number, index: number, at: number): void {
    const job = this.jobs[index];
    job.endedNs[at] = nowNs;
    for (const successor of job.ready.operations[at].successors) {
      if (--job.waitsFor[successor] === 0) this.begin(nowNs, index, successor);
    }
    if (--job.left === 0) this.endStep(nowNs, index);
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
    this.beginStep(nowNs, index);
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
