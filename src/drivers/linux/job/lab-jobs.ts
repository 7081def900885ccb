/**
 * All jobs of a lab: starts them, keeps their leases, and answers the scheduler above them (`orchestrator.ts`).
 *
 * Workers are processes in the namespaces of their hosts. They end when this process stops them, or by themselves when
 * nobody renews their lease, so that a killed run leaves none behind. A later process finds the rest by its record.
 * Not modelled: GPUs other than as places; ranks that share a host.
 */
import { join } from 'node:path';
import type { Job } from '../../../model/workload/job.js';
import { ackTimeoutNs } from '../ack-timeout.js';
import { listeningPort, spreadConnections, type Connection } from './connections.js';
import type { JobListener } from './job-events.js';
import { LabJob, type JobSite } from './lab-job.js';
import { monotonicNs } from './monotonic.js';
import type { Orchestrator, ScheduledJobs } from './orchestrator.js';
import type { JobLab } from './job-lab.js';
import { OwnOrchestrator } from './own-orchestrator.js';
import { requireRunnable } from './runnable.js';
import { SchedulerFile } from './scheduler-state.js';
import { workerProgram, WorkerProcess } from './worker-process.js';

const RENEW_MS = 2000;
const LEASE_NS = 10e9;
const PULSES_PER_POLL = 2;

export interface LabJobsOptions {
  lab: JobLab;
  jobs: readonly Job[];
  settings: { ackTimeoutExponent: number; retries: number };
  /** Between two polls of counters of edges. */
  jobIntervalNs: number;
  program?: string;
  /** Who gives the jobs their hosts; the lab's own scheduler when left out. */
  orchestrator?: (jobs: ScheduledJobs) => Orchestrator;
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
  readonly orchestrator: Orchestrator;
  private readonly listeners: JobListener[] = [];
  /** Of all lives of all jobs. */
  private readonly hired: WorkerProcess[] = [];
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
    const scheduled = this.scheduled();
    this.orchestrator =
      options.orchestrator?.(scheduled) ?? new OwnOrchestrator(lab, jobs, this.file, scheduled);
    this.jobs = jobs.map((job, index) => new LabJob(job, index, this.siteOf(job, index), this.announcer()));
  }

  listen(listener: JobListener): void {
    this.listeners.push(listener);
  }

  /** Resolves when the rings of all jobs are connected. @throws Error when they do not come up; none is left then */
  async start(): Promise<void> {
    this.renewal = setInterval(() => this.renew(), RENEW_MS);
    try {
      await this.orchestrator.begin();
      this.planned = await planConnections(this.options.lab, this.options.jobs);
      await Promise.all(this.jobs.map((job) => job.start()));
    } catch (error) {
      await this.stop();
      throw error;
    }
    this.noteProcesses();
  }

  async stop(): Promise<void> {
    clearInterval(this.renewal);
    try {
      await Promise.all(this.jobs.map((job) => job.close()));
    } finally {
      await this.orchestrator.end();
    }
    this.file.change(() => ({ processes: [] }));
  }

  /** By how much the instants that hosts report may be off from this machine's clock, ns; 0 where they share it. */
  clockErrorNs(): number {
    return Math.max(0, ...this.hired.map((worker) => worker.clockErrorNs));
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
    return this.orchestrator.isDrained(host);
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
    const allocation = this.orchestrator.allocationOf(index);
    return {
      topology: lab.topology,
      folder: join(lab.jobsFolder, job.name),
      addressOf: (host) => lab.addressOf(host),
      connect: (placement, generation) => this.connect(job, index, placement, generation),
      listeningPort: (rank, generation) => listeningPort(index, rank, generation),
      allocation,
      hire: (host, configuration, events) => {
        const place = allocation.placeOf(host, configuration.rank);
        const worker = new WorkerProcess(place, this.program, configuration, events);
        this.hired.push(worker);
        this.noteProcesses(worker.identity);
        return worker;
      },
      pulseNs: jobIntervalNs / PULSES_PER_POLL,
      // A QP would give up after so long, as the fabric file says, and so does this transport.
      giveUpNs: ackTimeoutNs(settings) * settings.retries,
      leaseNs: LEASE_NS,
      slowDownOf: (host) => this.slowDownOf(host),
      hasOrder: () => this.orchestrator.hasOrder(index),
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

  private scheduled(): ScheduledJobs {
    return {
      use: (job, placement) => ({
        topology: this.options.lab.topology,
        placements: this.jobs.map((one, index) =>
          index === job ? (placement ?? one.placement) : one.placement,
        ),
      }),
      isWaiting: (job) => this.jobs[job].state === 'stopped',
      evict: (job, host) => this.jobs[job].evict(host),
      leave: (job) => void this.jobs[job].leave(),
      review: () => this.review(),
      hostsChanged: () => this.announce((listener) => listener.hostsChanged(monotonicNs())),
    };
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
