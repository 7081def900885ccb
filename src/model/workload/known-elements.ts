/**
 * Which element ids name something on a fabric with its jobs: for evidence and diagnoses that come from outside.
 *
 * Patterns name no part of a fabric and are not known here.
 */
import { edgeId, deviceId, FABRIC_ID, jobId, nicId, portId, rankId } from '../../core/elements.js';
import type { Topology } from '../topology/model.js';
import type { Job } from './job.js';

/** Tells for an id, prefix included, whether it is an element of this fabric or of these jobs. */
export function knownElements(topology: Topology, jobs: readonly Job[]): (id: string) => boolean {
  const ids = new Set<string>([FABRIC_ID]);
  for (const { name } of topology.devices) ids.add(deviceId(name));
  for (const { name } of topology.nics) ids.add(nicId(name));
  for (const { name } of topology.ports) ids.add(portId(name));
  for (const { id } of topology.links) ids.add(id);
  for (const { name } of jobs) ids.add(jobId(name));
  const ranks = new Map(jobs.map(({ name, placement }) => [name, placement.length]));
  const isRank = (job: string, rank: number): boolean => rank < (ranks.get(job) ?? 0);
  return (id) => {
    if (ids.has(id)) return true;
    const [, type, owner, rest] = /^([a-z]+):(.+)\/([^/]+)$/.exec(id) ?? [];
    if (type === 'queue') return ids.has(portId(owner)) && /^[0-7]$/.test(rest);
    if (type === 'rank') return isRank(owner, Number(rest)) && id === rankId(owner, Number(rest));
    const [, from, to] = /^(\d+)-(\d+)$/.exec(rest ?? '') ?? [];
    if (type !== 'edge' || from === undefined) return false;
    return (
      isRank(owner, Number(from)) &&
      isRank(owner, Number(to)) &&
      id === edgeId(owner, Number(from), Number(to))
    );
  };
}
