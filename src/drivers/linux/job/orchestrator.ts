/**
 * Who gives the jobs of a fabric their hosts: what such a scheduler is asked, and what it may ask of the jobs.
 *
 * Two of them: the lab's own, which moves ranks by itself, and Slurm, which ends and requeues whole jobs. Hosts are device
 * indices, jobs positions in the list.
 */
import type { GpuUse } from '../../../model/workload/spares.js';
import type { Place } from '../transport/place.js';
import type { Step } from '../undo/shell.js';
import type { UndoSpot } from '../undo/timers.js';

export type MoveMode = 'planned' | 'after-loss' | 'evict';

/** An order by index, as the contract's `job-move` means it. */
export interface MoveOrder {
  job: number;
  fromHost: number;
  /** Left out: there is no host to go to, or wherever the scheduler finds one. */
  toHost?: number;
  mode: MoveMode;
}

/** What takes a setting of the scheduler back when we are gone, and where it waits until then. */
export interface SchedulerUndo {
  node: UndoSpot;
  steps: Step[];
  /** The same for a person, who knows what is whose. */
  byHand: Step[];
}

/** The hosts that one job was given. */
export interface Allocation {
  /** Gets the hosts of the fabric file. @throws EnvironmentError when they can't be had */
  acquire(): Promise<void>;
  /** Where its ranks go on; null while there is no host for some. */
  replace(placement: Int32Array): Promise<Int32Array | null>;
  /** How long a job that has found no host waits until it asks again. */
  readonly retryMs: number;
  /** Where a rank's program is started. @param host device index */
  placeOf(host: number, rank: number): Place;
  /** The job goes on: to be called every few seconds. */
  renew(): void;
  /** Gives the hosts back; idempotent. */
  release(): Promise<void>;
}

export interface Orchestrator {
  /** Forgets and ends what an earlier drill has left. */
  begin(): Promise<void>;
  end(): Promise<void>;
  allocationOf(job: number): Allocation;
  /** As it was last heard. */
  isDrained(host: number): boolean;
  readDrained(host: number): Promise<boolean>;
  setDrained(host: number, drained: boolean): Promise<void>;
  undoOfDrain(host: number, wasDrained: boolean): SchedulerUndo;
  /** The order that stands. @throws InputError for one that this scheduler can't carry out */
  readOrder(order: MoveOrder): Promise<MoveOrder | undefined>;
  /** Returns when the order is given, not when it is done. @throws InputError when it can't be; nothing is changed then */
  orderMove(order: MoveOrder): Promise<void>;
  /** The job stays where it is by now; one that has found no host may have its own back. */
  withdrawMove(job: number, fromHost: number): Promise<void>;
  undoOfMove(job: number, fromHost: number): SchedulerUndo;
  /** Whether an order for this job stands, so that it is started again even if it would not by itself. */
  hasOrder(job: number): boolean;
}

/** The jobs, as their scheduler sees them. */
export interface ScheduledJobs {
  /** Whose GPUs are taken. @param placement of this job, where it is not the current one */
  use(job: number, placement?: Int32Array): Omit<GpuUse, 'closed'>;
  isWaiting(job: number): boolean;
  /** Ends the processes of a host at once. */
  evict(job: number, host: number): Promise<void>;
  /** Ends the step, writes a checkpoint, stops, and goes on from it where it may. */
  leave(job: number): void;
  /** Jobs that wait for a host look again. */
  review(): void;
  hostsChanged(): void;
}
