/**
 * What an operator knows of a job, as plain JSON: size, hosts, parallel groups, collectives of a step.
 *
 * The same collective over the same kind of group is listed once with its count: a deep model repeats it per layer.
 */
import type { Topology } from '../topology/model.js';
import type { CollectiveKind, CollectiveOperation, Job, RestartTimes } from './job.js';

export interface CollectiveDescription {
  /** Name of the first of them. */
  name: string;
  collective: CollectiveKind;
  algorithm: CollectiveOperation['algorithm'];
  parallelism: CollectiveOperation['parallelism'];
  /** nccl-tests size, as in `CollectiveOperation`. */
  bytes: number;
  /** Times a step. */
  count: number;
  groups: number;
  ranksPerGroup: number;
}

export interface JobDescription {
  name: string;
  ranks: number;
  hosts: { host: string; ranks: number[] }[];
  /** Compute of a step if nothing ran beside it, ns. */
  computeNs: number;
  collectives: CollectiveDescription[];
  startNs: number;
  queuePairs: number;
  priority: number;
  /** Null: it writes none. */
  checkpoint: { everySteps: number; durationNs: number | null; bytesPerRank: number | null } | null;
  /** Null: nobody restarts it. */
  restart: RestartTimes | null;
  /** Null: it goes on for ever. */
  steps: number | null;
}

export function describeJob(job: Job, topology: Topology): JobDescription {
  const hosts = new Map<string, number[]>();
  job.placement.forEach((gpu, rank) => {
    const host = topology.devices[topology.gpus[gpu].host].name;
    const ranks = hosts.get(host);
    if (ranks === undefined) hosts.set(host, [rank]);
    else ranks.push(rank);
  });
  return {
    name: job.name,
    ranks: job.placement.length,
    hosts: [...hosts].map(([host, ranks]) => ({ host, ranks })),
    computeNs: job.program.operations.reduce(
      (sum, operation) => sum + (operation.type === 'compute' ? operation.durationNs : 0),
      0,
    ),
    collectives: describeCollectives(job),
    startNs: job.startNs,
    queuePairs: job.queuePairs,
    priority: job.priority,
    checkpoint: describeCheckpoint(job),
    restart: job.restart ?? null,
    steps: job.steps ?? null,
  };
}

function describeCheckpoint({ checkpoint }: Job): JobDescription['checkpoint'] {
  if (checkpoint === undefined) return null;
  const { everySteps, durationNs, traffic } = checkpoint;
  if (traffic === undefined) return { everySteps, durationNs, bytesPerRank: null };
  // Over the fabric it takes as long as the network lets it.
  return { everySteps, durationNs: null, bytesPerRank: traffic.bytesPerRank };
}

function describeCollectives(job: Job): CollectiveDescription[] {
  const byShape = new Map<string, CollectiveDescription>();
  for (const operation of job.program.operations) {
    if (operation.type === 'compute') continue;
    const { name, collective, algorithm, parallelism, bytes } = operation;
    const groups = operation.groups.length;
    const ranksPerGroup = operation.groups[0]?.length ?? 0;
    const key = [collective, algorithm, parallelism, bytes, groups, ranksPerGroup].join('/');
    const known = byShape.get(key);
    if (known !== undefined) known.count++;
    else
      byShape.set(key, { name, collective, algorithm, parallelism, bytes, count: 1, groups, ranksPerGroup });
  }
  return [...byShape.values()];
}
