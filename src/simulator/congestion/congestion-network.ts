/**
 * The fabric as the congestion equilibrium wants it: directions with their ends, buffers, classes, what receivers take.
 *
 * What a NIC accepts is bounded by a host side that is slow to take data, and nothing of a class in a pause storm. ACKs
 * come on top, since the NIC keeps them to itself. A NIC with two ports takes from each what it could take in all: the
 * other port may be idle. Switches obey pauses only in classes that they pause themselves.
 */
import { directionFrom, type Topology } from '../../model/topology/model.js';
import { reactionRates } from '../congestion-settings.js';
import { packetBytes, wireFactor, type FabricSettings } from '../settings.js';
import type { EquilibriumDcqcn, EquilibriumNetwork } from './equilibrium/model.js';
import type { PauseStorms } from '../network/pause-storms.js';
import { hostWrite, type Rates } from '../rates/rates.js';
import type { SwitchClasses } from '../network/switch-classes.js';

export function congestionNetwork(
  topology: Topology,
  settings: FabricSettings,
  rates: Rates,
  switches: SwitchClasses,
  storms: PauseStorms,
  /** By class index. */
  priorities: readonly number[],
  /** bytes/ns that max-min rates put on a capacity. */
  loadOf: (capacity: number) => number,
): EquilibriumNetwork {
  const { links, ports, devices } = topology;
  const directions = 2 * links.length;
  const toDevice = new Int32Array(directions);
  const toNic = new Int32Array(directions);
  const delayNs = new Float64Array(directions);
  const isSwitch = Uint8Array.from(devices, ({ role }) => Number(role === 'switch'));
  for (const { index, portA, portB, delayNs: oneWayNs } of links) {
    [portB, portA].forEach((end, side) => {
      const direction = 2 * index + side;
      toDevice[direction] = ports[end].device;
      toNic[direction] = ports[end].nic;
      delayNs[direction] = oneWayNs + (ports[end].nic < 0 ? settings.switchLatency : 0);
    });
  }
  const fromDevice = toDevice.map((_, direction) => toDevice[direction ^ 1]);
  const wirePerPayload = wireFactor(settings);
  return {
    directions,
    fromDevice,
    toDevice,
    isSwitch,
    capacity: rates.capacities.subarray(0, directions),
    delayNs,
    bufferBytes: switches.bufferBytes,
    switchClass: (device, classIndex) => switches.of(device, classIndex),
    accepts: (direction, classIndex) => {
      return toNic[direction] >= 0 && storms.blocks(direction, classIndex) ? 0 : Infinity;
    },
    acceptsAll: (direction) => {
      const nic = toNic[direction];
      if (nic < 0 || !rates.hostLimited(nic, 'receive')) return Infinity;
      const write = hostWrite(topology, nic);
      const arriving = topology.nics[nic].ports.reduce(
        (sum, port) => sum + loadOf(directionFrom(topology, port) ^ 1),
        0,
      );
      const acks = Math.max(0, arriving - loadOf(write) * wirePerPayload);
      return rates.capacities[write] * wirePerPayload + acks;
    },
    dcqcn: settings.dcqcn.on ? reactionPoint(settings, topology) : null,
    packetBytes: packetBytes(settings),
    classes: priorities.length,
    weights: priorities.map((priority) => settings.scheduling.weights[String(priority)] ?? 1),
    strict: priorities.map((priority) => Number(settings.scheduling.strict.includes(priority))),
  };
}

/** All NICs react like the fastest. */
function reactionPoint(settings: FabricSettings, { links, ports }: Topology): EquilibriumDcqcn {
  const { dcqcn } = settings;
  const nicLinks = links.filter(({ portA, portB }) => ports[portA].nic >= 0 || ports[portB].nic >= 0);
  const lineGbps = nicLinks.reduce((fastest, { rateGbps }) => Math.max(fastest, rateGbps), 1);
  return {
    alphaIntervalNs: dcqcn.alphaInterval,
    decreaseIntervalNs: dcqcn.decreaseInterval,
    increaseIntervalNs: dcqcn.increaseInterval,
    gain: dcqcn.gain,
    fastRecoveryTimes: dcqcn.fastRecoveryTimes,
    ...reactionRates(settings, lineGbps),
    clampTargetRate: false,
    cnpIntervalNs: dcqcn.cnpInterval,
  };
}
