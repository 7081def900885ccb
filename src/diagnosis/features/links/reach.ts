/**
 * Which jobs could have sent bytes over an element, from placement alone.
 *
 * In a Clos every path climbs from the sender's host and descends to the receiver's, so a link serves the hosts below
 * its lower end. Used as a weight when several culprits share one loss, never to excuse a culprit: rerouted traffic
 * may slow a job that never touched the element.
 */
import { peerPort } from '../../../model/topology/model.js';
import type { Topology } from '../../../model/topology/model.js';
import type { Job } from '../../../model/workload/job.js';

/** Ports of NICs at or below a device. */
export function hostPortsBelow(topology: Topology, device: number): Set<number> {
  const found = new Set<number>();
  const seen = new Set<number>([device]);
  const open = [device];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { role, ports, tierLevel } = topology.devices[next];
    if (role === 'host') {
      for (const port of ports) found.add(port);
      continue;
    }
    for (const port of ports) {
      const far = peerPort(topology, port);
      const below = topology.devices[topology.ports[far].device];
      if (below.tierLevel >= tierLevel) continue;
      if (below.role === 'host') found.add(far);
      else if (!seen.has(below.index)) {
        seen.add(below.index);
        open.push(below.index);
      }
    }
  }
  return found;
}

/** True when a GPU of the job sends through one of the host ports. */
export function jobUses(topology: Topology, job: Job, hostPorts: ReadonlySet<number>): boolean {
  return job.placement.some((gpu) =>
    topology.nics[topology.gpus[gpu].nic].ports.some((port) => hostPorts.has(port)),
  );
}
