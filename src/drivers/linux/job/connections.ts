/**
 * Which ports a job's connections use, so that its flows spread over the uplinks as those of a well-run fabric do.
 *
 * For each ring edge a few source ports are tried in thought: the kernels say which links each would cross, and the one
 * whose busiest link carries least is taken, edge after edge. All of it follows from names, numbers and the routes in
 * force, so that a plan made by another process comes to the same. Two flows on one uplink would halve a step's speed.
 */
import type { Topology } from '../../../model/topology/model.js';
import type { Job } from '../../../model/workload/job.js';
import type { Flow } from '../lab/paths.js';
import { MOST_RANKS, ringEdges } from './runnable.js';

/** A connection of a job's ring. */
export interface Connection extends Flow {
  job: string;
  fromRank: number;
  toRank: number;
}

/** Asks the kernels for the links of flows, in order; null where there is no route. */
export type TracePaths = (flows: readonly Flow[]) => Promise<(string[] | null)[]>;

const FIRST_PORT = 20_000;
/** Lives of a job that may still hold their ports. */
const LIVES = 8;
const FIRST_SOURCE_PORT = 10_000;
const CANDIDATES = 16;
const SOURCE_PORTS = 10_000;

/** Where a rank listens in one life of its job. @param job its position in the list of jobs */
export const listeningPort = (job: number, rank: number, generation: number): number =>
  FIRST_PORT + (job * LIVES + (generation % LIVES)) * MOST_RANKS + rank;

/** A job where it runs, and which of its lives it is. */
export interface PlacedJob {
  job: Job;
  /** Position in the list of jobs. */
  index: number;
  placement: Int32Array;
  generation: number;
}

interface Candidates {
  connection: Connection;
  sourcePorts: number[];
}

/**
 * @param taken connections that stay as they are and load the links they cross
 * @returns the connections of all these jobs, in order
 */
export async function spreadConnections(
  topology: Topology,
  jobs: readonly PlacedJob[],
  trace: TracePaths,
  taken: readonly Connection[] = [],
): Promise<Connection[]> {
  const wanted = jobs.flatMap((placed) => candidatesOf(topology, placed));
  const asked: Flow[] = wanted.flatMap(({ connection, sourcePorts }) =>
    sourcePorts.map((sourcePort) => ({ ...connection, sourcePort })),
  );
  const paths = await trace([...taken, ...asked]);
  const load = new Map<string, number>();
  const add = (links: readonly string[]): void => {
    for (const link of links) load.set(link, (load.get(link) ?? 0) + 1);
  };
  taken.forEach((flow, index) => add(directed(topology, flow, paths[index])));
  let next = taken.length;
  return wanted.map(({ connection, sourcePorts }) => {
    const choices = sourcePorts.map((sourcePort, index) => ({
      sourcePort,
      links: directed(topology, connection, paths[next + index]),
    }));
    next += sourcePorts.length;
    const best = choices.reduce((one, other) => (isBetter(other.links, one.links, load) ? other : one));
    add(best.links);
    return { ...connection, sourcePort: best.sourcePort };
  });
}

function candidatesOf(topology: Topology, { job, index, placement, generation }: PlacedJob): Candidates[] {
  return ringEdges(job).map(({ fromRank, toRank }, edge) => ({
    connection: {
      job: job.name,
      fromRank,
      toRank,
      fromHost: topology.gpus[placement[fromRank]].host,
      toHost: topology.gpus[placement[toRank]].host,
      sourcePort: 0,
      destinationPort: listeningPort(index, toRank, generation),
    },
    sourcePorts: Array.from(
      { length: CANDIDATES },
      (_, candidate) => FIRST_SOURCE_PORT + ((edge * CANDIDATES + candidate) % SOURCE_PORTS),
    ),
  }));
}

/** Links with the way they are crossed: what goes the other way is no company. */
function directed(topology: Topology, { fromHost }: Flow, links: readonly string[] | null): string[] {
  let device = fromHost;
  return (links ?? []).map((id) => {
    const link = topology.links.find((one) => one.id === id);
    if (link === undefined) return id;
    const [a, b] = [topology.ports[link.portA].device, topology.ports[link.portB].device];
    const along = `${id}>${device === a ? 'b' : 'a'}`;
    device = device === a ? b : a;
    return along;
  });
}

/** Less on the busiest link; then less in all. A way that is known beats none. */
function isBetter(
  one: readonly string[],
  other: readonly string[],
  load: ReadonlyMap<string, number>,
): boolean {
  if (one.length === 0 || other.length === 0) return other.length === 0 && one.length > 0;
  const loads = (links: readonly string[]): number[] => links.map((link) => load.get(link) ?? 0);
  const [most, mostOther] = [Math.max(...loads(one)), Math.max(...loads(other))];
  if (most !== mostOther) return most < mostOther;
  const sum = (links: readonly string[]): number => loads(links).reduce((total, value) => total + value, 0);
  return sum(one) < sum(other);
}
