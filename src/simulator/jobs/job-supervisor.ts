/**
 * Who starts jobs again: the scheduler and the agents on the hosts, with their detection, rescheduling and loading times.
 *
 * A restart begins with an order to leave a host, or with a failure of a job that asks to be restarted. It goes through
 * noticing (the rest of the job still waits for the lost ranks), placing (new processes, on other hosts where a host is
 * down, drained or to be left) and loading, and ends with a step from the last checkpoint. A job that finds no host
 * waits until its own is back, or another is free; it does not shrink, since degrees of parallelism are compiled in.
 * Times: `restart` of the job, published ranges beside their defaults in workload/job.ts. A rendezvous in which one of
 * N pods is replaced is as in torchrun: the others go on waiting until the newcomer knocks, then all start anew.
 * Not modelled: queues of the scheduler, restarts that fail, limits on their number, jobs that shrink.
 */
import { InputError } from '../../core/problem.js';
import type { Topology } from '../../model/topology/model.js';
import { DEFAULT_RESTART, type Job, type RestartTimes } from '../../model/workload/job.js';
import { EVENT } from '../event-kind.js';
import type { EventQueue } from '../event-queue.js';
import type { ReadyJob } from './job-program.js';
import type { JobRunner, Supervisor } from './job-runner.js';
import type { Placements } from './placements.js';

/** An order to the scheduler; it stands until it is withdrawn. */
export interface MoveOrder {
  job: number;
  fromHost: number;
  /** Undefined: there is no host to go to. */
  toHost: number | undefined;
  mode: 'planned' | 'after-loss' | 'evict';
}

const IDLE = 0;
/** Waits for the job's checkpoint. */
const LEAVING = 1;
const NOTICING = 2;
const PLACING = 3;
/** No host to run on. */
const STRANDED = 4;
const LOADING = 5;

export interface SupervisorListener {
  /** The processes of a job on one host are to be ended. */
  evict(job: number, host: number): void;
  /** A job's ranks have gone from one host to another. */
  ranksMoved(fromHost: number, toHost: number): void;
  /** A job has given its GPUs back. */
  ranksGone(hosts: readonly number[]): void;
}

export class JobSupervisor implements Supervisor {
  private readonly phases: Uint8Array;
  private readonly events: Int32Array;
  /** By job: what is left of rescheduling once the loss is noticed, ns. */
  private readonly placingNs: Float64Array;
  private readonly orders: MoveOrder[] = [];

  constructor(
    private readonly topology: Topology,
    private readonly jobs: readonly Job[],
    private readonly queue: EventQueue,
    private readonly runner: JobRunner,
    private readonly placements: Placements,
    private readonly isUp: (host: number) => boolean,
    /** The job's program on its present placement, with new QPs. */
    private readonly prepare: (job: number) => ReadyJob,
    private readonly listener: SupervisorListener,
  ) {
    this.phases = new Uint8Array(jobs.length);
    this.events = new Int32Array(jobs.length).fill(-1);
    this.placingNs = new Float64Array(jobs.length);
  }

  orderOf(job: number, fromHost: number): MoveOrder | undefined {
    return this.orders.find((order) => order.job === job && order.fromHost === fromHost);
  }

  /** @throws InputError when the job has no rank there, or the host to go to can't take them; nothing is changed then */
  order(nowNs: number, order: MoveOrder): void {
    const { job, fromHost, toHost, mode } = order;
    const standing = this.orderOf(job, fromHost);
    if (standing?.mode === mode && standing.toHost === toHost) return;
    this.check(order);
    this.withdraw(nowNs, job, fromHost);
    this.orders.push(order);
    const { detectNs, rescheduleNs } = this.times(job);
    if (this.runner.isWaiting(job)) {
      if (toHost === undefined) return;
      this.move(job, fromHost, toHost);
      return this.runner.replace(job, this.prepare(job));
    }
    switch (mode) {
      case 'planned':
        if (!this.runner.isRunning(job) || this.phases[job] !== IDLE) return;
        this.phases[job] = LEAVING;
        this.runner.leave(job, true);
        return;
      case 'after-loss':
        return this.notice(nowNs, job, detectNs, rescheduleNs);
      case 'evict':
        // The newcomer is started at once; the others notice it, not the loss.
        this.notice(nowNs, job, rescheduleNs + detectNs, 0);
        return this.listener.evict(job, fromHost);
    }
  }

  /** The job stays where it is by now; one that has found no host may have its own back. */
  withdraw(nowNs: number, job: number, fromHost: number): void {
    const at = this.orders.findIndex((order) => order.job === job && order.fromHost === fromHost);
    if (at < 0) return;
    this.orders.splice(at, 1);
    if (this.phases[job] === LEAVING) {
      this.phases[job] = IDLE;
      this.runner.leave(job, false);
    }
    this.review(nowNs);
  }

  setDrained(nowNs: number, host: number, drained: boolean): void {
    this.placements.setDrained(host, drained);
    if (!drained) this.review(nowNs);
  }

  /** Hosts have come back, or are free again: jobs without one try again. */
  review(nowNs: number): void {
    for (let job = 0; job < this.jobs.length; job++) {
      if (this.phases[job] === STRANDED) this.enter(nowNs, job, PLACING, this.times(job).rescheduleNs);
    }
  }

  takesOver(nowNs: number, job: number): boolean {
    if (this.phases[job] === NOTICING) return true;
    if (this.jobs[job].restart === undefined) return false;
    // A process that ends with an error is noticed at once.
    this.enter(nowNs, job, PLACING, this.times(job).rescheduleNs);
    return true;
  }

  hostLost(nowNs: number, job: number): void {
    if (this.jobs[job].restart === undefined) return;
    const { detectNs, rescheduleNs } = this.times(job);
    this.notice(nowNs, job, detectNs, rescheduleNs);
  }

  hasLeft(nowNs: number, job: number): void {
    this.enter(nowNs, job, PLACING, this.times(job).rescheduleNs);
  }

  isComplete(nowNs: number, job: number): void {
    this.queue.cancel(this.events[job]);
    this.events[job] = -1;
    this.phases[job] = IDLE;
    const hosts = this.placements.hostsOf(job);
    this.placements.release(job);
    this.listener.ranksGone(hosts);
    this.review(nowNs);
  }

  /** The end of a phase. */
  due(nowNs: number, job: number): void {
    this.events[job] = -1;
    switch (this.phases[job]) {
      case NOTICING:
        // It may have died of it in the meantime.
        if (this.runner.isRunning(job)) this.runner.stop(nowNs, job);
        if (this.placingNs[job] > 0) return this.enter(nowNs, job, PLACING, this.placingNs[job]);
        return this.place(nowNs, job);
      case PLACING:
        return this.place(nowNs, job);
      case LOADING:
        if (!this.placements.hostsOf(job).every((host) => this.isUp(host))) return this.place(nowNs, job);
        this.phases[job] = IDLE;
        return this.runner.resume(nowNs, job, this.prepare(job));
    }
  }

  private times(job: number): RestartTimes {
    return this.jobs[job].restart ?? DEFAULT_RESTART;
  }

  private notice(nowNs: number, job: number, afterNs: number, thenNs: number): void {
    if (this.phases[job] > LEAVING || this.runner.isComplete(job)) return;
    this.placingNs[job] = thenNs;
    this.enter(nowNs, job, NOTICING, afterNs);
  }

  private enter(nowNs: number, job: number, phase: number, lastsNs: number): void {
    this.queue.cancel(this.events[job]);
    this.phases[job] = phase;
    this.events[job] = this.queue.schedule(nowNs + lastsNs, EVENT.jobRestart, job);
  }

  /** Finds a host for all ranks, or lets the job wait. */
  private place(nowNs: number, job: number): void {
    for (const host of this.placements.hostsOf(job)) {
      if (!this.mustLeave(job, host)) continue;
      const toHost = this.nextHost(job, host);
      if (toHost === undefined) {
        this.phases[job] = STRANDED;
        return;
      }
      this.move(job, host, toHost);
    }
    this.enter(nowNs, job, LOADING, this.times(job).loadNs);
  }

  private move(job: number, fromHost: number, toHost: number): void {
    this.placements.move(job, fromHost, toHost);
    this.listener.ranksMoved(fromHost, toHost);
  }

  private mustLeave(job: number, host: number): boolean {
    return this.orderOf(job, host) !== undefined || !this.isUp(host) || this.placements.isDrained(host);
  }

  private nextHost(job: number, host: number): number | undefined {
    const order = this.orderOf(job, host);
    if (order !== undefined && order.toHost === undefined) return undefined;
    const wanted = order?.toHost;
    if (wanted !== undefined && this.placements.whyNot(job, host, wanted) === undefined) return wanted;
    // Who ordered one host, or asked for restarts, is glad of another when that one is gone.
    const mayChoose = order !== undefined || this.jobs[job].restart !== undefined;
    return mayChoose ? this.placements.spareFor(job, host) : undefined;
  }

  private check({ job, fromHost, toHost }: MoveOrder): void {
    const { name } = this.jobs[job];
    const { devices } = this.topology;
    if (!this.placements.hostsOf(job).includes(fromHost)) {
      const hosts = this.placements.hostsOf(job).map((host) => devices[host].name);
      throw InputError.at(
        '/fromHost',
        `job "${name}" has no rank on ${devices[fromHost].name}`,
        `its hosts are ${hosts.join(', ')}`,
      );
    }
    const why = toHost === undefined ? undefined : this.placements.whyNot(job, fromHost, toHost);
    if (why !== undefined) throw InputError.at('/toHost', `job "${name}" can't move there: ${why}`);
  }
}
