/**
 * Which jobs use an element of a lab at this moment, by the ways that the kernels give to their connections.
 *
 * An element is a link, or a port, NIC or device on a link that a connection crosses. Connections without a way cross
 * nothing beyond their own NIC.
 */
import { deviceId, nicId, portId } from '../../../core/elements.js';
import type { Lab } from './lab.js';
import { tracePaths, type Flow } from './paths.js';

export type JobFlow = Flow & { job: string };

/** Element id to the names of the jobs that use it, in the order of the flows. */
export async function jobsByElement(lab: Lab, flows: readonly JobFlow[]): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  const note = (id: string, job: string): void => {
    const jobs = found.get(id) ?? [];
    if (!jobs.includes(job)) found.set(id, [...jobs, job]);
  };
  const { devices, links, nics, ports } = lab.topology;
  const byId = new Map(links.map((link) => [link.id, link]));
  const paths = await tracePaths(lab, flows);
  paths.forEach((path, index) => {
    const { job, fromHost, toHost } = flows[index];
    for (const host of [fromHost, toHost]) note(deviceId(devices[host].name), job);
    for (const id of path ?? []) {
      note(id, job);
      const { portA, portB } = byId.get(id)!;
      for (const port of [ports[portA], ports[portB]]) {
        note(portId(port.name), job);
        note(deviceId(devices[port.device].name), job);
        if (port.nic >= 0) note(nicId(nics[port.nic].name), job);
      }
    }
  });
  return found;
}
