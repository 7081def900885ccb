/**
 * The lab's jobs as the fabric sees them, running or not.
 *
 * A plan asks which links the jobs will use before any of them runs; the answer comes from the same rule and the same
 * kernels as the connections that are made later.
 */
import type { FabricSpec } from '../../fabric-api/definition.js';
import type { Job } from '../../model/workload/job.js';
import { jobLabOf } from './job/job-lab.js';
import { LabJobs, planConnections, type LabJobsOptions } from './job/lab-jobs.js';
import type { MoveOrder, Orchestrator, SchedulerUndo } from './job/orchestrator.js';
import type { JobFlow } from './lab/crossing.js';
import type { Lab } from './lab/lab.js';
import type { Workload } from './linux-fabric.js';

export class LabWorkload implements Workload {
  readonly running: LabJobs;
  private started = false;

  /** @throws InputError for jobs that no lab can run */
  constructor(
    private readonly lab: Lab,
    readonly jobs: readonly Job[],
    spec: FabricSpec,
    orchestrator?: LabJobsOptions['orchestrator'],
  ) {
    this.running = new LabJobs({
      lab: jobLabOf(lab),
      jobs,
      settings: spec.settings,
      jobIntervalNs: spec.telemetry.jobInterval,
      ...(orchestrator === undefined ? {} : { orchestrator }),
    });
  }

  private get scheduler(): Orchestrator {
    return this.running.orchestrator;
  }

  async start(): Promise<void> {
    await this.running.start();
    this.started = true;
  }

  async stop(): Promise<void> {
    await this.running.stop();
  }

  async flows(): Promise<readonly JobFlow[]> {
    return this.started ? this.running.connections() : planConnections(jobLabOf(this.lab), this.jobs);
  }

  clockErrorNs(): number {
    return this.running.clockErrorNs();
  }

  readDrained(host: number): Promise<boolean> {
    return this.scheduler.readDrained(host);
  }

  setDrained(host: number, drained: boolean): Promise<void> {
    return this.scheduler.setDrained(host, drained);
  }

  undoOfDrain(host: number, wasDrained: boolean): SchedulerUndo {
    return this.scheduler.undoOfDrain(host, wasDrained);
  }

  readOrder(order: MoveOrder): Promise<MoveOrder | undefined> {
    return this.scheduler.readOrder(order);
  }

  orderMove(order: MoveOrder): Promise<void> {
    return this.scheduler.orderMove(order);
  }

  withdrawMove(job: number, fromHost: number): Promise<void> {
    return this.scheduler.withdrawMove(job, fromHost);
  }

  undoOfMove(job: number, fromHost: number): SchedulerUndo {
    return this.scheduler.undoOfMove(job, fromHost);
  }

  slowDown(host: number, factor: number): Promise<void> {
    return this.running.slowDown(host, factor);
  }

  slowDownOf(host: number): number {
    return this.running.slowDownOf(host);
  }
}
