/**
 * Elements that an impairment names, in the topology; an unknown one is refused with those that are nearest.
 */
import { deviceId, elementName, jobId } from '../core/elements.js';
import { listChoices, nearestHint } from '../core/nearest.js';
import { InputError } from '../core/problem.js';
import type { Link, Topology } from '../model/topology/model.js';
import type { Job } from '../model/workload/job.js';

export function linkOf(topology: Topology, id: string): Link {
  const link = topology.links.find((candidate) => candidate.id === id);
  if (link !== undefined) return link;
  const ids = topology.links.map((candidate) => candidate.id);
  throw InputError.at(
    '/link',
    `the fabric has no "${id}"; links are ${listChoices(ids, 4)}`,
    nearestHint(id, ids),
  );
}

export function endOf(topology: Topology, link: Link, id: string, pointer: string): number {
  const name = elementName(id);
  for (const port of [link.portA, link.portB]) if (topology.ports[port].name === name) return port;
  const ends = [link.portA, link.portB].map((port) => `port:${topology.ports[port].name}`);
  throw InputError.at(
    pointer,
    `"${id}" is no end of ${link.id}; its ends are ${ends.join(' and ')}`,
    nearestHint(id, ends),
  );
}

export function deviceOf(topology: Topology, id: string): number {
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

export function nicOf(topology: Topology, id: string, pointer = '/nic'): number {
  const name = elementName(id);
  const nic = topology.nics.find((candidate) => candidate.name === name);
  if (nic !== undefined) return nic.index;
  const ids = topology.nics.map((candidate) => `nic:${candidate.name}`);
  throw InputError.at(
    pointer,
    `the fabric has no "${id}"; NICs are ${listChoices(ids, 4)}`,
    nearestHint(id, ids),
  );
}

export function lowerRate(rateGbps: number, ratedGbps: number, element: string): number {
  if (rateGbps < ratedGbps) return rateGbps;
  throw InputError.at(
    '/rateGbps',
    `${rateGbps} Gbps is no downgrade of ${element}, which runs at ${ratedGbps} Gbps`,
    `give less than ${ratedGbps}`,
  );
}

/** Indices of a host's GPUs, or of one of them. */
export function gpusOf(topology: Topology, host: number, position: number | undefined): number[] {
  const all = topology.gpus.flatMap((gpu, index) => (gpu.host === host ? [{ ...gpu, index }] : []));
  const chosen = all.filter((gpu) => position === undefined || gpu.position === position);
  if (chosen.length > 0) return chosen.map(({ index }) => index);
  const positions = listChoices(all.map((gpu) => String(gpu.position)));
  throw InputError.at(
    position === undefined ? '/device' : '/gpu',
    `the ${topology.devices[host].role} ${topology.devices[host].name} has no ${position === undefined ? 'GPU' : `GPU ${position}; its GPUs are ${positions}`}`,
  );
}

/** Index of a switch. @throws InputError for a host, which has no such setting */
export function switchOf(topology: Topology, id: string, setting: string): number {
  const index = deviceOf(topology, id);
  if (topology.devices[index].role === 'switch') return index;
  const switches = topology.devices.flatMap(({ role, name }) =>
    role === 'switch' ? [`device:${name}`] : [],
  );
  throw InputError.at(
    '/device',
    `the host ${elementName(id)} has no ${setting}; switches are ${listChoices(switches, 4)}`,
  );
}

/** Index of a host. @throws InputError for a switch, on which no ranks run */
export function hostOf(topology: Topology, id: string, pointer: string): number {
  const name = elementName(id);
  const hosts = topology.devices.filter(({ role }) => role === 'host');
  const host = hosts.find((candidate) => candidate.name === name);
  if (host !== undefined) return host.index;
  const ids = hosts.map((candidate) => deviceId(candidate.name));
  throw InputError.at(
    pointer,
    `the fabric has no host "${id}"; hosts are ${listChoices(ids, 4)}`,
    nearestHint(id, ids),
  );
}

export function jobOf(jobs: readonly Job[], id: string): number {
  const index = jobs.findIndex(({ name }) => jobId(name) === id);
  if (index >= 0) return index;
  const ids = jobs.map(({ name }) => jobId(name));
  throw InputError.at(
    '/job',
    `the fabric has no "${id}"; jobs are ${listChoices(ids) || 'none'}`,
    nearestHint(id, ids),
  );
}
