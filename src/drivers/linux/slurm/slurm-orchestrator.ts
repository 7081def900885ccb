/**
 * Slurm above the jobs of a fabric: they are jobs of Slurm's, on nodes that it gives, and drains and moves are orders to it.
 *
 * Of moves there is only the planned one: Slurm ends a whole job, with a while for a checkpoint, and starts it elsewhere; it
 * replaces no single rank. Drains are heard of by asking once in a while, so that those of others show as well. Undo timers
 * wait where Slurm's commands run, since the network of the fabric does not lead there.
 */
import { join } from 'node:path';
import { InputError } from '../../../core/problem.js';
import type { SlurmSettings } from '../../../fabric-api/orchestrator-settings.js';
import type { Job } from '../../../model/workload/job.js';
import type {
  Allocation,
  MoveOrder,
  Orchestrator,
  ScheduledJobs,
  SchedulerUndo,
} from '../job/orchestrator.js';
import { checkMove } from '../job/own-orchestrator.js';
import type { Lab } from '../lab/lab.js';
import type { Place } from '../transport/place.js';
import type { UndoSpot } from '../undo/timers.js';
import { endJob, SlurmAllocation } from './slurm-allocation.js';
import type { SlurmClient } from './slurm-client.js';
import { SlurmScheduler, type SlurmOrder } from './slurm-scheduler.js';

const LOOK_MS = 1000;

export interface SlurmParts {
  lab: Lab;
  jobs: readonly Job[];
  settings: SlurmSettings;
  client: SlurmClient;
  /** Where Slurm's commands run. */
  login: Place;
}

export class SlurmOrchestrator implements Orchestrator {
  private readonly scheduler: SlurmScheduler;
  private readonly spot: UndoSpot;
  private readonly allocations: readonly SlurmAllocation[];
  private drained: ReadonlySet<string> = new Set();
  /** By job: orders that we gave and nobody has lifted. */
  private readonly orders = new Map<number, MoveOrder[]>();
  private looking: NodeJS.Timeout | undefined;
  private watching = false;
  /** Looks at the nodes, counted as they were asked and as they were answered. */
  private asked = 0;
  private answered = 0;

  constructor(
    private readonly parts: SlurmParts,
    private readonly running: ScheduledJobs,
  ) {
    const { lab, jobs, client, login } = parts;
    this.scheduler = new SlurmScheduler(client, lab.name);
    this.spot = { name: 'Slurm', namespace: '', place: login };
    this.allocations = jobs.map((job, index) => this.allocate(job, index));
  }

  /** Jobs of an earlier drill on this fabric, which has ended without its end. */
  async begin(): Promise<void> {
    const { client, jobs } = this.parts;
    for (const { name } of jobs) {
      for (const id of await client.idsOf(name)) {
        if ((await client.job(id))?.comment === this.comment) await endJob(client, id);
      }
    }
    await this.look();
    this.watching = true;
    this.lookAgain();
  }

  async end(): Promise<void> {
    this.watching = false;
    clearTimeout(this.looking);
  }

  allocationOf(job: number): Allocation {
    return this.allocations[job];
  }

  isDrained(host: number): boolean {
    return this.drained.has(this.nodeOf(host));
  }

  readDrained(host: number): Promise<boolean> {
    return this.scheduler.isDrained(this.nodeOf(host));
  }

  async setDrained(host: number, drained: boolean): Promise<void> {
    const node = this.nodeOf(host);
    if (drained) await this.scheduler.drain(node, 'job-migration');
    else await this.scheduler.resume(node);
    await this.look();
    if (!drained) this.running.review();
  }

  undoOfDrain(host: number, wasDrained: boolean): SchedulerUndo {
    if (wasDrained) return { node: this.spot, steps: [], byHand: [] };
    const node = this.nodeOf(host);
    const { scheduler, spot } = this;
    return { node: spot, steps: scheduler.undoDrain(node), byHand: scheduler.resumeByHand(node) };
  }

  async readOrder(order: MoveOrder): Promise<MoveOrder | undefined> {
    if (order.mode !== 'planned') {
      throw InputError.at(
        '/mode',
        `Slurm ends and requeues whole jobs; it can't move ranks as "${order.mode}"`,
        'take variant planned, or a fabric without orchestrator',
      );
    }
    // Slurm keeps which job leaves which node; where it is to go is only told by who ordered it.
    return (await this.scheduler.isOrdered(this.inSlurm(order))) ? (this.given(order) ?? order) : undefined;
  }

  async orderMove(order: MoveOrder): Promise<void> {
    const { lab, jobs } = this.parts;
    const { job } = order;
    const closed = new Set(lab.hosts.map(({ device }) => device).filter((host) => this.isDrained(host)));
    checkMove(order, jobs, { ...this.running.use(job), closed });
    const { id } = this.allocations[job];
    if (id === undefined) throw InputError.at('/job', `the job "${jobs[job].name}" does not run`);
    // Known before it is given: Slurm may end the ranks before it has answered.
    this.orders.set(job, [...this.standing(job, order.fromHost), order]);
    try {
      await this.scheduler.order(this.inSlurm(order), id);
    } catch (error) {
      if (error instanceof InputError) this.orders.set(job, this.standing(job, order.fromHost));
      throw error;
    }
  }

  async withdrawMove(job: number, fromHost: number): Promise<void> {
    await this.scheduler.withdraw(this.inSlurm({ job, fromHost }));
    this.orders.set(job, this.standing(job, fromHost));
    this.running.review();
  }

  undoOfMove(job: number, fromHost: number): SchedulerUndo {
    const order = this.inSlurm({ job, fromHost });
    const steps = this.scheduler.undoOrder(order, this.allocations[job].id);
    return { node: this.spot, steps, byHand: this.scheduler.withdrawByHand(order) };
  }

  hasOrder(job: number): boolean {
    return (this.orders.get(job) ?? []).length > 0;
  }

  /** Asks Slurm, without a change, whether it would take the jobs. @throws CommandError when it would not */
  async wouldTake(job: number): Promise<void> {
    await this.parts.client.wouldTake(this.allocations[job].submission());
  }

  private allocate(job: Job, index: number): SlurmAllocation {
    const { lab, settings, client, login } = this.parts;
    const { partition, account, startWithin } = settings;
    return new SlurmAllocation({
      client,
      login,
      scheduler: this.scheduler,
      topology: lab.topology,
      job,
      leaseFile: join(lab.jobsFolder, `${job.name}.lease`),
      nodeOf: (host) => this.nodeOf(host),
      hostOf: (node) => lab.hosts.find(({ device }) => this.nodeOf(device) === node)?.device ?? -1,
      placeOf: (host) => lab.nodes[host].place,
      submission: {
        comment: this.comment,
        ...(partition === undefined ? {} : { partition }),
        ...(account === undefined ? {} : { account }),
      },
      startWithinMs: startWithin / 1e6,
      arrived: async () => {
        for (const order of this.orders.get(index) ?? []) await this.scheduler.arrived(this.inSlurm(order));
      },
    });
  }

  /** One look at a time, since Slurm may be slow; one that fails leaves what was heard before. */
  private lookAgain(): void {
    if (!this.watching) return;
    const again = (): void => this.lookAgain();
    this.looking = setTimeout(() => void this.look().then(again, again), LOOK_MS);
  }

  private async look(): Promise<void> {
    const asked = ++this.asked;
    const nodes = await this.parts.client.nodes();
    // a later question may have been answered first
    if (asked < this.answered) return;
    this.answered = asked;
    const drained = new Set(nodes.filter((node) => node.drained).map(({ name }) => name));
    const before = this.drained;
    this.drained = drained;
    const same = drained.size === before.size && [...drained].every((name) => before.has(name));
    if (!same) this.running.hostsChanged();
  }

  private standing(job: number, exceptFrom: number): MoveOrder[] {
    return (this.orders.get(job) ?? []).filter(({ fromHost }) => fromHost !== exceptFrom);
  }

  private given({ job, fromHost }: MoveOrder): MoveOrder | undefined {
    return this.orders.get(job)?.find((order) => order.fromHost === fromHost);
  }

  private inSlurm({ job, fromHost, toHost }: Omit<MoveOrder, 'mode'>): SlurmOrder {
    return {
      job: this.parts.jobs[job].name,
      fromNode: this.nodeOf(fromHost),
      ...(toHost === undefined ? {} : { toNode: this.nodeOf(toHost) }),
    };
  }

  private get comment(): string {
    return `fabricdrill:${this.parts.lab.name}`;
  }

  private nodeOf(host: number): string {
    const { lab, settings } = this.parts;
    return nodeName(settings, lab.topology.devices[host].name);
  }
}

/** Slurm's name of a host. */
export const nodeName = ({ nodes }: SlurmSettings, host: string): string => nodes[host] ?? host;
