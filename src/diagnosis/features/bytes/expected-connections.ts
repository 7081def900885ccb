/**
 * Which connections over the fabric the collectives of a job ask for, by its program and placement as its owner knows them.
 *
 * It tells a connection that is missing from the evidence from one that there never was. Libraries may choose another
 * ring than the one computed here, so that what is missing by this account may be there under another name: it can
 * vouch for a rank whose connections are all there, and accuses nobody. Not modelled: ranks that moved.
 */
import type { Topology } from '../../../model/topology/model.js';
import { expandCollective, isLocalEdge } from '../../../model/workload/flows.js';
import type { Job } from '../../../model/workload/job.js';

/** By rank, partners that it sends to, and those that it is sent to by. */
export interface ExpectedConnections {
  sends: readonly ReadonlySet<number>[];
  receives: readonly ReadonlySet<number>[];
}

export function expectedConnections(job: Job, topology: Topology): ExpectedConnections {
  const sends = Array.from(job.placement, () => new Set<number>());
  const receives = Array.from(job.placement, () => new Set<number>());
  for (const operation of job.program.operations) {
    if (operation.type !== 'collective') continue;
    for (const group of operation.groups) {
      for (const { edges } of expandCollective(operation, group, job.placement, topology)) {
        for (const edge of edges) {
          if (isLocalEdge(edge, job.placement, topology)) continue;
          sends[edge.sourceRank].add(edge.destinationRank);
          receives[edge.destinationRank].add(edge.sourceRank);
        }
      }
    }
  }
  return { sends, receives };
}
