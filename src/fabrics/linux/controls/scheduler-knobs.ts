/**
 * What the lab's scheduler is told, as settings: hosts that take nothing more, and orders to leave a host.
 *
 * Both are kept in the scheduler's file, so that another process can lift them. Taking an order back does not take the job
 * back. An undo timer takes the file away: it fires when the drill is dead, and the workers, whose lease nobody renews, with it.
 */
import { join } from 'node:path';
import { deviceId } from '../../../kernel/elements.js';
import { InputError } from '../../../kernel/problem.js';
import type { Impairment } from '../../contract/impairment.js';
import { gpusOf, hostOf, jobOf } from '../../contract/lookups.js';
import type { Job } from '../../../workload/job.js';
import type { Lab } from '../lab/lab.js';
import type { Step } from '../undo/shell.js';
import type { Knob } from './knob.js';

type Mode = 'planned' | 'after-loss' | 'evict';

interface Order {
  job: number;
  fromHost: number;
  toHost?: number;
  mode: Mode;
}

/** The scheduler of a lab; hosts are device indices, jobs positions in the list. */
export interface Scheduler {
  readonly jobs: readonly Job[];
  isDrained(host: number): boolean;
  setDrained(host: number, drained: boolean): Promise<void>;
  moveOrder(job: number, fromHost: number): Order | undefined;
  orderMove(order: Order): Promise<void>;
  withdrawMove(job: number, fromHost: number): Promise<void>;
  /** Computations on a host take so many times longer than normal. */
  slowDown(host: number, factor: number): Promise<void>;
  slowDownOf(host: number): number;
}

const forget = (lab: Lab): Step[] => [{ command: ['rm', '-f', join(lab.jobsFolder, 'scheduler.json')] }];

export function drainKnob(
  impairment: Extract<Impairment, { type: 'host-drain' }>,
  lab: Lab,
  scheduler: Scheduler,
): Knob {
  const host = hostOf(lab.topology, impairment.device, '/device');
  return {
    element: impairment.device,
    setting: 'scheduling',
    impaired: 'drained',
    node: lab.nodes[host],
    read: async () => (scheduler.isDrained(host) ? 'drained' : 'enabled'),
    write: (value) => scheduler.setDrained(host, value === 'drained'),
    undo: () => forget(lab),
    accepts: (value) => value === 'drained' || value === 'enabled',
    worse: (one, other) => (one === 'drained' ? one : other),
  };
}

/** Held by the ranks' processes themselves, which end with whoever slowed them down: nothing outlives that. */
export function slowdownKnob(
  impairment: Extract<Impairment, { type: 'compute-slowdown' }>,
  lab: Lab,
  scheduler: Scheduler,
): Knob {
  const host = hostOf(lab.topology, impairment.device, '/device');
  gpusOf(lab.topology, host, impairment.gpu);
  const factorOf = (value: string): number => (value.endsWith('x') ? Number(value.slice(0, -1) || NaN) : NaN);
  return {
    element: impairment.device,
    setting: 'compute',
    impaired: `${impairment.factor}x`,
    node: lab.nodes[host],
    read: async () => `${scheduler.slowDownOf(host)}x`,
    write: (value) => scheduler.slowDown(host, factorOf(value)),
    undo: () => [],
    accepts: (value) => factorOf(value) > 0,
    worse: (one, other) => (factorOf(one) > factorOf(other) ? one : other),
  };
}

export function moveKnob(
  impairment: Extract<Impairment, { type: 'job-move' }>,
  lab: Lab,
  scheduler: Scheduler,
): Knob {
  const { topology } = lab;
  const { job: jobName, fromHost: from, toHost: to, mode } = impairment;
  const job = jobOf(scheduler.jobs, jobName);
  const fromHost = hostOf(topology, from, '/fromHost');
  const toHost = to === undefined ? undefined : hostOf(topology, to, '/toHost');
  if (toHost === fromHost) throw InputError.at('/toHost', `${to} is the host to be left`, 'name another one');
  const none = 'none';
  const textOf = (order: Order | undefined): string => {
    if (order === undefined) return none;
    const goal =
      order.toHost === undefined ? 'no host to go to' : `to ${deviceId(topology.devices[order.toHost].name)}`;
    return `${order.mode}, ${goal}`;
  };
  const order = { job, fromHost, mode, ...(toHost === undefined ? {} : { toHost }) };
  const read = async (): Promise<string> => textOf(scheduler.moveOrder(job, fromHost));
  return {
    element: jobName,
    setting: `order-to-leave-${topology.devices[fromHost].name}`,
    impaired: textOf(order),
    node: lab.nodes[fromHost],
    read,
    write: async (value) => {
      // What stands already must not begin anew.
      if (value === (await read())) return;
      if (value === none) await scheduler.withdrawMove(job, fromHost);
      else await scheduler.orderMove(order);
    },
    undo: () => forget(lab),
    accepts: (value) => value === none || value === textOf(order),
    worse: (_, last) => last,
  };
}
