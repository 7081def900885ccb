/**
 * Load that is no job's, and NICs that pause without end, as settings.
 *
 * A load is known by its receiver and its name; what it sends is its value, so that it can be read back and started
 * again as it was. A load that has sent all it had to is still there until it is taken away.
 */
import type { FlowSimulator } from '../../simulator/flow-simulator.js';
import { nicId } from '../../core/elements.js';
import type { Topology } from '../../model/topology/model.js';
import type { Impairment } from '../../fabric-api/impairment.js';
import { described, twoValued, type Control } from './control.js';
import { nicOf } from '../../fabric-api/lookups.js';

type Traffic = Extract<Impairment, { type: 'traffic' }>;

/** As the simulator takes it. */
type Load = Parameters<FlowSimulator['injectTraffic']>[1];

/** @throws InputError for NICs that are not there, and a class without queues */
export function loadControl(simulator: FlowSimulator, impairment: Traffic): Control {
  const { topology } = simulator;
  const { name, toNic, rateGbps, bytesPerSender, priority, queuePairs } = impairment;
  const receiver = nicOf(topology, toNic, '/toNic');
  const fromNics = impairment.fromNics.map((id, index) => nicOf(topology, id, `/fromNics/${index}`));
  simulator.requireClass(priority);
  const id = `${toNic} ${name}`;
  const sized = bytesPerSender === undefined ? {} : { bytesPerSender };
  return described<Load>(
    { element: toNic, setting: `load-${name}`, untouched: 'none' },
    { fromNics, toNic: receiver, rateGbps, ...sized, priority, queuePairs },
    { text: (load) => textOf(load, topology), parse: (text) => loadOf(text, receiver, topology) },
    {
      read: () => simulator.traffic(id),
      set: (load) => (load === undefined ? simulator.removeTraffic(id) : simulator.injectTraffic(id, load)),
    },
  );
}

function textOf(load: Load, topology: Topology): string {
  const size = load.bytesPerSender === undefined ? '' : `${load.bytesPerSender}B at `;
  const senders = load.fromNics.map((nic) => nicId(topology.nics[nic].name)).join(' ');
  return `${size}${load.rateGbps}Gbps, priority ${load.priority}, ${load.queuePairs} queue pairs, from ${senders}`;
}

function loadOf(text: string, toNic: number, topology: Topology): Load | undefined {
  const match = /^(?:(\S+)B at )?(\S+)Gbps, priority (\d), (\d+) queue pairs, from (.+)$/.exec(text);
  if (match === null) return undefined;
  const [, size, rate, priority, queuePairs, senders] = match;
  const fromNics = senders.split(' ').map((id) => topology.nics.findIndex(({ name }) => nicId(name) === id));
  const load = {
    fromNics,
    toNic,
    rateGbps: Number(rate),
    ...(size === undefined ? {} : { bytesPerSender: Number(size) }),
    priority: Number(priority),
    queuePairs: Number(queuePairs),
  };
  const sound = load.rateGbps > 0 && load.queuePairs > 0 && !fromNics.includes(-1);
  return sound && (size === undefined || Number(size) > 0) ? load : undefined;
}

/** @throws InputError for a NIC that is not there, and a class without queues */
export function stormControl(
  simulator: FlowSimulator,
  { nic: id, priority }: Extract<Impairment, { type: 'pause-storm' }>,
): Control {
  const nic = nicOf(simulator.topology, id);
  simulator.requireClass(priority);
  return twoValued(id, `pause-of-class-${priority}`, 'as needed', 'without end', {
    healthy: () => !simulator.pauseStorm(nic, priority),
    set: (healthy) => simulator.setPauseStorm(nic, priority, !healthy),
  });
}
