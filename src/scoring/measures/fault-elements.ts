/**
 * The parts of the fabric that a truth entry hurts, and the series on which its symptoms may show.
 *
 * Everything goes by element id and topology, never by parts of names: `leaf-1` and `leaf-10` are strangers.
 */
import { deviceId, jobId, nicId, portId } from '../../core/elements.js';
import { metricDefinition } from '../../model/telemetry/catalog.js';
import type { EvidenceIndex, Series } from '../../model/telemetry/series.js';
import type { Topology } from '../../model/topology/model.js';
import type { TruthEntry } from '../../faults/ground-truth.js';
import type { Job } from '../../model/workload/job.js';

/** Indices into the topology. */
export interface FaultElements {
  links: ReadonlySet<number>;
  /** Both ends of the links. */
  ports: ReadonlySet<number>;
  /** Devices at the ends of the links. */
  devices: ReadonlySet<number>;
}

/** Ports that an element id stands for; none for jobs, patterns and the fabric as a whole. */
export function portsOfElement(topology: Topology, id: string): number[] {
  const link = topology.links.find((candidate) => candidate.id === id);
  if (link !== undefined) return [link.portA, link.portB];
  const device = topology.devices.find((candidate) => deviceId(candidate.name) === id);
  if (device !== undefined) return device.ports;
  const nic = topology.nics.find((candidate) => nicId(candidate.name) === id);
  if (nic !== undefined) return nic.ports;
  // The queue's own number follows the port's name, so that only a whole port name can match.
  const owner = id.startsWith('queue:') ? `port:${id.slice('queue:'.length, id.lastIndexOf('/'))}` : id;
  const port = topology.ports.find((candidate) => portId(candidate.name) === owner);
  return port === undefined ? [] : [port.index];
}

/** Ports of the first name of an entry that stands for any: a pattern of traffic has none of its own. */
export function portsOfEntry(topology: Topology, entry: TruthEntry): number[] {
  for (const { id } of entry.elements) {
    const ports = portsOfElement(topology, id);
    if (ports.length > 0) return ports;
  }
  return [];
}

/** What the given truth entries hurt. One name of an entry decides; the others are the same thing. */
export function faultElements(topology: Topology, truth: readonly TruthEntry[]): FaultElements {
  const links = new Set<number>();
  for (const entry of truth) {
    for (const port of portsOfEntry(topology, entry)) links.add(topology.ports[port].link);
  }
  const ports = new Set<number>();
  for (const link of links) ports.add(topology.links[link].portA).add(topology.links[link].portB);
  return { links, ports, devices: new Set([...ports].map((port) => topology.ports[port].device)) };
}

/** Ids of the elements on which symptoms of a fault may show. */
export function symptomElements(
  topology: Topology,
  elements: FaultElements,
  exposedJobs: readonly Job[],
): Set<string> {
  const ids = new Set<string>();
  for (const link of elements.links) ids.add(topology.links[link].id);
  for (const device of elements.devices) ids.add(deviceId(topology.devices[device].name));
  for (const index of elements.ports) {
    const port = topology.ports[index];
    ids.add(portId(port.name));
    if (port.nic >= 0) ids.add(nicId(topology.nics[port.nic].name));
  }
  for (const job of exposedJobs) {
    ids.add(jobId(job.name));
    for (const gpu of job.placement) ids.add(nicId(topology.nics[topology.gpus[gpu].nic].name));
  }
  return ids;
}

/** Whether a series sits on one of the elements; a queue belongs to its port, an edge and a rank to their job. */
export function sitsOn(series: Series, ids: ReadonlySet<string>): boolean {
  if (ids.has(series.element)) return true;
  const owner = series.element.slice(series.element.indexOf(':') + 1, series.element.lastIndexOf('/'));
  switch (metricDefinition(series.metric)?.element) {
    case 'queue':
      return ids.has(portId(owner));
    case 'edge':
    case 'rank':
      return ids.has(jobId(owner));
    default:
      return false;
  }
}

/** All series of the given metrics on the given elements. */
export const seriesOn = (
  index: EvidenceIndex,
  metrics: Iterable<string>,
  ids: ReadonlySet<string>,
): Series[] => [...metrics].flatMap((metric) => index.all(metric).filter((series) => sitsOn(series, ids)));
