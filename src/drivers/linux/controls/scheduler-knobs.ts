/**
 * What a scheduler is told, as settings: hosts that take nothing more, and orders to leave a host.
 *
 * Both are kept by the scheduler itself, the lab's own or Slurm, so that another process can lift them, and it says what
 * an undo timer has to do and where. Taking an order back does not take the job back.
 */
import { deviceId } from '../../../core/elements.js';
import { InputError } from '../../../core/problem.js';
import { sameSetting, slowdownSchema, type SettingValue } from '../../../fabric-api/setting.js';
import type { Impairment } from '../../../fabric-api/impairment.js';
import { gpusOf, hostOf, jobOf } from '../../../fabric-api/lookups.js';
import type { Job } from '../../../model/workload/job.js';
import type { Lab } from '../lab/lab.js';
import type { MoveOrder, Orchestrator } from '../job/orchestrator.js';
import type { Knob } from './knob.js';

/** The scheduler of a fabric's jobs, with what it can do to their ranks; hosts are device indices, jobs positions in the list. */
export interface Scheduler extends Pick<
  Orchestrator,
  'readDrained' | 'setDrained' | 'undoOfDrain' | 'readOrder' | 'orderMove' | 'withdrawMove' | 'undoOfMove'
> {
  readonly jobs: readonly Job[];
  /** Computations on a host take so many times longer than normal. */
  slowDown(host: number, factor: number): Promise<void>;
  slowDownOf(host: number): number;
}

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
    node: scheduler.undoOfDrain(host, false).node,
    read: async () => ((await scheduler.readDrained(host)) ? 'drained' : 'enabled'),
    write: (value) => scheduler.setDrained(host, value === 'drained'),
    undo: (value) => scheduler.undoOfDrain(host, value === 'drained').steps,
    byHand: (value) => scheduler.undoOfDrain(host, value === 'drained').byHand,
    byCommands: false,
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
  const factorOf = (value: SettingValue): number => slowdownSchema.parse(value).slowdownFactor;
  return {
    element: impairment.device,
    setting: 'compute',
    impaired: { slowdownFactor: impairment.factor },
    node: lab.nodes[host],
    read: async () => ({ slowdownFactor: scheduler.slowDownOf(host) }),
    write: (value) => scheduler.slowDown(host, factorOf(value)),
    undo: () => [],
    byCommands: false,
    accepts: (value) => slowdownSchema.safeParse(value).success,
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
  const shown = (order: MoveOrder | undefined): SettingValue => {
    if (order === undefined) return none;
    const goal = order.toHost === undefined ? undefined : deviceId(topology.devices[order.toHost].name);
    return { mode: order.mode, toHost: goal };
  };
  const order = { job, fromHost, mode, ...(toHost === undefined ? {} : { toHost }) };
  const undo = scheduler.undoOfMove(job, fromHost);
  const read = async (): Promise<SettingValue> => shown(await scheduler.readOrder(order));
  return {
    element: jobName,
    setting: `order-to-leave-${topology.devices[fromHost].name}`,
    impaired: shown(order),
    node: undo.node,
    read,
    write: async (value) => {
      // What stands already must not begin anew.
      if (sameSetting(value, await read())) return;
      if (value === none) await scheduler.withdrawMove(job, fromHost);
      else await scheduler.orderMove(order);
    },
    undo: () => undo.steps,
    byHand: () => undo.byHand,
    byCommands: false,
    accepts: (value) => value === none || sameSetting(value, shown(order)),
    worse: (_, last) => last,
  };
}
