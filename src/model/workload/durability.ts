/**
 * What a job file says about checkpoints and restarts, turned into times, bytes and receivers.
 *
 * A checkpoint that leaves this fabric takes as long as it is said to, or as long as the ranks of a host need at the host's
 * rate. One that is sent to hosts of the fabric is traffic, and takes as long as the network lets it: rank r writes to
 * the r-th host in turn, to the NIC that lies at the position of its own, so that it stays on its rail where there is
 * one. Not modelled: sharded writes of different size, the storage's own disks, reading back over the fabric.
 */
import { BYTES_PER_NS_PER_GBPS } from '../../core/units.js';
import type { Topology } from '../topology/model.js';
import { DEFAULT_CHECKPOINT_NS, type CheckpointPlan, type RestartTimes } from './job.js';
import type { JobDefinition } from './job-schema.js';
import { ranksByHost } from './spares.js';
import { selectNames } from './selectors.js';

/**
 * @param pointer of the job's `checkpoint`
 * @throws InputError for a storage host that isn't there
 */
export function checkpointPlan(
  { checkpoint }: JobDefinition,
  placement: Int32Array,
  topology: Topology,
  pointer: string,
): CheckpointPlan | undefined {
  if (checkpoint === undefined) return undefined;
  const { every: everySteps, duration, bytesPerRank, to, hostRate } = checkpoint;
  if (bytesPerRank === undefined) return { everySteps, durationNs: duration ?? DEFAULT_CHECKPOINT_NS };
  if (to === undefined) {
    const most = Math.max(...[...ranksByHost(placement, topology).values()].map((ranks) => ranks.length));
    const durationNs = (most * bytesPerRank) / (hostRate! * BYTES_PER_NS_PER_GBPS);
    return { everySteps, durationNs };
  }
  const hosts = topology.devices.filter(({ role }) => role === 'host');
  const names = selectNames(
    to,
    hosts.map(({ name }) => name),
    'host',
    `${pointer}/to`,
  );
  const stores = names.map((name) => hosts.find((host) => host.name === name)!.index);
  const receivers = Int32Array.from(placement, (gpu, rank) =>
    receiverOf(topology, stores[rank % stores.length], topology.nics[topology.gpus[gpu].nic].position),
  );
  return { everySteps, durationNs: 0, traffic: { bytesPerRank, receivers } };
}

/** The first GPU of a host behind the NIC at that position, or behind the nearest one the host has. */
function receiverOf(topology: Topology, host: number, position: number): number {
  let best = -1;
  let bestDistance = Infinity;
  topology.gpus.forEach((gpu, index) => {
    if (gpu.host !== host) return;
    const distance = Math.abs(topology.nics[gpu.nic].position - position);
    if (distance < bestDistance) [best, bestDistance] = [index, distance];
  });
  return best;
}

/** Undefined for a job that nobody restarts. */
export function restartTimes({ restart }: JobDefinition): RestartTimes | undefined {
  if (restart === undefined) return undefined;
  return { detectNs: restart.detect, rescheduleNs: restart.reschedule, loadNs: restart.load };
}
