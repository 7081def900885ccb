/**
 * One job on a lab, through all its lives: start, steps, checkpoints, failure, restart elsewhere, end.
 *
 * Who starts it again is this supervisor, standing in for a scheduler: it acts as soon as a worker says that it lost a
 * neighbour. A restart takes the ranks off hosts that are to be left or have no link, loads the last checkpoint that all
 * ranks have, and goes on from there. Times are those that really pass. Not modelled: queues, several restarts at once.
 */
import { mkdir, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Job } from '../../../model/workload/job.js';
import type { Topology } from '../../../model/topology/model.js';
import { lastCommonCheckpoint } from './checkpoint-file.js';
import { Crew, type Hire } from './crew.js';
import type { Connection } from './connections.js';
import type { JobListener } from './job-events.js';
import { monotonicNs } from './monotonic.js';
import type { Allocation } from './orchestrator.js';
import type { EdgeCounters, WorkerConfiguration, WorkerReport } from './protocol.js';
import { operationsOf, ringEdges } from './runnable.js';
import { StepBook } from './step-book.js';

export type JobState = 'idle' | 'running' | 'failed' | 'stopped' | 'complete';

/** What a job needs from where it runs. */
export interface JobSite {
  topology: Topology;
  /** Where its checkpoints lie. */
  folder: string;
  addressOf(host: number): string;
  connect(placement: Int32Array, generation: number): Promise<Connection[]>;
  listeningPort(rank: number, generation: number): number;
  hire(host: number, configuration: WorkerConfiguration, events: Parameters<Hire>[1]): ReturnType<Hire>;
  /** The hosts that the scheduler gives it. */
  allocation: Allocation;
  pulseNs: number;
  giveUpNs: number;
  leaseNs: number;
  slowDownOf(host: number): number;
  /** Whether the scheduler has an order for this job, so that it starts it again even if it would not by itself. */
  hasOrder(): boolean;
}

/** A stop is ordered so many steps ahead, so that no rank has passed it when the order arrives. */
const STEPS_AHEAD = 2;
const LAST_STEP_MS = 60_000;

export class LabJob {
  state: JobState = 'idle';
  placement: Int32Array;
  connections: Connection[] = [];
  private crew: Crew | undefined;
  private generation = 0;
  private lastStep = 0;
  private startedNs = 0;
  private closed = false;
  private leaving = false;
  private restarting: Promise<void> | undefined;
  private readonly book: StepBook;
  /** By connection: what earlier lives counted. */
  private readonly carried = new Map<string, EdgeCounters>();
  private readonly newest = new Map<string, EdgeCounters>();
  private readonly done = new Set<number>();
  private readonly checkpoints = new Map<number, { ranks: number; atNs: number; tookNs: number }>();

  constructor(
    readonly job: Job,
    private readonly index: number,
    private readonly site: JobSite,
    private readonly listener: JobListener,
  ) {
    this.placement = Int32Array.from(job.placement);
    this.book = new StepBook(job);
  }

  /** Resolves when the ring is connected. */
  async start(): Promise<void> {
    await rm(this.site.folder, { recursive: true, force: true });
    await mkdir(this.site.folder, { recursive: true });
    await this.site.allocation.acquire();
    await this.launch(0);
    this.startedNs = monotonicNs();
    this.state = 'running';
    this.listener.started(this.index, this.startedNs);
  }

  renew(): void {
    this.site.allocation.renew();
    this.crew?.order({ order: 'renew' });
  }

  /** Identities of its processes. */
  processes(): string[] {
    return (this.crew?.workers ?? []).flatMap(({ identity }) => identity ?? []);
  }

  hosts(): Set<number> {
    return new Set(Array.from(this.placement, (gpu) => this.site.topology.gpus[gpu].host));
  }

  applySlowDowns(): void {
    this.crew?.workers.forEach((worker, rank) => {
      worker.order({ order: 'slow-down', factor: this.site.slowDownOf(this.hostOf(rank)) });
    });
  }

  /** Ends the processes of a host at once. */
  async evict(host: number): Promise<void> {
    const lost = (this.crew?.workers ?? []).filter((_, rank) => this.hostOf(rank) === host);
    await Promise.all(lost.map((worker) => worker.kill()));
  }

  /** Ends its step, writes a checkpoint, stops, and goes on from it where it may. */
  async leave(): Promise<void> {
    const { crew } = this;
    if (crew === undefined || this.state !== 'running' || this.leaving) return;
    this.leaving = true;
    const stopped = crew.untilAll('stopped', LAST_STEP_MS);
    crew.order({ order: 'stop-after', step: this.lastStep + STEPS_AHEAD });
    try {
      await stopped;
    } catch {
      // The crew failed on the way, and with it the job: that restarts it from its last checkpoint.
      return;
    } finally {
      this.leaving = false;
    }
    if (this.state === 'running' && !this.closed) this.restart(monotonicNs());
  }

  /** A host may be free again, or an order has gone: a job that waits tries at once. */
  review(): void {
    this.wake();
  }

  async close(): Promise<void> {
    this.closed = true;
    this.wake();
    await this.crew?.dismiss();
    await this.restarting;
    await this.crew?.dismiss();
    await this.site.allocation.release();
  }

  private wake: () => void = () => undefined;

  private hostOf(rank: number): number {
    return this.site.topology.gpus[this.placement[rank]].host;
  }

  private async launch(fromStep: number): Promise<void> {
    this.generation++;
    this.book.clear();
    this.checkpoints.clear();
    this.done.clear();
    this.connections = await this.site.connect(this.placement, this.generation);
    for (const [key, counters] of this.newest) this.carried.set(key, counters);
    const crew = new Crew(
      this.placement.length,
      (rank, events) => this.site.hire(this.hostOf(rank), this.configurationOf(rank, fromStep), events),
      {
        report: (report) => this.take(report),
        failed: (atNs, reason) => this.fail(crew, atNs, reason),
      },
      monotonicNs,
    );
    this.crew = crew;
    await crew.connect();
    this.lastStep = fromStep;
    this.applySlowDowns();
  }

  private configurationOf(rank: number, fromStep: number): WorkerConfiguration {
    const { job, site, generation } = this;
    const edges = ringEdges(job);
    return {
      job: job.name,
      rank,
      generation,
      address: site.addressOf(this.hostOf(rank)),
      port: site.listeningPort(rank, generation),
      sends: this.connections
        .filter((one) => one.fromRank === rank)
        .map(({ toRank, toHost, sourcePort, destinationPort }) => ({
          toRank,
          address: site.addressOf(toHost),
          port: destinationPort,
          sourcePort,
        })),
      receivesFrom: edges.filter((one) => one.toRank === rank).map(({ fromRank }) => fromRank),
      operations: operationsOf(job, rank),
      fromStep,
      steps: job.steps ?? null,
      checkpoint:
        job.checkpoint === undefined
          ? null
          : { everySteps: job.checkpoint.everySteps, leastNs: job.checkpoint.durationNs },
      folder: site.folder,
      giveUpNs: site.giveUpNs,
      pulseNs: site.pulseNs,
      leaseNs: site.leaseNs,
    };
  }

  private take(report: WorkerReport): void {
    if (report.report === 'pulse') this.count(report.rank, report.atNs, report.edges);
    else if (report.report === 'step') {
      const summary = this.book.add(report);
      if (summary === undefined) return;
      this.lastStep = summary.step;
      this.listener.stepEnded(this.index, summary);
    } else if (report.report === 'checkpoint') this.noteCheckpoint(report.step, report.atNs, report.tookNs);
    else if (report.report === 'complete') {
      this.done.add(report.rank);
      if (this.done.size === this.placement.length) this.complete(report.atNs);
    } else if (report.report === 'told-to-end') void this.leave();
  }

  private count(fromRank: number, atNs: number, edges: readonly EdgeCounters[]): void {
    for (const { toRank, deliveredBytes, stalledNs } of edges) {
      const key = `${fromRank}-${toRank}`;
      const before = this.carried.get(key);
      const counters = {
        toRank,
        deliveredBytes: deliveredBytes + (before?.deliveredBytes ?? 0),
        stalledNs: stalledNs + (before?.stalledNs ?? 0),
      };
      this.newest.set(key, counters);
      this.listener.edgeCounted(this.index, { fromRank, atNs, ...counters });
    }
  }

  private noteCheckpoint(step: number, atNs: number, tookNs: number): void {
    const one = this.checkpoints.get(step) ?? { ranks: 0, atNs: 0, tookNs: 0 };
    one.ranks++;
    one.atNs = Math.max(one.atNs, atNs);
    one.tookNs = Math.max(one.tookNs, tookNs);
    this.checkpoints.set(step, one);
    if (one.ranks < this.placement.length) return;
    this.checkpoints.delete(step);
    this.listener.checkpointWritten(this.index, one.atNs, one.tookNs);
  }

  private complete(atNs: number): void {
    if (this.state !== 'running') return;
    this.state = 'complete';
    this.listener.completed(this.index, atNs, atNs - this.startedNs);
    void this.crew?.dismiss();
  }

  private fail(crew: Crew, atNs: number, reason: string): void {
    // Of a crew that is being started its starter hears.
    if (this.closed || crew !== this.crew || this.state !== 'running') return;
    this.state = 'failed';
    this.listener.failed(this.index, atNs, reason);
    if (this.job.restart === undefined && !this.site.hasOrder()) {
      void crew.dismiss();
      return;
    }
    this.restart(monotonicNs());
  }

  private restart(atNs: number): void {
    this.state = 'stopped';
    this.listener.stopped(this.index, atNs);
    this.restarting = this.untilRunning();
  }

  private async untilRunning(): Promise<void> {
    const before = this.lastStep;
    await this.crew?.dismiss();
    while (!this.closed) {
      if (await this.place()) {
        const fromStep = await lastCommonCheckpoint(this.site.folder, this.placement.length);
        try {
          await this.launch(fromStep);
          if (this.closed) return;
          this.state = 'running';
          this.listener.resumed(this.index, monotonicNs(), fromStep, Math.max(0, before - fromStep));
          return;
        } catch {
          // It did not come up: hosts or routes are not there yet. The next try looks anew.
          await this.crew?.dismiss();
        }
      }
      await this.pause();
    }
  }

  /** @returns false while there is no host for some of its ranks */
  private async place(): Promise<boolean> {
    const next = await this.site.allocation.replace(this.placement);
    if (next === null) return false;
    if (next.every((gpu, rank) => gpu === this.placement[rank])) return true;
    this.placement = next;
    this.listener.hostsChanged(monotonicNs());
    return true;
  }

  private pause(): Promise<void> {
    return Promise.race([
      sleep(this.site.allocation.retryMs, undefined, { ref: false }),
      new Promise<void>((resolve) => {
        this.wake = resolve;
      }),
    ]);
  }
}
