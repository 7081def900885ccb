/**
 * Load that is no job's, and NICs that pause without end, as settings.
 *
 * A load is known by its receiver and its name; what it sends is its value, so that it can be read back and started
 * again as it was. A load that has sent all it had to is still there until it is taken away.
 */
import type { FlowSimulator } from '../../simulator/flow-simulator.js';
import { nicId } from '../../core/elements.js';
import type { Impairment } from '../../fabric-api/impairment.js';
import { loadSchema } from '../../fabric-api/setting.js';
import { described, twoValued, type Control } from './control.js';
import { nicOf } from '../../fabric-api/lookups.js';

type Traffic = Extract<Impairment, { type: 'traffic' }>;

/** @throws InputError for NICs that are not there, and a class without queues */
export function loadControl(simulator: FlowSimulator, impairment: Traffic): Control {
  const { topology } = simulator;
  const { name, fromNics, toNic, rateGbps, bytesPerSender, priority, queuePairs } = impairment;
  const receiver = nicOf(topology, toNic, '/toNic');
  fromNics.forEach((id, index) => nicOf(topology, id, `/fromNics/${index}`));
  const indexOf = (id: string): number => topology.nics.findIndex((nic) => nicId(nic.name) === id);
  simulator.requireClass(priority);
  const id = `${toNic} ${name}`;
  const sized = bytesPerSender === undefined ? {} : { bytesPerSender };
  return described(
    { element: toNic, setting: `load-${name}` },
    { fromNics, rateGbps, ...sized, priority, queuePairs },
    {
      schema: loadSchema.refine((load) => load.fromNics.every((nic) => indexOf(nic) >= 0)),
      untouched: 'none',
      read: () => {
        const load = simulator.traffic(id);
        if (load === undefined) return undefined;
        const { toNic: _, ...figures } = load;
        return { ...figures, fromNics: load.fromNics.map((nic) => nicId(topology.nics[nic].name)) };
      },
      set: (load) =>
        load === undefined
          ? simulator.removeTraffic(id)
          : simulator.injectTraffic(id, { ...load, fromNics: load.fromNics.map(indexOf), toNic: receiver }),
    },
  );
}

/** @throws InputError for a NIC that is not there, and a class without queues */
export function stormControl(
  simulator: FlowSimulator,
  { nic: id, priority }: Extract<Impairment, { type: 'pause-storm' }>,
): Control {
  const nic = nicOf(simulator.topology, id);
  simulator.requireClass(priority);
  return twoValued({ element: id, setting: `pause-of-class-${priority}` }, 'as-needed', 'endless', {
    healthy: () => !simulator.pauseStorm(nic, priority),
    set: (healthy) => simulator.setPauseStorm(nic, priority, !healthy),
  });
}
