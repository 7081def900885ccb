/**
 * Compiling a kind on a small fabric, and the issue with which it refuses, for specs.
 */
import { Prng } from '../../core/prng.js';
import { InputError, type InputIssue } from '../../core/problem.js';
import { elementRef } from '../../core/elements.js';
import { buildTopology, topologySchema } from '../../model/topology/topology-spec.js';
import type { Topology } from '../../model/topology/model.js';
import type { Job } from '../../model/workload/job.js';
import type { CongestionDescription } from '../../fabric-api/fabric.js';
import type { CompiledFault, FaultKind } from '../fault.js';

export const topologyOf = (spec: Record<string, unknown>): Topology =>
  buildTopology(topologySchema.parse(spec));

/** Two leaves of four hosts with a NIC each, two spines: twice as many hosts as uplinks. */
export const OVERSUBSCRIBED = topologyOf({
  builder: 'leaf-spine',
  leaves: 2,
  spines: 2,
  hostsPerLeaf: 4,
  gpusPerHost: 1,
});

export interface CompileOptions {
  topology?: Topology;
  jobs?: readonly Job[];
  durationNs?: number;
  congestion?: CongestionDescription;
  seed?: number;
}

/** Parameters as a file has them, targets by id. */
export const compileWith = <Parameters>(
  kind: FaultKind<Parameters>,
  params: Record<string, unknown>,
  targets: readonly string[],
  { topology = OVERSUBSCRIBED, jobs = [], durationNs = 20e9, congestion, seed = 1 }: CompileOptions = {},
): CompiledFault =>
  kind.compile(kind.parameters.parse(params), targets.map(elementRef), {
    topology,
    jobs,
    ...(congestion === undefined ? {} : { congestion }),
    durationNs,
    random: new Prng(seed),
  });

/** The first issue of what was refused. */
export function refusalOf(act: () => unknown): InputIssue {
  try {
    act();
  } catch (error) {
    if (error instanceof InputError) return error.issues[0];
    throw error;
  }
  throw new Error('was accepted');
}

/** A job with a rank on each of these GPUs that does nothing. */
export const idleJob = (gpus: readonly number[]): Job => ({
  name: 'job',
  placement: Int32Array.from(gpus),
  program: { operations: [] },
  startNs: 0,
  queuePairs: 1,
  priority: 3,
});
