/**
 * Impairments as settings of the simulator: which knob an impairment turns, how to read it, how to set it.
 *
 * Every impairment acts on one setting of one element. The setting is what a real device would show: a port's admin
 * status, a cable, a filter, a power supply, a negotiated speed.
 */
import type { FlowSimulator } from '../../simulator/flow-simulator.js';
import type { Impairment, ImpairmentType } from '../../fabric-api/impairment.js';
import { rateSchema, signalSchema, slowdownSchema } from '../../fabric-api/setting.js';
import { graded, twoValued, type Control } from './control.js';
import { loadControl, stormControl } from './load-controls.js';
import { deviceOf, endOf, gpusOf, linkOf, lowerRate, nicOf } from '../../fabric-api/lookups.js';
import { schedulerControl } from './scheduler-controls.js';
import { switchControl } from './switch-controls.js';

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
    'simulated: the host side bounds what the NIC receives, sends or both; it stalls and pauses its switch by fluid shares',
  ],
  [
    'traffic',
    'simulated: flows with QPs, paths and congestion control of their own beside those of the jobs',
  ],
  [
    'pause-storm',
    'simulated: the class is paused all the time; pause spreads and the watchdog acts by fluid queues and their timers',
  ],
  ['hash-seed', 'simulated: flows are hashed anew at once, none is reordered by it'],
  ['ecn-marking', 'simulated: the marking curve of all queues of the switch, by fluid queues'],
  ['host-drain', 'simulated: the scheduler puts nothing more there; what runs goes on'],
  [
    'job-move',
    'simulated: processes end and begin at once, in the phases of the job; storage answers without delay',
  ],
  ['pfc-buffer', 'simulated: pause thresholds and headroom of all ports of the switch, by fluid queues'],
]);

/** @throws InputError when the impairment names an element that isn't there or doesn't belong together */
export function controlOf(simulator: FlowSimulator, impairment: Impairment): Control {
  const { topology } = simulator;
  switch (impairment.type) {
    case 'link-admin-down': {
      const port = endOf(topology, linkOf(topology, impairment.link), impairment.port, '/port');
      return twoValued({ element: impairment.port, setting: 'admin-status' }, 'up', 'down', {
        healthy: () => simulator.portAdminUp(port),
        set: (healthy) => simulator.setPortAdmin(port, healthy),
      });
    }
    case 'link-cut': {
      const { index } = linkOf(topology, impairment.link);
      return twoValued({ element: impairment.link, setting: 'cable' }, 'connected', 'cut', {
        healthy: () => !simulator.isCut(index),
        set: (healthy) => simulator.setCut(index, !healthy),
      });
    }
    case 'blackhole': {
      const link = linkOf(topology, impairment.link);
      const port = endOf(topology, link, impairment.fromPort, '/fromPort');
      const direction = 2 * link.index + Number(link.portB === port);
      return twoValued({ element: impairment.fromPort, setting: 'egress' }, 'forward', 'drop', {
        healthy: () => !simulator.isBlackhole(direction),
        set: (healthy) => simulator.setBlackhole(direction, !healthy),
      });
    }
    case 'node-down': {
      const device = deviceOf(topology, impairment.device);
      return twoValued({ element: impairment.device, setting: 'power' }, 'on', 'off', {
        healthy: () => simulator.isPowered(device),
        set: (healthy) => simulator.setPower(device, healthy),
      });
    }
    case 'bit-errors': {
      const link = linkOf(topology, impairment.link);
      const port = endOf(topology, link, impairment.fromPort, '/fromPort');
      const direction = 2 * link.index + Number(link.portB === port);
      const { bitErrorRatio, laneShare, cause } = impairment;
      return graded(
        { element: impairment.fromPort, setting: 'signal' },
        { bitErrorRatio, laneShare, cause },
        {
          schema: signalSchema,
          untouched: 'clean',
          read: () => simulator.signal(direction),
          set: (condition) => simulator.setSignal(direction, condition),
        },
        (condition) => condition.bitErrorRatio * condition.laneShare,
      );
    }
    case 'link-rate':
    case 'nic-host-rate':
    case 'compute-slowdown':
      return speedControl(simulator, impairment);
    case 'hash-seed':
    case 'ecn-marking':
    case 'pfc-buffer':
      return switchControl(simulator, impairment);
    case 'traffic':
      return loadControl(simulator, impairment);
    case 'pause-storm':
      return stormControl(simulator, impairment);
    case 'host-drain':
    case 'job-move':
      return schedulerControl(simulator, impairment);
  }
}

const slowness = ({ rateGbps }: { rateGbps: number }): number => -rateGbps;

/** Settings of how fast something goes. */
function speedControl(
  simulator: FlowSimulator,
  impairment: Extract<Impairment, { type: 'link-rate' | 'nic-host-rate' | 'compute-slowdown' }>,
): Control {
  const { topology } = simulator;
  switch (impairment.type) {
    case 'link-rate': {
      const { index, rateGbps } = linkOf(topology, impairment.link);
      const wanted = lowerRate(impairment.rateGbps, rateGbps, impairment.link);
      return graded(
        { element: impairment.link, setting: 'speed' },
        { rateGbps: wanted },
        {
          schema: rateSchema,
          read: () => ({ rateGbps: simulator.linkRateGbps(index) }),
          set: (rate) => simulator.setLinkRate(index, rate?.rateGbps ?? rateGbps),
        },
        slowness,
      );
    }
    case 'compute-slowdown': {
      const host = deviceOf(topology, impairment.device);
      const gpus = gpusOf(topology, host, impairment.gpu);
      const setting = impairment.gpu === undefined ? 'compute' : `gpu-${impairment.gpu}-compute`;
      return graded(
        { element: impairment.device, setting },
        { slowdownFactor: impairment.factor },
        {
          schema: slowdownSchema,
          read: () => ({ slowdownFactor: simulator.slowdown(setting, gpus[0]) }),
          set: (slowdown) => simulator.setSlowdown(setting, gpus, slowdown?.slowdownFactor ?? 1),
        },
        ({ slowdownFactor }) => slowdownFactor,
      );
    }
    case 'nic-host-rate': {
      const nic = nicOf(topology, impairment.nic);
      const { way } = impairment;
      const wanted = lowerRate(impairment.rateGbps, simulator.portsRateGbps(nic), impairment.nic);
      return graded(
        { element: impairment.nic, setting: way === undefined ? 'host-rate' : `host-${way}-rate` },
        { rateGbps: wanted },
        {
          schema: rateSchema,
          untouched: 'full',
          read: () => {
            const gbps = simulator.hostRateGbps(nic, way);
            return gbps === Infinity ? undefined : { rateGbps: gbps };
          },
          set: (rate) => simulator.setHostRate(nic, rate?.rateGbps ?? Infinity, way),
        },
        slowness,
      );
    }
  }
}
