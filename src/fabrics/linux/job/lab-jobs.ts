/**
 * All jobs of a lab, and the scheduler above them: starts them, keeps their leases, drains hosts, moves ranks.
 *
 * Workers are processes in the namespaces of their hosts. They end when this process stops them, or by themselves when
 * nobody renews their lease, so that a killed run leaves none behind. A later process finds the rest by its record.
 * Not modelled: GPUs other than as places; ranks that share a host.
 */
import { join } from 'node:path';
import type { Job } from '../../../workload/job.js';
import { spareHosts, whyNoSpare, type GpuUse } from '../../../workload/spares.js';
import { InputError } from '../../../kernel/problem.js';
import { jobId } from '../../../kernel/elements.js';
import type { Topology } from '../../../topology/model.js';
import type { Place } from '../transport/place.js';
import { listeningPort, spreadConnections, type Connection, type TracePaths } from './connections.js';
import type { JobListener } from './job-events.js';
import { LabJob, type JobSite } from './lab-job.js';
import { monotonicNs } from './monotonic.js';
import { requireRunnable } from './runnable.js';
import { SchedulerFile, type StandingOrder } from './scheduler-state.js';
import { killLeftovers, workerProgram, WorkerProcess } from './worker-process.js';

const RENEW_MS = 2000;
const LEASE_NS = 10e9;
const PULSES_PER_POLL = 2;
/** Of the InfiniBand local ACK timeout. */
const ACK_TIMEOUT_UNIT_NS = 4096;

/** An order by index, as the contract's `job-move` means it. */
export interface MoveOrder {
  job: number;
  fromHost: number;
  toHost?: number;
  mode: StandingOrder['mode'];
}

/** What jobs need of a lab. */
export interface JobLab {
  topology: Topology;
  /** For run files of jobs. */
  jobsFolder: string;
  placeOf(host: number): Place;
  addressOf(host: number): string;
  trace: TracePaths;
  /** Whether the host's NIC has a link. */
  hasLink(host: number): Promise<boolean>;
}

export interface LabJobsOptions {
  lab: JobLab;
  jobs: readonly Job[];
  settings: { ackTimeoutExponent: number; retries: number };
  /** Between two polls of counters of edges. */
  jobIntervalNs: number;
  program?: string;
}

/** The connections that jobs will have when they are started; the same for every process that asks. */
export const planConnections = (lab: JobLab, jobs: readonly Job[]): Promise<Connection[]> =>
  spreadConnections(
    lab.topology,
    jobs.map((job, index) => ({ job, index, placement: job.placement, generation: 1 })),
    lab.trace,
  );

export class LabJobs {
  private readonly jobs: readonly LabJob[];
  private readonly file: SchedulerFile;
  private readonly listeners: JobListener[] = [];
  private readonly slowDowns = new Map<number, number>();
  private readonly program: string;
  private renewal: NodeJS.Timeout | undefined;
  private planned: Connection[] = [];

  /** @throws InputError for jobs that no lab can run */
  constructor(private readonly options: LabJobsOptions) {
    const { lab, jobs } = options;
    requireRunnable(jobs, lab.topology);
    this.program = options.program ?? workerProgram();
    this.file = new SchedulerFile(join(lab.jobsFolder, 'scheduler.json'));
    this.jobs = jobs.map((job, index) => new LabJob(job, index, this.siteOf(job, index), this.announcer()));
  }

  listen(listener: JobListener): void {
    this.listeners.push(listener);
  }

  /** Resolves when the rings of all jobs are connected. @throws Error when they do not come up; none is left then */
  async start(): Promise<void> {
    killLeftovers(this.file.read().processes);
    this.file.change(() => ({ drained: [], orders: [], processes: [] }));
    this.planned = await planConnections(this.options.lab, this.options.jobs);
    this.renewal = setInterval(() => this.renew(), RENEW_MS);
    try {
      await Promise.all(this.jobs.map((job) => job.start()));
    } catch (error) {
      await this.stop();
      throw error;
    }
    this.noteProcesses();
  }

  async stop(): Promise<void> {
    clearInterval(this.renewal);
    await Promise.all(this.jobs.map((job) => job.close()));
    this.file.change(() => ({ processes: [] }));
  }

  connections(): Connection[] {
    return this.jobs.flatMap((job) => job.connections);
  }

  /** @param job position in the list of jobs */
  placementOf(job: number): Int32Array {
    return this.jobs[job].placement;
  }

  /** Whether the scheduler still holds the job's GPUs. */
  holdsGpus(job: number): boolean {
    return this.jobs[job].state !== 'complete';
  }

  isDrained(host: number): boolean {
    return this.file.read().drained.includes(this.nameOf(host));
  }

  async setDrained(host: number, drained: boolean): Promise<void> {
    const name = this.nameOf(host);
    this.file.change((state) => {
      const others = state.drained.filter((one) => one !== name);
      return { drained: drained ? [...others, name] : others };
    });
    this.announce((listener) => listener.hostsChanged(monotonicNs()));
    if (!drained) this.review();
  }

  moveOrder(job: number, fromHost: number): MoveOrder | undefined {
    const standing = this.standingOrder(job, fromHost);
    if (standing === undefined) return undefined;
    const { mode, toHost } = standing;
    return { job, fromHost, mode, ...(toHost === undefined ? {} : { toHost: this.hostOf(toHost) }) };
  }

  /** @throws InputError when the job has no rank there, or the host to go to can't take them; nothing is changed then */
  async orderMove(order: MoveOrder): Promise<void> {
    const { job, fromHost, toHost, mode } = order;
    this.checkMove(order);
    const mine = this.isOrder(job, fromHost);
    const standing: StandingOrder = {
      job: this.jobs[job].job.name,
      fromHost: this.nameOf(fromHost),
      mode,
      ...(toHost === undefined ? {} : { toHost: this.nameOf(toHost) }),
    };
    this.file.change((state) => ({ orders: [...state.orders.filter((one) => !mine(one)), standing] }));
    const moved = this.jobs[job];
    if (moved.state === 'stopped') return moved.review();
    if (mode !== 'planned') return moved.evict(fromHost);
    // The order is given; the job carries it out at the end of a step, and tells so.
    void moved.leave();
  }

  /** The job stays where it is by now; one that has found no host may have its own back. */
  async withdrawMove(job: number, fromHost: number): Promise<void> {
    const mine = this.isOrder(job, fromHost);
    this.file.change((state) => ({ orders: state.orders.filter((one) => !mine(one)) }));
    this.review();
  }

  /** Computations on a host take so many times longer than normal; 1: as normal. */
  async slowDown(host: number, factor: number): Promise<void> {
    this.slowDowns.set(host, factor);
    for (const job of this.jobs) job.applySlowDowns();
  }

  slowDownOf(host: number): number {
    return this.slowDowns.get(host) ?? 1;
  }

  private siteOf(job: Job, index: number): JobSite {
    const { lab, settings, jobIntervalNs } = this.options;
    return {
      topology: lab.topology,
      folder: join(lab.jobsFolder, job.name),
      addressOf: (host) => lab.addressOf(host),
      connect: (placement, generation) => this.connect(job, index, placement, generation),
      listeningPort: (rank, generation) => listeningPort(index, rank, generation),
      hire: (host, configuration, events) => {
        const worker = new WorkerProcess(lab.placeOf(host), this.program, configuration, events);
        this.noteProcesses(worker.identity);
        return worker;
      },
      wayOut: (host, placement) => this.wayOut(index, host, placement),
      pulseNs: jobIntervalNs / PULSES_PER_POLL,
      // A QP would give up after so long, as the fabric file says, and so does this transport.
      giveUpNs: ACK_TIMEOUT_UNIT_NS * 2 ** settings.ackTimeoutExponent * settings.retries,
      leaseNs: LEASE_NS,
      slowDownOf: (host) => this.slowDownOf(host),
      hasOrder: () => this.file.read().orders.some((order) => order.job === job.name),
    };
  }

  /** The first life's connections are those that were planned for all jobs together. */
  private async connect(
    job: Job,
    index: number,
    placement: Int32Array,
    generation: number,
  ): Promise<Connection[]> {
    const own = this.planned.filter((one) => one.job === job.name);
    if (generation === 1) return own;
    const others = this.connections().filter((one) => one.job !== job.name);
    const { topology, trace } = this.options.lab;
    return spreadConnections(topology, [{ job, index, placement, generation }], trace, others);
  }

  private async wayOut(job: number, host: number, placement: Int32Array): Promise<number | null | undefined> {
    const use = this.gpuUse(job, placement);
    const order = this.moveOrder(job, host);
    if (order !== undefined) {
      const { toHost } = order;
      if (toHost === undefined) return null;
      if (whyNoSpare(use, job, host, toHost) === undefined) return toHost;
    } else if (!this.isDrained(host) && (await this.options.lab.hasLink(host))) return undefined;
    for (const spare of spareHosts(use, job, host)) {
      if (await this.options.lab.hasLink(spare)) return spare;
    }
    return null;
  }

  private gpuUse(job: number, placement: Int32Array): GpuUse {
    const { topology } = this.options.lab;
    const placements = this.jobs.map((one, index) => (index === job ? placement : one.placement));
    const drained = this.file.read().drained.map((name) => this.hostOf(name));
    return { topology, placements, closed: new Set(drained) };
  }

  private checkMove({ job, fromHost, toHost }: MoveOrder): void {
    const moved = this.jobs.at(job);
    if (moved === undefined) throw InputError.at('/job', 'the lab runs no such job');
    const name = this.nameOf(fromHost);
    if (!moved.hosts().has(fromHost)) {
      throw InputError.at('/fromHost', `${jobId(moved.job.name)} has no rank on ${name}`);
    }
    if (toHost === undefined) return;
    const why = whyNoSpare(this.gpuUse(job, moved.placement), job, fromHost, toHost);
    if (why !== undefined) throw InputError.at('/toHost', why);
  }

  private standingOrder(job: number, fromHost: number): StandingOrder | undefined {
    return this.file.read().orders.find(this.isOrder(job, fromHost));
  }

  private isOrder(job: number, fromHost: number): (order: StandingOrder) => boolean {
    const [name, host] = [this.jobs[job].job.name, this.nameOf(fromHost)];
    return (order) => order.job === name && order.fromHost === host;
  }

  private nameOf(host: number): string {
    return this.options.lab.topology.devices[host].name;
  }

  private hostOf(name: string): number {
    return this.options.lab.topology.devices.findIndex((device) => device.name === name);
  }

  private renew(): void {
    for (const job of this.jobs) job.renew();
  }

  private review(): void {
    for (const job of this.jobs) job.review();
  }

  private noteProcesses(newcomer?: string): void {
    const processes = this.jobs.flatMap((job) => job.processes());
    if (newcomer !== undefined) processes.push(newcomer);
    this.file.change((state) => ({ processes: [...new Set([...state.processes, ...processes])] }));
  }

  private announce(tell: (listener: JobListener) => void): void {
    for (const listener of this.listeners) tell(listener);
  }

  private announcer(): JobListener {
    return {
      started: (...told) => this.announce((one) => one.started(...told)),
      stepEnded: (...told) => this.announce((one) => one.stepEnded(...told)),
      edgeCounted: (...told) => this.announce((one) => one.edgeCounted(...told)),
      checkpointWritten: (...told) => this.announce((one) => one.checkpointWritten(...told)),
      failed: (...told) => this.announce((one) => one.failed(...told)),
      stopped: (...told) => this.announce((one) => one.stopped(...told)),
      resumed: (...told) => this.announce((one) => one.resumed(...told)),
      completed: (...told) => this.announce((one) => one.completed(...told)),
      hostsChanged: (...told) => this.announce((one) => one.hostsChanged(...told)),
    };
  }
}
