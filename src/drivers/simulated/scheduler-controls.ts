/**
 * What the scheduler of jobs is told, as settings: hosts that take nothing more, and orders to leave a host.
 *
 * An order is known by its job and the host to be left. Taking it back does not take the job back: it stays where it runs,
 * and what is proved by reading back is that no order stands.
 */
import { deviceId } from '../../core/elements.js';
import { InputError } from '../../core/problem.js';
import type { FlowSimulator } from '../../simulator/flow-simulator.js';
import type { Topology } from '../../model/topology/model.js';
import type { Impairment } from '../../fabric-api/impairment.js';
import { described, twoValued, type Control } from './control.js';
import { hostOf, jobOf } from '../../fabric-api/lookups.js';

type Order = Parameters<FlowSimulator['orderMove']>[0];
type Mode = Order['mode'];

/** @throws InputError for a job or host that isn't there */
export function schedulerControl(
  simulator: FlowSimulator,
  impairment: Extract<Impairment, { type: 'host-drain' | 'job-move' }>,
): Control {
  const { topology } = simulator;
  if (impairment.type === 'job-move') return moveControl(simulator, impairment);
  const host = hostOf(topology, impairment.device, '/device');
  return twoValued(impairment.device, 'scheduling', 'enabled', 'drained', {
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
  return described<Order>(
    { element: jobName, setting: `order-to-leave-${topology.devices[fromHost].name}`, untouched: 'none' },
    { job, fromHost, toHost, mode },
    { text: (order) => textOf(order, topology), parse: (text) => orderOf(text, job, fromHost, topology) },
    {
      read: () => simulator.moveOrder(job, fromHost),
      set: (order) =>
        order === undefined ? simulator.withdrawMove(job, fromHost) : simulator.orderMove(order),
    },
  );
}

const MODES: readonly Mode[] = ['planned', 'after-loss', 'evict'];

const textOf = ({ toHost, mode }: Order, topology: Topology): string =>
  `${mode}, ${toHost === undefined ? 'no host to go to' : `to ${deviceId(topology.devices[toHost].name)}`}`;

function orderOf(text: string, job: number, fromHost: number, topology: Topology): Order | undefined {
  const match = /^(\S+), (?:no host to go to|to (device:.+))$/.exec(text);
  const mode = MODES.find((one) => one === match?.[1]);
  if (match === null || mode === undefined) return undefined;
  if (match[2] === undefined) return { job, fromHost, toHost: undefined, mode };
  const toHost = topology.devices.findIndex(
    ({ name, role }) => role === 'host' && deviceId(name) === match[2],
  );
  return toHost < 0 ? undefined : { job, fromHost, toHost, mode };
}
