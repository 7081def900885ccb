/**
 * Slurm as the scheduler behind `host-drain` and `job-move`: drained with a reason, requeued, watched until it runs again.
 *
 * A drain is a node's state; who finds a node drained leaves it so. A job leaves a host by a requeue while a reservation
 * keeps new work off that host; the reservation is also the record of the order, can be read by any process, and ends by
 * itself. Where the job is to go to a certain host, the reservation covers all other idle ones until the job runs. Slurm
 * tells a job to end with SIGTERM and gives it KillWait for a checkpoint. Drains and orders bear the fabric's name.
 * Not modelled: jobs that Slurm may not requeue (`--no-requeue`), moves of some of a job's tasks.
 */
import { InputError } from '../../../core/problem.js';
import { quoteCommand, quoteWord, type Step } from '../undo/shell.js';
import type { SlurmClient, SlurmJob } from './slurm-client.js';

export interface SlurmOrder {
  /** Names as Slurm has them. */
  job: string;
  fromNode: string;
  /** Left out: wherever Slurm finds place. */
  toNode?: string;
}

/** Longest that an order keeps nodes free when nobody is left to lift it. */
const RESERVATION_MINUTES = 60;
/**
 * A node takes a job that it has just ended again only with a credential of a later second, the clock that slurmd compares
 * by; one of the same second is refused as revoked, and the job is lost.
 */
const CREDENTIAL_MS = 1100;
/** Slurm's controller may be away for a while when a timer fires: so often, a few seconds apart, it is tried. */
const UNDO_TRIES = 60;
const UNDO_EVERY_S = 5;

export class SlurmScheduler {
  /** Jobs that wait again after a requeue, by number: since when, and whether they were told to start. */
  private readonly waiting = new Map<number, { sinceMs: number; told: boolean }>();

  /** @param fabric its name, for reasons and reservations */
  constructor(
    private readonly client: SlurmClient,
    private readonly fabric: string,
  ) {}

  async isDrained(node: string): Promise<boolean> {
    return (await this.client.node(node)).drained;
  }

  /** @throws InputError for a node that Slurm does not have */
  async drain(node: string, why: string): Promise<void> {
    if (await this.isDrained(node)) return;
    await this.client.drain(node, `${this.reason}: ${why}`);
  }

  /** A drain that is not ours stays. */
  async resume(node: string): Promise<void> {
    const { drained, reason } = await this.client.node(node);
    if (drained && reason.startsWith(this.reason)) await this.client.resume(node);
  }

  resumeByHand(node: string): Step[] {
    return [{ command: this.client.resumeCommand(node) }];
  }

  /** The same for a timer. */
  undoDrain(node: string): Step[] {
    const ask = quoteCommand(this.client.reasonCommand(node));
    const resume = quoteCommand(this.client.resumeCommand(node));
    const others = `case "$said" in ${quoteWord(this.reason)}*) ;; *) exit 0 ;; esac`;
    return [persistently(`if said=$(${ask}); then ${others}; ${resume} && exit 0; fi`)];
  }

  /** Whether an order to leave the node stands, as Slurm itself has it. */
  async isOrdered(order: SlurmOrder): Promise<boolean> {
    const name = this.reservationOf(order);
    return (await this.client.reservations()).some((one) => one.name === name);
  }

  /**
   * Requeues the job, with new work kept off the node that it is to leave; `look` says when it runs again.
   * @throws InputError when it does not run on the node, can't be requeued, or can't go to the other; nothing is changed then
   */
  async order(order: SlurmOrder, id: number): Promise<void> {
    const job = await this.find(order, id);
    const { fromNode } = order;
    if (job.state !== 'RUNNING' || !job.nodes.includes(fromNode)) {
      const where = job.nodes.length === 0 ? `is ${job.state}` : `runs on ${job.nodes.join(', ')}`;
      throw InputError.at('/fromHost', `the job "${job.name}" ${where}, not on ${fromNode}`);
    }
    if (!job.requeueable) {
      const message = `the job "${job.name}" (${id}) may not be requeued`;
      throw InputError.at('/job', message, 'submit it with sbatch --requeue');
    }
    await this.client.reserve(
      this.reservationOf(order),
      await this.keptFree(job, order),
      RESERVATION_MINUTES,
    );
    await this.client.requeue(id);
  }

  /**
   * Looks at a job once, and helps one that waits after a requeue on: it may take any nodes, and need not wait for old
   * credentials to be void.
   * @returns its nodes when it runs, none while it waits; undefined when it is over
   */
  async look(id: number): Promise<{ nodes: string[]; why: string } | undefined> {
    const job = await this.client.job(id);
    if (job === undefined) return undefined;
    const why = job.reason === 'None' ? job.state : `${job.state} (${job.reason})`;
    if (job.state !== 'PENDING' || job.restarts === 0) {
      this.waiting.delete(id);
      return { nodes: job.state === 'RUNNING' ? job.nodes : [], why };
    }
    const waits = this.waiting.get(id) ?? { sinceMs: performance.now(), told: false };
    if (!this.waiting.has(id)) {
      this.waiting.set(id, waits);
      await this.client.takeAnyNodes(id);
    }
    if (!waits.told && performance.now() >= waits.sinceMs + CREDENTIAL_MS) {
      waits.told = true;
      await this.client.startNow(id);
    }
    return { nodes: [], why };
  }

  /** Of an order that is done: only the node that was left is kept free. */
  async arrived(order: SlurmOrder): Promise<void> {
    if (order.toNode === undefined || !(await this.isOrdered(order))) return;
    await this.client.reserve(this.reservationOf(order), [order.fromNode], RESERVATION_MINUTES);
  }

  /** The job stays where it is by now. Idempotent. */
  async withdraw(order: SlurmOrder): Promise<void> {
    await this.client.unreserve(this.reservationOf(order));
  }

  withdrawByHand(order: SlurmOrder): Step[] {
    return [{ command: this.client.unreserveCommand(this.reservationOf(order)) }];
  }

  /** The same for a timer, after a drill that is dead: the job goes, too. @param id its number, once it was submitted */
  undoOrder(order: SlurmOrder, id?: number): Step[] {
    const command = quoteCommand(this.client.unreserveCommand(this.reservationOf(order)));
    // one that has ended by itself is not there any more
    const lift = persistently(`said=$(${command} 2>&1) && exit 0; case "$said" in *invalid*) exit 0 ;; esac`);
    return id === undefined ? [lift] : [lift, { command: this.client.cancelCommand(id) }];
  }

  private get reason(): string {
    return `fabricdrill drill on ${this.fabric}`;
  }

  private reservationOf({ job, fromNode }: SlurmOrder): string {
    return `fabricdrill-${this.fabric}-${job}-${fromNode}`;
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

  private async find({ job: name }: SlurmOrder, id: number): Promise<SlurmJob> {
    const job = await this.client.job(id);
    if (job !== undefined) return job;
    throw InputError.at(
      '/job',
      `Slurm has no job ${id} ("${name}") any more`,
      'squeue lists the jobs there are',
    );
  }
}

/** A script that is run until it exits by itself, in a shell of its own. */
const persistently = (text: string): Step => ({
  command: [
    'sh',
    '-c',
    `tries=0; while [ $tries -lt ${UNDO_TRIES} ]; do ${text}; tries=$((tries + 1)); sleep ${UNDO_EVERY_S}; done; exit 1`,
  ],
});
