/**
 * What fault kinds share: the links, NICs and ends that a target means, and the names under which truth lists a link.
 */
import { deviceId, elementName, nicId, portId } from '../kernel/elements.js';
import type { CulpritKind, ElementRef, Side } from '../telemetry/vocabulary.js';
import type { Device, Link, Nic, Topology } from '../topology/model.js';
import type { TruthEntry } from '../truth/truth.js';

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
