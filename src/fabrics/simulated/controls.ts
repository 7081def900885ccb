/**
 * Impairments as settings of the simulator: which knob an impairment turns, how to read it, how to set it.
 *
 * Every impairment acts on one setting of one element. The setting is what a real device would show: a port's admin
 * status, a cable, a filter, a power supply, a negotiated speed.
 */
import { elementName } from '../../kernel/elements.js';
import { listChoices, nearestHint } from '../../kernel/nearest.js';
import { InputError } from '../../kernel/problem.js';
import type { FlowSimulator } from '../../simulator/flow/flow-simulator.js';
import type { Link, Topology } from '../../topology/model.js';
import type { Impairment, ImpairmentType } from '../contract/impairment.js';
import { measured, twoValued, type Control } from './control.js';
import { signalControl } from './signal-control.js';

/** What each impairment costs in realism here. */
export const SIMULATED_CAPABILITIES: ReadonlyMap<ImpairmentType, string> = new Map<ImpairmentType, string>([
  [
    'link-admin-down',
    'simulated: port state, carrier at the peer, route repair and QP timeouts by their timers',
  ],
  ['link-cut', 'simulated: as link-admin-down, and both receivers go dark'],
  ['blackhole', 'simulated: all packets of one way vanish without an error counter'],
  [
    'node-down',
    'simulated: power off and on; processes on a host are lost, a switch keeps its configuration',
  ],
  ['link-rate', 'simulated: both ends run at the lower speed, without the moment of renegotiation'],
  [
    'bit-errors',
    'simulated: RS(544,514) in closed form, expected frame loss and go-back-N, lost alignment at random',
  ],
  ['compute-slowdown', 'simulated: computations of the ranks on these GPUs take longer, the others wait'],
  [
    'nic-host-rate',
    'simulated: the host side bounds the NIC, which stalls and pauses its switch by fluid shares',
  ],
]);

/** @throws InputError when the impairment names an element that isn't there or doesn't belong together */
export function controlOf(simulator: FlowSimulator, impairment: Impairment): Control {
  const { topology } = simulator;
  switch (impairment.type) {
    case 'link-admin-down': {
      const port = endOf(topology, linkOf(topology, impairment.link), impairment.port, '/port');
      return twoValued(impairment.port, 'admin-status', 'up', 'down', {
        healthy: () => simulator.portAdminUp(port),
        set: (healthy) => simulator.setPortAdmin(port, healthy),
      });
    }
    case 'link-cut': {
      const { index } = linkOf(topology, impairment.link);
      return twoValued(impairment.link, 'cable', 'connected', 'cut', {
        healthy: () => !simulator.isCut(index),
        set: (healthy) => simulator.setCut(index, !healthy),
      });
    }
    case 'blackhole': {
      const link = linkOf(topology, impairment.link);
      const port = endOf(topology, link, impairment.fromPort, '/fromPort');
      const direction = 2 * link.index + Number(link.portB === port);
      return twoValued(impairment.fromPort, 'egress', 'forward', 'drop', {
        healthy: () => !simulator.isBlackhole(direction),
        set: (healthy) => simulator.setBlackhole(direction, !healthy),
      });
    }
    case 'node-down': {
      const device = deviceOf(topology, impairment.device);
      return twoValued(impairment.device, 'power', 'on', 'off', {
        healthy: () => simulator.isPowered(device),
        set: (healthy) => simulator.setPower(device, healthy),
      });
    }
    case 'bit-errors': {
      const link = linkOf(topology, impairment.link);
      const port = endOf(topology, link, impairment.fromPort, '/fromPort');
      return signalControl(impairment, 2 * link.index + Number(link.portB === port), simulator);
    }
    case 'link-rate':
    case 'nic-host-rate':
    case 'compute-slowdown':
      return speedControl(simulator, impairment);
    default:
      throw InputError.at(
        '/type',
        `the simulated fabric can't apply "${impairment.type}"`,
        `it can apply ${listChoices([...SIMULATED_CAPABILITIES.keys()])}`,
      );
  }
}

/** Settings that are a number: how fast something goes. */
function speedControl(
  simulator: FlowSimulator,
  impairment: Extract<Impairment, { type: 'link-rate' | 'nic-host-rate' | 'compute-slowdown' }>,
): Control {
  const { topology } = simulator;
  switch (impairment.type) {
    case 'link-rate': {
      const { index, rateGbps } = linkOf(topology, impairment.link);
      const wanted = lowerRate(impairment.rateGbps, rateGbps, impairment.link);
      return measured(
        impairment.link,
        'speed',
        { healthy: rateGbps, wanted, unit: 'Gbps', worst: 'lower' },
        { read: () => simulator.linkRateGbps(index), set: (gbps) => simulator.setLinkRate(index, gbps) },
      );
    }
    case 'compute-slowdown': {
      const host = deviceOf(topology, impairment.device);
      const gpus = gpusOf(topology, host, impairment.gpu);
      const setting = impairment.gpu === undefined ? 'compute' : `gpu-${impairment.gpu}-compute`;
      return measured(
        impairment.device,
        setting,
        { healthy: 1, wanted: impairment.factor, unit: 'x', worst: 'higher' },
        {
          read: () => simulator.slowdown(setting, gpus[0]),
          set: (factor) => simulator.setSlowdown(setting, gpus, factor),
        },
      );
    }
    case 'nic-host-rate': {
      const nic = nicOf(topology, impairment.nic);
      const wanted = lowerRate(impairment.rateGbps, simulator.portsRateGbps(nic), impairment.nic);
      return measured(
        impairment.nic,
        'host-rate',
        { healthy: Infinity, wanted, unit: 'Gbps', worst: 'lower', healthyText: 'full' },
        { read: () => simulator.hostRateGbps(nic), set: (gbps) => simulator.setHostRate(nic, gbps) },
      );
    }
  }
}

function linkOf(topology: Topology, id: string): Link {
  const link = topology.links.find((candidate) => candidate.id === id);
  if (link !== undefined) return link;
  const ids = topology.links.map((candidate) => candidate.id);
  throw InputError.at(
    '/link',
    `the fabric has no "${id}"; links are ${listChoices(ids, 4)}`,
    nearestHint(id, ids),
  );
}

function endOf(topology: Topology, link: Link, id: string, pointer: string): number {
  const name = elementName(id);
  for (const port of [link.portA, link.portB]) if (topology.ports[port].name === name) return port;
  const ends = [link.portA, link.portB].map((port) => `port:${topology.ports[port].name}`);
  throw InputError.at(
    pointer,
    `"${id}" is no end of ${link.id}; its ends are ${ends.join(' and ')}`,
    nearestHint(id, ends),
  );
}

function deviceOf(topology: Topology, id: string): number {
  const name = elementName(id);
  const device = topology.devices.find((candidate) => candidate.name === name);
  if (device !== undefined) return device.index;
  const ids = topology.devices.map((candidate) => `device:${candidate.name}`);
  throw InputError.at(
    '/device',
    `the fabric has no "${id}"; devices are ${listChoices(ids)}`,
    nearestHint(id, ids),
  );
}

function nicOf(topology: Topology, id: string): number {
  const name = elementName(id);
  const nic = topology.nics.find((candidate) => candidate.name === name);
  if (nic !== undefined) return nic.index;
  const ids = topology.nics.map((candidate) => `nic:${candidate.name}`);
  throw InputError.at(
    '/nic',
    `the fabric has no "${id}"; NICs are ${listChoices(ids, 4)}`,
    nearestHint(id, ids),
  );
}

function lowerRate(rateGbps: number, ratedGbps: number, element: string): number {
  if (rateGbps < ratedGbps) return rateGbps;
  throw InputError.at(
    '/rateGbps',
    `${rateGbps} Gbps is no downgrade of ${element}, which runs at ${ratedGbps} Gbps`,
    `give less than ${ratedGbps}`,
  );
}

/** Indices of a host's GPUs, or of one of them. */
function gpusOf(topology: Topology, host: number, position: number | undefined): number[] {
  const all = topology.gpus.flatMap((gpu, index) => (gpu.host === host ? [{ ...gpu, index }] : []));
  const chosen = all.filter((gpu) => position === undefined || gpu.position === position);
  if (chosen.length > 0) return chosen.map(({ index }) => index);
  const positions = listChoices(all.map((gpu) => String(gpu.position)));
  throw InputError.at(
    position === undefined ? '/device' : '/gpu',
    `the ${topology.devices[host].role} ${topology.devices[host].name} has no ${position === undefined ? 'GPU' : `GPU ${position}; its GPUs are ${positions}`}`,
  );
}
