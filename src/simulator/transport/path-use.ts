/**
 * Which jobs use which elements right now, from the routes as they stand.
 *
 * Worked out for the whole fabric at once and kept until a route or a placement changes: a planner asks for every candidate.
 */
import { deviceId, jobId, nicId, portId } from '../../core/elements.js';
import type { Topology } from '../../model/topology/model.js';
import type { Job } from '../../model/workload/job.js';
import type { Beliefs } from '../network/beliefs.js';
import { ackWay, dataWay, type Connections } from './connections.js';
import type { Placements } from '../jobs/placements.js';

export class PathUse {
  private epoch = -1;
  private placementVersion = -1;
  private readonly users = new Map<string, Set<number>>();

  constructor(
    private readonly topology: Topology,
    private readonly jobs: readonly Job[],
    private readonly connections: Connections,
    private readonly beliefs: Beliefs,
    private readonly placements: Placements,
  ) {}

  /** Job indices, ascending; empty for an element nobody uses or that does not exist. */
  jobsCrossing(elementId: string): number[] {
    const { beliefs, placements } = this;
    if (this.epoch !== beliefs.epoch || this.placementVersion !== placements.version) this.gather();
    return [...(this.users.get(elementId) ?? [])].sort((a, b) => a - b);
  }

  private gather(): void {
    this.epoch = this.beliefs.epoch;
    this.placementVersion = this.placements.version;
    this.users.clear();
    const { topology, connections } = this;
    const byLink = topology.links.map(() => new Set<number>());
    for (const { job, firstQp, qpCount } of connections.all) {
      if (job < 0) continue;
      for (let qp = firstQp; qp < firstQp + qpCount; qp++) {
        connections.trace(qp);
        for (const way of [dataWay(qp), ackWay(qp)]) {
          for (let index = 0; index < connections.length(way); index++) {
            byLink[connections.direction(way, index) >> 1].add(job);
          }
        }
      }
    }
    for (const link of topology.links) {
      for (const job of byLink[link.index]) {
        this.add(link.id, job);
        for (const port of [topology.ports[link.portA], topology.ports[link.portB]]) {
          this.add(portId(port.name), job);
          this.add(deviceId(topology.devices[port.device].name), job);
          if (port.nic >= 0) this.add(nicId(topology.nics[port.nic].name), job);
        }
      }
    }
    this.jobs.forEach((job, index) => {
      for (const gpu of this.placements.of(index))
        this.add(deviceId(topology.devices[topology.gpus[gpu].host].name), index);
      this.add(jobId(job.name), index);
    });
  }

  private add(elementId: string, job: number): void {
    let users = this.users.get(elementId);
    if (users === undefined) this.users.set(elementId, (users = new Set()));
    users.add(job);
  }
}
