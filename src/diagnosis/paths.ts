/**
 * Whether a job's flows may cross a culprit, or its ranks sit on it.
 */
import type { Context } from './series/context.js';
import { jobLeaves, jobUses, jobsMeet } from './features/links/reach.js';
import type { Explanation } from './explanation.js';
import { peerPort } from '../model/topology/model.js';
import type { Job } from '../model/workload/job.js';

/** By job of the context, in its order. */
export interface Way {
  /** Its flows may cross the element, or its ranks sit on it. */
  crosses: boolean;
  /** Its flows share switches with those of a job that crosses it, and may meet what that one sends another way. */
  meets: number[];
}

/** Slow ranks, and ranks that left, hold up their own job only. */
const OWN_JOB_ONLY = new Set(['straggler', 'job-migration']);

export function waysOf(context: Context, culprit: Explanation): Way[] {
  const { topology, jobs } = context;
  const crossing = jobs.map((job) => mayCross(context, culprit, job));
  return jobs.map((job, at) => ({
    crosses: crossing[at],
    meets: OWN_JOB_ONLY.has(culprit.kind)
      ? []
      : jobs.flatMap((other, place) =>
          place !== at && crossing[place] && jobsMeet(topology, job, other) ? [place] : [],
        ),
  }));
}

function mayCross(context: Context, culprit: Explanation, job: Job): boolean {
  const { topology } = context;
  const { nic, device, links, reach } = culprit;
  if (reach !== undefined) return jobUses(topology, job, new Set(reach));
  if (nic !== undefined) return jobUses(topology, job, new Set(topology.nics[nic].ports));
  if (device !== undefined) return passes(context, device, job);
  const [lower] = context.endsOf(topology.links[links[0]]);
  // The lower end of a host's link is a port of its NIC, and no other port of that host uses the link.
  if (topology.ports[lower].nic >= 0) return jobUses(topology, job, new Set([lower]));
  return jobLeaves(topology, job, topology.ports[lower].device);
}

/** Its ranks sit on the host, or below the switch; a switch without hosts of its own is met by what leaves those below it. */
function passes(context: Context, device: number, job: Job): boolean {
  const { topology } = context;
  const { role, ports, tierLevel } = topology.devices[device];
  if (role === 'host') return jobUses(topology, job, new Set(ports));
  const below = ports.map((port) => topology.ports[peerPort(topology, port)]);
  return below.some((port) =>
    port.nic >= 0
      ? jobUses(topology, job, new Set([port.index]))
      : topology.devices[port.device].tierLevel < tierLevel && jobLeaves(topology, job, port.device),
  );
}
