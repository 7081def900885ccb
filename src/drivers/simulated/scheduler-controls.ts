/**
 * What the scheduler of jobs is told, as settings: hosts that take nothing more, and orders to leave a host.
 *
 * An order is known by its job and the host to be left. Taking it back does not take the job back: it stays where it runs,
 * and what is proved by reading back is that no order stands.
 */
import { deviceId } from '../../core/elements.js';
import { InputError } from '../../core/problem.js';
import type { FlowSimulator } from '../../simulator/flow-simulator.js';
import type { Impairment } from '../../fabric-api/impairment.js';
import { moveOrderSchema } from '../../fabric-api/setting.js';
import { described, twoValued, type Control } from './control.js';
import { hostOf, jobOf } from '../../fabric-api/lookups.js';

/** @throws InputError for a job or host that isn't there */
export function schedulerControl(
  simulator: FlowSimulator,
  impairment: Extract<Impairment, { type: 'host-drain' | 'job-move' }>,
): Control {
  const { topology } = simulator;
  if (impairment.type === 'job-move') return moveControl(simulator, impairment);
  const host = hostOf(topology, impairment.device, '/device');
  return twoValued({ element: impairment.device, setting: 'scheduling' }, 'enabled', 'drained', {
    healthy: () => !simulator.isDrained(host),
    set: (healthy) => simulator.setDrained(host, !healthy),
  });
}

function moveControl(
  simulator: FlowSimulator,
  { job: jobName, fromHost: from, toHost: to, mode }: Extract<Impairment, { type: 'job-move' }>,
): Control {
  const { topology, jobs } = simulator;
  const job = jobOf(jobs, jobName);
  const fromHost = hostOf(topology, from, '/fromHost');
  const toHost = to === undefined ? undefined : hostOf(topology, to, '/toHost');
  if (toHost === fromHost) {
    throw InputError.at('/toHost', `${to} is the host to be left`, 'name another one');
  }
  const indexOf = (id: string): number =>
    topology.devices.findIndex(({ name, role }) => role === 'host' && deviceId(name) === id);
  return described(
    { element: jobName, setting: `order-to-leave-${topology.devices[fromHost].name}` },
    { mode, toHost: to },
    {
      schema: moveOrderSchema.refine((order) => order.toHost === undefined || indexOf(order.toHost) >= 0),
      untouched: 'none',
      read: () => {
        const order = simulator.moveOrder(job, fromHost);
        if (order === undefined) return undefined;
        const goal = order.toHost === undefined ? undefined : deviceId(topology.devices[order.toHost].name);
        return { mode: order.mode, toHost: goal };
      },
      set: (order) => {
        if (order === undefined) return simulator.withdrawMove(job, fromHost);
        const goal = order.toHost === undefined ? undefined : indexOf(order.toHost);
        simulator.orderMove({ job, fromHost, toHost: goal, mode: order.mode });
      },
    },
  );
}
