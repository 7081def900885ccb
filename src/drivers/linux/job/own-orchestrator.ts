/**
 * The lab's own scheduler: drains hosts and moves ranks by itself, without a queue.
 *
 * What it was told is in a file, so that another process can lift it. An undo timer takes the file away: it fires when the
 * drill is dead, and the workers, which hear the end of whoever started them, with it.
 */
import { join } from 'node:path';
import { jobId } from '../../../core/elements.js';
import { InputError } from '../../../core/problem.js';
import type { Job } from '../../../model/workload/job.js';
import { movedPlacement, spareHosts, whyNoSpare, type GpuUse } from '../../../model/workload/spares.js';
import type { Step } from '../undo/shell.js';
import type { JobLab } from './job-lab.js';
import type { Allocation, MoveOrder, Orchestrator, ScheduledJobs, SchedulerUndo } from './orchestrator.js';
import { killLeftovers } from './worker-process.js';
import type { SchedulerFile, StandingOrder } from './scheduler-state.js';

const RETRY_MS = 1000;

export class OwnOrchestrator implements Orchestrator {
  constructor(
    private readonly lab: JobLab,
    private readonly jobs: readonly Job[],
    private readonly file: SchedulerFile,
    private readonly running: ScheduledJobs,
  ) {}

  async begin(): Promise<void> {
    killLeftovers(this.file.read().processes);
    this.file.change(() => ({ drained: [], orders: [], processes: [] }));
  }

  async end(): Promise<void> {
    // what stands is lifted by whoever ordered it
  }

  allocationOf(job: number): Allocation {
    const nothing = (): Promise<void> => Promise.resolve();
    return {
      acquire: nothing,
      replace: (placement) => this.replace(job, placement),
      retryMs: RETRY_MS,
      placeOf: (host) => this.lab.placeOf(host),
      renew: () => undefined,
      release: nothing,
    };
  }

  isDrained(host: number): boolean {
    return this.file.read().drained.includes(this.nameOf(host));
  }

  async readDrained(host: number): Promise<boolean> {
    return this.isDrained(host);
  }

  async setDrained(host: number, drained: boolean): Promise<void> {
    const name = this.nameOf(host);
    this.file.change((state) => {
      const others = state.drained.filter((one) => one !== name);
      return { drained: drained ? [...others, name] : others };
    });
    this.running.hostsChanged();
    if (!drained) this.running.review();
  }

  undoOfDrain(host: number): SchedulerUndo {
    return this.forget(host);
  }

  async readOrder({ job, fromHost }: MoveOrder): Promise<MoveOrder | undefined> {
    return this.standing(job, fromHost);
  }

  async orderMove(order: MoveOrder): Promise<void> {
    const { job, fromHost, toHost, mode } = order;
    checkMove(order, this.jobs, { ...this.running.use(job), closed: this.closed() });
    const mine = this.isOrder(job, fromHost);
    const standing: StandingOrder = {
      job: this.jobs[job].name,
      fromHost: this.nameOf(fromHost),
      mode,
      ...(toHost === undefined ? {} : { toHost: this.nameOf(toHost) }),
    };
    this.file.change((state) => ({ orders: [...state.orders.filter((one) => !mine(one)), standing] }));
    if (this.running.isWaiting(job)) this.running.review();
    else if (mode !== 'planned') await this.running.evict(job, fromHost);
    // The order is given; the job carries it out at the end of a step, and tells so.
    else this.running.leave(job);
  }

  async withdrawMove(job: number, fromHost: number): Promise<void> {
    const mine = this.isOrder(job, fromHost);
    this.file.change((state) => ({ orders: state.orders.filter((one) => !mine(one)) }));
    this.running.review();
  }

  undoOfMove(_job: number, fromHost: number): SchedulerUndo {
    return this.forget(fromHost);
  }

  hasOrder(job: number): boolean {
    return this.file.read().orders.some((order) => order.job === this.jobs[job].name);
  }

  /** Takes ranks off hosts that are to be left or have no link. */
  private async replace(job: number, placement: Int32Array): Promise<Int32Array | null> {
    const { topology } = this.lab;
    let next = placement;
    for (const host of new Set(Array.from(placement, (gpu) => topology.gpus[gpu].host))) {
      const way = await this.wayOut(job, host, next);
      if (way === null) return null;
      if (way !== undefined) next = movedPlacement(next, topology, host, way);
    }
    return next;
  }

  /** Where the ranks of this host are to go: another host, nowhere yet (null), or they stay (undefined). */
  private async wayOut(job: number, host: number, placement: Int32Array): Promise<number | null | undefined> {
    const use: GpuUse = { ...this.running.use(job, placement), closed: this.closed() };
    const order = this.standing(job, host);
    if (order !== undefined) {
      const { toHost } = order;
      if (toHost === undefined) return null;
      if (whyNoSpare(use, job, host, toHost) === undefined) return toHost;
    } else if (!this.isDrained(host) && (await this.lab.hasLink(host))) return undefined;
    for (const spare of spareHosts(use, job, host)) {
      if (await this.lab.hasLink(spare)) return spare;
    }
    return null;
  }

  private standing(job: number, fromHost: number): MoveOrder | undefined {
    const found = this.file.read().orders.find(this.isOrder(job, fromHost));
    if (found === undefined) return undefined;
    const { mode, toHost } = found;
    return { job, fromHost, mode, ...(toHost === undefined ? {} : { toHost: this.hostOf(toHost) }) };
  }

  private isOrder(job: number, fromHost: number): (order: StandingOrder) => boolean {
    const [name, host] = [this.jobs[job].name, this.nameOf(fromHost)];
    return (order) => order.job === name && order.fromHost === host;
  }

  private closed(): ReadonlySet<number> {
    return new Set(this.file.read().drained.map((name) => this.hostOf(name)));
  }

  private forget(host: number): SchedulerUndo {
    const steps: Step[] = [{ command: ['rm', '-f', join(this.lab.jobsFolder, 'scheduler.json')] }];
    return { node: this.lab.spotOf(host), steps, byHand: steps };
  }

  private nameOf(host: number): string {
    return this.lab.topology.devices[host].name;
  }

  private hostOf(name: string): number {
    return this.lab.topology.devices.findIndex((device) => device.name === name);
  }
}

/** @throws InputError when the job has no rank there, or the host to go to can't take them */
export function checkMove({ job, fromHost, toHost }: MoveOrder, jobs: readonly Job[], use: GpuUse): void {
  const { topology, placements } = use;
  if (jobs.at(job) === undefined) throw InputError.at('/job', 'the lab runs no such job');
  if (!placements[job].some((gpu) => topology.gpus[gpu].host === fromHost)) {
    const message = `${jobId(jobs[job].name)} has no rank on ${topology.devices[fromHost].name}`;
    throw InputError.at('/fromHost', message);
  }
  if (toHost === undefined) return;
  const why = whyNoSpare(use, job, fromHost, toHost);
  if (why !== undefined) throw InputError.at('/toHost', why);
}
