/**
 * Which jobs a lab can really run, and what a rank of one has to do.
 *
 * Rings only, one rank a host: all-reduce, all-gather and reduce-scatter over groups whose ranks sit on different hosts.
 * What can't be run is refused before anything is built. Checkpoints go to the machine's disk, which no fault reaches;
 * those over the fabric are refused. Times of a restart are measured here, so that `restart` only says that there is one.
 */
import { InputError, type InputIssue } from '../../../core/problem.js';
import type { Topology } from '../../../model/topology/model.js';
import type { Job } from '../../../model/workload/job.js';
import type { WorkerOperation } from './protocol.js';

const RUNNABLE = ['all-reduce', 'all-gather', 'reduce-scatter'] as const;
type Runnable = (typeof RUNNABLE)[number];
const isRunnable = (kind: string): kind is Runnable => (RUNNABLE as readonly string[]).includes(kind);

/** Each job has a thousand ports. */
const MOST_JOBS = 16;
export const MOST_RANKS = 120;
/** A worker keeps several buffers of this size. */
const MOST_BYTES = 64 * 1024 * 1024;

/**
 * @param pointer of the list of jobs
 * @throws InputError naming every part of a job that a lab can't run
 */
export function requireRunnable(jobs: readonly Job[], topology: Topology, pointer = '/spec/jobs'): void {
  const issues = jobs.flatMap((job, index) => issuesOf(job, topology, `${pointer}/${index}`));
  if (jobs.length > MOST_JOBS) {
    issues.push({ pointer, message: `a Linux lab runs up to ${MOST_JOBS} jobs; here are ${jobs.length}` });
  }
  if (issues.length > 0) throw new InputError(issues);
}

function issuesOf(job: Job, topology: Topology, pointer: string): InputIssue[] {
  const issues: InputIssue[] = [];
  const refuse = (message: string, hint: string): void => {
    issues.push({ pointer, message: `job "${job.name}": ${message}`, hint });
  };
  const hosts = new Set(Array.from(job.placement, (gpu) => topology.gpus[gpu].host));
  if (hosts.size < job.placement.length) {
    refuse('a Linux lab runs one rank a host', 'give the job as many hosts as it has ranks');
  }
  if (job.placement.length > MOST_RANKS) {
    refuse(
      `${job.placement.length} ranks are more than one machine can run (${MOST_RANKS})`,
      'take fewer GPUs',
    );
  }
  if (job.checkpoint?.traffic !== undefined) {
    refuse('checkpoints of a lab do not cross its fabric', 'give checkpoint { every, duration }');
  }
  for (const operation of job.program.operations) {
    if (operation.type === 'compute') continue;
    const { collective, algorithm, bytes } = operation;
    if (!isRunnable(collective)) refuse(`workers do not run ${collective}`, `take ${RUNNABLE.join(', ')}`);
    else if (algorithm !== 'ring') refuse(`workers run rings, no ${algorithm}`, 'write algorithm: ring');
    if (bytes > MOST_BYTES) refuse(`${bytes} bytes in one collective are too many here`, 'take 64MB at most');
  }
  return issues;
}

/** What a rank does in a step. */
export function operationsOf(job: Job, rank: number): WorkerOperation[] {
  return job.program.operations.map((operation): WorkerOperation => {
    const { name, after } = operation;
    if (operation.type === 'compute') {
      return { type: 'compute', name, after, durationNs: operation.durationNs, bytes: 0, ring: [] };
    }
    const ring = operation.groups.find((group) => group.includes(rank)) ?? [];
    const type = isRunnable(operation.collective) ? operation.collective : 'all-reduce';
    return { type, name, after, durationNs: 0, bytes: operation.bytes, ring };
  });
}

/** Rank pairs that a job's rings connect, each once, in the order of the program. */
export function ringEdges(job: Job): { fromRank: number; toRank: number }[] {
  const edges = new Map<string, { fromRank: number; toRank: number }>();
  for (const operation of job.program.operations) {
    if (operation.type === 'compute') continue;
    for (const group of operation.groups) {
      if (group.length < 2) continue;
      group.forEach((fromRank, place) => {
        const toRank = group[(place + 1) % group.length];
        edges.set(`${fromRank}-${toRank}`, { fromRank, toRank });
      });
    }
  }
  return [...edges.values()];
}
