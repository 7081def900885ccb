/**
 * A few large flows that some uplink of a leaf must carry two of, whatever the hash.
 *
 * With more flows than uplinks at least one uplink gets ⌈flows / uplinks⌉ of them. Their rate is chosen so that all of
 * them fit when spread evenly (90 % of the uplinks), and so many on one link do not.
 */
import { InputError } from '../core/problem.js';
import { formatRateGbps } from '../core/units.js';
import { nicId } from '../core/elements.js';
import type { Prng } from '../core/prng.js';
import { peerPort, type Device, type Nic, type Topology } from '../model/topology/model.js';
import { portsRateGbps } from './parts.js';

/** Of what the uplinks carry together. */
const EVEN_LOAD = 0.9;

export interface LargeFlow {
  fromNics: string[];
  toNic: string;
  rateGbps: number;
}

/** Ports of a switch that lead to a higher tier. */
export const uplinksOf = (device: Device, topology: Topology): number[] =>
  device.ports.filter(
    (port) => topology.devices[topology.ports[peerPort(topology, port)].device].tierLevel > device.tierLevel,
  );

/**
 * @param wanted number of flows; one more than uplinks when undefined
 * @throws InputError when the leaf has too few uplinks or hosts, or its NICs are too slow to fill an uplink
 */
export function collidingFlows(
  leaf: Device,
  wanted: number | undefined,
  topology: Topology,
  random: Prng,
): LargeFlow[] {
  const uplinks = uplinksOf(leaf, topology);
  if (uplinks.length < 2) {
    throw InputError.at(
      '/target',
      `device:${leaf.name} has ${uplinks.length === 1 ? 'one uplink' : 'no uplink'}, so nothing is hashed there`,
      'select leaves with several uplinks',
    );
  }
  const count = wanted ?? uplinks.length + 1;
  const below = topology.nics.filter(
    ({ ports }) => ports.length === 1 && topology.ports[peerPort(topology, ports[0])].device === leaf.index,
  );
  checkCount(leaf, count, uplinks.length, below.length);
  const senders = random.shuffle(below).slice(0, count);
  const rateGbps = flowRate(leaf, count, uplinks, senders, topology);
  const receivers = elsewhere(below, topology, random);
  if (receivers.length < count) {
    throw InputError.at(
      '/params/flows',
      `${count} flows need as many hosts that are not below ${leaf.name}; there are ${receivers.length}`,
      'take fewer flows',
    );
  }
  return senders.map((sender, index) => ({
    fromNics: [nicId(sender.name)],
    toNic: nicId(receivers[index].name),
    rateGbps,
  }));
}

function checkCount(leaf: Device, count: number, uplinks: number, hosts: number): void {
  if (count <= uplinks) {
    throw InputError.at(
      '/params/flows',
      `${count} flows may each find one of the ${uplinks} uplinks of ${leaf.name} for itself`,
      `take at least ${uplinks + 1}`,
    );
  }
  if (count <= hosts) return;
  throw InputError.at(
    '/params/flows',
    `${count} flows are more than the ${hosts} NICs with a single port below ${leaf.name}`,
    hosts > uplinks
      ? `take at most ${hosts}`
      : `with ${uplinks} uplinks no fewer flows are sure to collide: take a leaf with fewer uplinks than hosts`,
  );
}

function flowRate(
  leaf: Device,
  count: number,
  uplinks: readonly number[],
  senders: readonly Nic[],
  topology: Topology,
): number {
  const uplinkGbps = Math.min(...uplinks.map((port) => topology.links[topology.ports[port].link].rateGbps));
  const nicGbps = Math.min(...senders.map((nic) => portsRateGbps(nic, topology)));
  const rate = Math.min(nicGbps, (EVEN_LOAD * uplinks.length * uplinkGbps) / count);
  if (Math.ceil(count / uplinks.length) * rate > uplinkGbps) return Number(rate.toPrecision(6));
  throw InputError.at(
    '/params/flows',
    `${Math.ceil(count / uplinks.length)} flows of ${formatRateGbps(Number(rate.toPrecision(4)))} do not fill an uplink of ${leaf.name} (${formatRateGbps(uplinkGbps)})`,
    'take another number of flows, or a leaf whose NICs are as fast as its uplinks',
  );
}

/** A NIC of every host with none below the leaf, of the position of those below, in random order. */
function elsewhere(below: readonly Nic[], topology: Topology, random: Prng): Nic[] {
  const hosts = new Set(below.map(({ host }) => host));
  const positions = new Set(below.map(({ position }) => position));
  const nics = topology.nics.filter(({ host, position }) => !hosts.has(host) && positions.has(position));
  const oneEach = new Map(nics.map((nic) => [nic.host, nic]));
  return random.shuffle([...oneEach.values()]);
}
