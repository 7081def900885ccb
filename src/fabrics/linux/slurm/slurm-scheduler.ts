/**
 * Slurm as the scheduler behind `host-drain` and `job-move`: drained with a reason, requeued, watched until it runs again.
 *
 * A drain is a node's state; who finds a node drained leaves it so. A job leaves a host by a requeue while a reservation
 * keeps new work off that host; the reservation is also the record of the order, can be read by any process, and ends by
 * itself when its lease does. Where the job is to go to a certain host, the reservation covers all other idle ones until
 * the job runs. Slurm tells a job to end with SIGTERM; a checkpoint on that signal makes a move lose no step.
 * Not modelled: jobs that Slurm may not requeue (`--no-requeue`), moves of some of a job's tasks.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { EnvironmentError, InputError } from '../../../kernel/problem.js';
import type { SlurmClient, SlurmJob } from './slurm-client.js';

export interface SlurmOrder {
  /** Names as Slurm has them. */
  job: string;
  fromNode: string;
  /** Left out: wherever Slurm finds place. */
  toNode?: string;
}

export interface Move {
  job: number;
  before: string[];
  after: string[];
  /** From the requeue to the job running again, ms. */
  tookMs: number;
}

const REASON = 'fabricdrill drill';
const PREFIX = 'fabricdrill-';
const LOOK_MS = 100;
/**
 * A node takes a job that it has just ended again only with a credential of a later second, the clock that slurmd compares
 * by; one of the same second is refused as revoked, and the job is lost.
 */
const CREDENTIAL_MS = 1100;

export class SlurmScheduler {
  constructor(
    private readonly client: SlurmClient,
    private readonly leaseMinutes = 15,
  ) {}

  async isDrained(node: string): Promise<boolean> {
    return (await this.client.node(node)).drained;
  }

  /** @throws InputError for a node that Slurm does not have */
  async drain(node: string, why: string): Promise<void> {
    if (await this.isDrained(node)) return;
    await this.client.drain(node, `${REASON}: ${why}`);
  }

  /** A drain that is not ours stays. */
  async resume(node: string): Promise<void> {
    const { drained, reason } = await this.client.node(node);
    if (drained && reason.startsWith(REASON)) await this.client.resume(node);
  }

  /** Nodes that the job runs on; empty while it waits. @throws InputError when there is no such job */
  async placement(job: string): Promise<string[]> {
    const { state, nodes } = await this.find(job);
    return state === 'RUNNING' ? nodes : [];
  }

  /** Whether an order to leave the node stands, as Slurm itself has it. */
  async isOrdered({ job, fromNode }: SlurmOrder): Promise<boolean> {
    const { id } = await this.find(job);
    const name = reservationName(id, fromNode);
    return (await this.client.reservations()).some((one) => one.name === name);
  }

  /**
   * Moves the job, and returns when it runs again.
   * @throws InputError when it does not run on the node, or can't go to the other
   * @throws EnvironmentError when it does not run again in time; the order then still stands
   */
  async move(order: SlurmOrder, timeoutMs: number): Promise<Move> {
    const { job: name, fromNode, toNode } = order;
    const job = await this.find(name);
    if (job.state !== 'RUNNING' || !job.nodes.includes(fromNode)) {
      const where = job.nodes.length === 0 ? `is ${job.state}` : `runs on ${job.nodes.join(', ')}`;
      throw InputError.at('/fromHost', `the job "${name}" ${where}, not on ${fromNode}`);
    }
    const reservation = reservationName(job.id, fromNode);
    await this.client.reserve(reservation, await this.keptFree(job, order), this.leaseMinutes);
    const began = performance.now();
    await this.client.requeue(job.id);
    const after = await this.untilRunning(name, timeoutMs);
    const tookMs = performance.now() - began;
    if (toNode !== undefined) await this.client.reserve(reservation, [fromNode], this.leaseMinutes);
    return { job: job.id, before: job.nodes, after, tookMs };
  }

  /** The job stays where it is by now. Idempotent. */
  async withdraw(order: SlurmOrder): Promise<void> {
    const { id } = await this.find(order.job);
    await this.client.unreserve(reservationName(id, order.fromNode));
  }

  private async keptFree(job: SlurmJob, { fromNode, toNode }: SlurmOrder): Promise<string[]> {
    if (toNode === undefined) return [fromNode];
    const target = await this.client.node(toNode);
    if (target.state !== 'idle' || job.nodes.includes(toNode)) {
      throw InputError.at('/toHost', `the node ${toNode} is ${target.state}, not idle`);
    }
    const nodes = await this.client.nodes();
    const others = nodes.filter(({ name, state }) => state === 'idle' && name !== toNode);
    return [fromNode, ...others.map(({ name }) => name)];
  }

  private async untilRunning(name: string, timeoutMs: number): Promise<string[]> {
    const deadline = performance.now() + timeoutMs;
    let asked = false;
    let endedAt: number | undefined;
    for (;;) {
      const job = await this.find(name);
      if (asked && job.state === 'RUNNING') return job.nodes;
      if (job.state === 'PENDING' && !asked) {
        endedAt ??= performance.now();
        asked = performance.now() >= endedAt + CREDENTIAL_MS;
        if (asked) await this.client.startNow(job.id);
      }
      if (performance.now() > deadline) {
        const hint = `squeue --job ${job.id} --start says what it waits for`;
        throw new EnvironmentError(`the job "${name}" is ${job.state} (${job.reason}) after its move`, hint);
      }
      await sleep(LOOK_MS);
    }
  }

  private async find(name: string): Promise<SlurmJob> {
    const jobs = await this.client.jobs(name);
    if (jobs.length === 1) return jobs[0];
    const message =
      jobs.length === 0 ? `Slurm has no job "${name}"` : `Slurm has ${jobs.length} jobs named "${name}"`;
    throw InputError.at('/job', message, 'as in sbatch --job-name; a name must be of one job');
  }
}

const reservationName = (job: number, node: string): string => `${PREFIX}${job}-${node}`;
