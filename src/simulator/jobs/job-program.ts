/**
 * A job made ready to run: its operations with the flow shapes of their collectives and the links between them.
 *
 * Shapes are shared by operations that do the same (a model's layers), so a step of a thousand collectives costs no
 * more memory than its distinct ones. Every rank pair that talks over the fabric gets one connection per job. A job that
 * is restarted gets new shapes and new QPs; its rank pairs, and so its connections, stay the same wherever it goes.
 */
import { edgeId } from '../../core/elements.js';
import { InputError } from '../../core/problem.js';
import { expandCollective, isLocalEdge, type FlowEdge, type FlowGroup } from '../../model/workload/flows.js';
import {
  busBandwidthFactor,
  type CollectiveKind,
  type CollectiveOperation,
  type Job,
} from '../../model/workload/job.js';
import type { Placements } from './placements.js';
import { STORAGE } from '../transport/connections.js';
import { FlowShape, type ShapeContext } from '../rates/flow-shape.js';

export interface ReadyOperation {
  /** ns of computation; undefined for a collective. */
  computeNs?: number;
  shapes: readonly FlowShape[];
  crossesFabric: boolean;
  /** Of a collective, in the sense of nccl-tests. */
  bytes: number;
  busFactor: number;
  /** Whose latency the profiler reports under its own name. */
  reportedAs: 'all-reduce' | 'all-to-all' | undefined;
  /** Operations that wait for this one, and how many this one waits for. */
  successors: number[];
  predecessors: number;
}

export interface ReadyJob {
  job: Job;
  operations: ReadyOperation[];
  /** Device indices of all hosts with a rank. */
  hosts: ReadonlySet<number>;
  /** Those of them with a connection over the fabric. */
  talkingHosts: ReadonlySet<number>;
  /** What writes a checkpoint, where that crosses the fabric. */
  checkpointShapes: readonly FlowShape[];
  /** The fabric collective that its bandwidth figures are about: the largest, the first of equals; -1 if none. */
  largest: number;
}

const reportedAs = (collective: CollectiveKind): ReadyOperation['reportedAs'] =>
  collective === 'all-reduce' || collective === 'all-to-all' ? collective : undefined;

/** Connections that a job has opened so far, by their name. */
export type KnownConnections = Map<string, number>;

/**
 * @param known connections of the job's earlier processes, which are taken over; new ones are added
 * @param generation how often the job has been started before: QPs of another start have other UDP ports
 * @throws InputError when a program has no operation or its operations wait for each other
 */
export function prepareJob(
  job: Job,
  index: number,
  context: ShapeContext,
  known: KnownConnections,
  generation = 0,
): ReadyJob {
  const shapes = new ShapeFactory(job, index, context, known, generation);
  const operations = job.program.operations.map((operation): ReadyOperation => {
    if (operation.type === 'compute') {
      return {
        computeNs: operation.durationNs,
        shapes: [],
        crossesFabric: false,
        bytes: 0,
        busFactor: 1,
        reportedAs: undefined,
        successors: [],
        predecessors: operation.after.length,
      };
    }
    const all = operation.groups.flatMap((group) => shapes.of(operation, group));
    const crossesFabric = all.some((shape) => shape.crossesFabric);
    return {
      shapes: all,
      crossesFabric,
      bytes: operation.bytes,
      busFactor: busBandwidthFactor(operation.collective, operation.groups[0]?.length ?? 1),
      reportedAs: crossesFabric ? reportedAs(operation.collective) : undefined,
      successors: [],
      predecessors: operation.after.length,
    };
  });
  job.program.operations.forEach((operation, at) => {
    for (const before of operation.after) operations[before].successors.push(at);
  });
  checkProgram(job, operations);
  const hosts = new Set(Array.from(job.placement, (gpu) => context.topology.gpus[gpu].host));
  const fabricShapes = operations.flatMap((operation) =>
    operation.shapes.filter((shape) => shape.crossesFabric),
  );
  const talkingHosts = new Set(fabricShapes.flatMap((shape) => [...shape.hosts]));
  const checkpointShapes = shapes.ofCheckpoint();
  return { job, operations, hosts, talkingHosts, checkpointShapes, largest: largestOf(operations) };
}

function largestOf(operations: readonly ReadyOperation[]): number {
  let largest = -1;
  operations.forEach((operation, at) => {
    if (operation.crossesFabric && (largest < 0 || operation.bytes > operations[largest].bytes)) largest = at;
  });
  return largest;
}

/** A step must end, and take time: else the clock of the simulation would stand still. */
function checkProgram(job: Job, operations: readonly ReadyOperation[]): void {
  const waiting = operations.map((operation) => operation.predecessors);
  const ready = waiting.flatMap((count, at) => (count === 0 ? [at] : []));
  for (let next = 0; next < ready.length; next++) {
    for (const successor of operations[ready[next]].successors) {
      if (--waiting[successor] === 0) ready.push(successor);
    }
  }
  if (ready.length < operations.length) {
    throw InputError.at('', `the operations of job "${job.name}" wait for each other in a circle`);
  }
  const takesTime = operations.some(
    (operation) =>
      (operation.computeNs ?? 0) > 0 ||
      operation.shapes.some((shape) => shape.qps.length > 0 || shape.linkCount > 0),
  );
  if (!takesTime) {
    throw InputError.at(
      '',
      `a step of job "${job.name}" takes no time`,
      'give it a computation or a collective between two ranks',
    );
  }
}

class ShapeFactory {
  private readonly shapes = new Map<string, FlowShape[]>();
  /** Those of this start. */
  private readonly connections = new Map<string, number>();
  private readonly groupKeys = new Map<readonly number[], string>();

  constructor(
    private readonly job: Job,
    private readonly index: number,
    private readonly context: ShapeContext,
    private readonly known: KnownConnections,
    private readonly generation: number,
  ) {}

  /** One flow per rank, to the NIC that stores what it writes. */
  ofCheckpoint(): FlowShape[] {
    const { checkpoint, placement, name, queuePairs } = this.job;
    if (checkpoint?.traffic === undefined) return [];
    const { bytesPerRank, receivers } = checkpoint.traffic;
    // A receiver is written as a rank beyond the last.
    const ends = new Int32Array([...placement, ...receivers]);
    const { topology } = this.context;
    return Array.from(placement, (_, rank) => {
      const edge = { sourceRank: rank, destinationRank: placement.length + rank, bytes: bytesPerRank };
      const local = isLocalEdge(edge, ends, topology);
      const shape = new FlowShape(this.context, [edge], local ? 0 : 1, local ? 1 : 0, ends, queuePairs, () =>
        local ? undefined : this.open(`${name}/${rank}-storage`, edge, ends, STORAGE),
      );
      shape.compile();
      return shape;
    });
  }

  of(operation: CollectiveOperation, group: readonly number[]): FlowShape[] {
    const { collective, algorithm, bytes } = operation;
    let groupKey = this.groupKeys.get(group);
    if (groupKey === undefined) this.groupKeys.set(group, (groupKey = group.join()));
    const key = `${collective}/${algorithm}/${bytes}/${groupKey}`;
    let shapes = this.shapes.get(key);
    if (shapes === undefined) {
      const { placement } = this.job;
      shapes = expandCollective(operation, group, placement, this.context.topology)
        .flatMap((flowGroup) => (flowGroup.coupled ? [flowGroup] : singly(flowGroup)))
        .filter((flowGroup) => flowGroup.edges.some((edge) => edge.bytes > 0))
        .map((flowGroup) => this.shape(flowGroup));
      this.shapes.set(key, shapes);
    }
    return shapes;
  }

  private shape(group: FlowGroup): FlowShape {
    const shape = new FlowShape(
      this.context,
      group.edges,
      group.steps,
      group.scaleUpSteps,
      this.job.placement,
      this.job.queuePairs,
      (edge) => this.connect(edge),
    );
    shape.compile();
    return shape;
  }

  private connect(edge: FlowEdge): number | undefined {
    const { placement, name } = this.job;
    if (isLocalEdge(edge, placement, this.context.topology)) return undefined;
    return this.open(
      edgeId(name, edge.sourceRank, edge.destinationRank),
      edge,
      placement,
      edge.destinationRank,
    );
  }

  /** The connection of that name: of this start, taken over from an earlier one, or new. */
  private open(id: string, edge: FlowEdge, ends: Int32Array, destinationRank: number): number {
    const opened = this.connections.get(id);
    if (opened !== undefined) return opened;
    const { topology, connections } = this.context;
    const sourceNic = topology.gpus[ends[edge.sourceRank]].nic;
    const destinationNic = topology.gpus[ends[edge.destinationRank]].nic;
    let connection = this.known.get(id);
    if (connection === undefined) {
      const { queuePairs: qpCount, priority } = this.job;
      const { sourceRank } = edge;
      connection = connections.open(
        { job: this.index, sourceRank, destinationRank, sourceNic, destinationNic, qpCount, priority },
        id,
      ).index;
      this.known.set(id, connection);
    } else {
      connections.renew(connection, sourceNic, destinationNic, `${id}#${this.generation}`);
    }
    this.connections.set(id, connection);
    return connection;
  }
}

/** Edges that move on their own, each paying only for what it crosses. */
function singly(group: FlowGroup): FlowGroup[] {
  return group.edges.map((edge) => ({ ...group, edges: [edge] }));
}

/** Programs of jobs that are started again, on their placement of that moment. */
export function restarter(
  jobs: readonly Job[],
  known: readonly KnownConnections[],
  placements: Placements,
  context: ShapeContext,
): (job: number) => ReadyJob {
  const starts = new Int32Array(jobs.length);
  return (job) =>
    prepareJob({ ...jobs[job], placement: placements.of(job) }, job, context, known[job], ++starts[job]);
}
