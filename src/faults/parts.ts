/**
 * What fault kinds share: the links, NICs and ends that a target means, and the names under which truth lists a link.
 */
import { deviceId, elementName, nicId, portId, queueId } from '../core/elements.js';
import { InputError } from '../core/problem.js';
import type { Prng } from '../core/prng.js';
import type { CulpritKind, ElementRef, Side } from '../model/telemetry/vocabulary.js';
import { peerPort, type Device, type Link, type Nic, type Topology } from '../model/topology/model.js';
import type { TruthEntry } from './ground-truth.js';
import type { Impairment } from '../fabric-api/impairment.js';
import type { CompiledFault, FaultContext } from './fault.js';

/** The link itself, the links of a NIC, or all links of a device. */
export function linksOf(target: ElementRef, topology: Topology): Link[] {
  const { ports, links } = topology;
  switch (target.type) {
    case 'nic':
      return (nicOf(target, topology)?.ports ?? []).map((port) => links[ports[port].link]);
    case 'device':
      return (deviceOf(target, topology)?.ports ?? []).map((port) => links[ports[port].link]);
    default:
      return links.filter((link) => link.id === target.id);
  }
}

/** The NIC itself, or all NICs of a host; none for anything else. */
export function nicsOf(target: ElementRef, topology: Topology): Nic[] {
  if (target.type === 'nic') return topology.nics.filter((nic) => nicId(nic.name) === target.id);
  const device = target.type === 'device' ? deviceOf(target, topology) : undefined;
  return device === undefined ? [] : topology.nics.filter((nic) => nic.host === device.index);
}

export const deviceOf = (target: ElementRef, topology: Topology): Device | undefined =>
  topology.devices.find((device) => deviceId(device.name) === target.id);

const nicOf = (target: ElementRef, topology: Topology): Nic | undefined =>
  topology.nics.find((nic) => nic.name === elementName(target.id));

/** Name of the port at the end nearer to the hosts (lower) or the other one. */
export function endPort(topology: Topology, link: Link, end: 'lower' | 'upper'): string {
  const level = (port: number): number => topology.devices[topology.ports[port].device].tierLevel;
  const [lower, upper] =
    level(link.portA) <= level(link.portB) ? [link.portA, link.portB] : [link.portB, link.portA];
  return topology.ports[end === 'lower' ? lower : upper].name;
}

/** Truth about a whole link, both ways, for as long as the fault is held. */
export function linkTruth(
  topology: Topology,
  link: Link,
  kind: CulpritKind,
  side: Side,
  durationNs: number,
): TruthEntry {
  const ports = [link.portA, link.portB].map((port): ElementRef => ({
    type: 'port',
    id: portId(topology.ports[port].name),
  }));
  const elements: ElementRef[] = [{ type: 'link', id: link.id }, ...ports];
  return { kind, elements, side, direction: 'both', fromNs: 0, toNs: durationNs };
}

/** Truth about one element with one name. */
export const elementTruth = (
  element: ElementRef,
  kind: CulpritKind,
  side: Side,
  durationNs: number,
): TruthEntry => ({ kind, elements: [element], side, direction: 'both', fromNs: 0, toNs: durationNs });

/** Rated speed of all ports of a NIC together. */
export const portsRateGbps = (nic: Nic, topology: Topology): number =>
  nic.ports.reduce((sum, port) => sum + topology.links[topology.ports[port].link].rateGbps, 0);

/** A NIC by the names of its own side: itself, then its ports, then its host. */
export function nicNames(nic: Nic, topology: Topology): ElementRef[] {
  return [
    { type: 'nic', id: nicId(nic.name) },
    ...nic.ports.map((port): ElementRef => ({ type: 'port', id: portId(topology.ports[port].name) })),
    { type: 'device', id: deviceId(topology.devices[nic.host].name) },
  ];
}

/** Switch ports that feed a NIC: what it receives waits in their queues. */
export const feedingPorts = (nic: Nic, topology: Topology): string[] =>
  nic.ports.map((port) => topology.ports[peerPort(topology, port)].name);

/** Queues of one class that feed a NIC. */
export const feedingQueues = (nic: Nic, topology: Topology, priority: number): ElementRef[] =>
  feedingPorts(nic, topology).map((port) => ({ type: 'queue', id: queueId(port, priority) }));

/** The NICs that a target means. @throws InputError when it has none */
export function someNicsOf(target: ElementRef, topology: Topology): Nic[] {
  const nics = nicsOf(target, topology);
  if (nics.length > 0) return nics;
  throw InputError.at(
    '/target',
    `${target.id} is a ${deviceOf(target, topology)?.role ?? target.type} and has no NIC`,
    'select NICs, or devices of tier host',
  );
}

/** The switch that a target is. @throws InputError when it is none */
export function switchOf(target: ElementRef, topology: Topology): Device {
  const device = deviceOf(target, topology);
  if (device?.role === 'switch') return device;
  const tiers = [...new Set(topology.devices.flatMap(({ role, tier }) => (role === 'switch' ? [tier] : [])))];
  throw InputError.at(
    '/target',
    `${target.id} is a ${device?.role ?? target.type}, and the setting is a switch's`,
    `select devices of tier ${tiers.join(' or ')}`,
  );
}

/** One setting out of line at each switch that a target means, for as long as the fault is held. */
export function misconfigured(
  kind: CulpritKind,
  targets: readonly ElementRef[],
  { topology, durationNs }: FaultContext,
  impair: (device: Device) => Impairment,
): CompiledFault {
  const switches = targets.map((target) => switchOf(target, topology));
  return {
    impairments: switches.map((device) => ({ impairment: impair(device), atNs: 0, untilNs: durationNs })),
    truth: settingTruth(kind, switches, topology, durationNs),
  };
}

/** A time within a hold, ns from its start. */
export interface Spell {
  atNs: number;
  untilNs: number;
}

/**
 * Turns of on and off that fill a hold, on first; each lasts its mean, spread evenly by `jitter` either way.
 * @param limit how many turns at most, and how to refuse more
 * @throws InputError when there would be more
 */
export function onAndOff(
  means: { onNs: number; offNs: number; jitter: number },
  holdNs: number,
  random: Prng,
  limit: { most: number; pointer: string; what: string },
): Spell[] {
  const spread = (meanNs: number): number =>
    Math.max(1, Math.round(meanNs * (1 + means.jitter * (2 * random.uniform() - 1))));
  const spells: Spell[] = [];
  for (let atNs = 0; atNs < holdNs;) {
    if (spells.length === limit.most) {
      throw InputError.at(
        limit.pointer,
        `${limit.what} more than ${limit.most} times`,
        'lengthen both times, or shorten duration',
      );
    }
    const untilNs = Math.min(holdNs, atNs + spread(means.onNs));
    spells.push({ atNs, untilNs });
    atNs = untilNs + spread(means.offNs);
  }
  return spells;
}

/**
 * Truth about a setting of switches: one entry each while they are few, since each is out of line; one entry for all
 * of them when no switch is left to compare with, since then it is one mistake that any of them shows.
 */
function settingTruth(
  kind: CulpritKind,
  switches: readonly Device[],
  topology: Topology,
  durationNs: number,
): TruthEntry[] {
  const refs = switches.map(({ name }): ElementRef => ({ type: 'device', id: deviceId(name) }));
  const all = topology.devices.filter(({ role }) => role === 'switch').length;
  const entry = (elements: readonly ElementRef[]): TruthEntry => ({
    kind,
    elements,
    side: 'configuration',
    direction: 'both',
    fromNs: 0,
    toNs: durationNs,
  });
  return refs.length === all && all > 1 ? [entry(refs)] : refs.map((ref) => entry([ref]));
}
