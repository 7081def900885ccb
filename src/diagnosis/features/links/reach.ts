/**
 * Which jobs could have sent bytes over an element, from placement alone.
 *
 * In a Clos every path climbs from the sender's host and descends to the receiver's, so a link serves the hosts below
 * its lower end, and only for what leaves them. Which of several equal ways a flow takes is not asked: any may be its own.
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

/** Host ports of a job's ranks. */
const portsOf = (topology: Topology, { placement }: Job): number[] =>
  [...placement].flatMap((gpu) => topology.nics[topology.gpus[gpu].nic].ports);

/** True when a GPU of the job sends through one of the host ports. */
export const jobUses = (topology: Topology, job: Job, hostPorts: ReadonlySet<number>): boolean =>
  portsOf(topology, job).some((port) => hostPorts.has(port));

/** True when a flow of the job may leave the hosts below a switch, or enter them. */
export function jobLeaves(topology: Topology, job: Job, device: number): boolean {
  const below = hostPortsBelow(topology, device);
  const inside = portsOf(topology, job).filter((port) => below.has(port)).length;
  return inside > 0 && (inside < portsOf(topology, job).length || writesAway(topology, job, below));
}

/** Checkpoints may go to hosts that run no rank of it. */
const writesAway = (topology: Topology, { checkpoint }: Job, below: ReadonlySet<number>): boolean =>
  [...(checkpoint?.traffic?.receivers ?? [])].some((gpu) =>
    topology.nics[topology.gpus[gpu].nic].ports.some((port) => !below.has(port)),
  );

/** True when some of the job's flows may turn at the same switch as the other one's: what one loses the other may take. */
export function jobsMeet(topology: Topology, one: Job, other: Job): boolean {
  const hosts = (job: Job): Set<number> =>
    new Set(portsOf(topology, job).map((port) => leafOf(topology, port)));
  const [ours, theirs] = [hosts(one), hosts(other)];
  if ([...ours].some((leaf) => theirs.has(leaf))) return true;
  return ours.size > 1 && theirs.size > 1;
}

const leafOf = (topology: Topology, hostPort: number): number =>
  topology.ports[peerPort(topology, hostPort)].device;
