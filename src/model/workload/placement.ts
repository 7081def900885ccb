/**
 * Placement: which GPUs a job's ranks get.
 *
 * `packed` fills host after host. `spread` takes turns over the leaves, so that neighbours in rank order sit under
 * different leaves and ring edges cross the spines. `explicit` takes the hosts in the order listed. Ranks that share
 * a tensor-parallel group are kept in one host where they fit. A job is pinned when its hosts are explicit or it has
 * an offset: pinned jobs are placed first and may collide, which is an error; the others take what is free.
 * Not modelled: queues, preemption, fragmentation over time (a scheduler's business).
 */
import { InputError } from '../../core/problem.js';
import { peerPort, type Topology } from '../topology/model.js';
import { selectNames } from './selectors.js';

export const PLACEMENT_STRATEGIES = ['packed', 'spread', 'explicit'] as const;
export type PlacementStrategy = (typeof PLACEMENT_STRATEGIES)[number];

export interface PlacementRequest {
  job: string;
  strategy: PlacementStrategy;
  /** Undefined: every GPU of the hosts. */
  gpus?: number;
  /** Host names or patterns; undefined: all hosts. */
  hosts?: readonly string[];
  /** GPUs passed over, in the strategy's order, before the first is taken. */
  offset: number;
  /** Tensor-parallel degree. */
  tensor: number;
  /** JSON pointers for errors: of the job, and of its list of hosts. */
  pointer: string;
  hostsPointer: string;
}

export const isPinned = (request: Pick<PlacementRequest, 'strategy' | 'offset'>): boolean =>
  request.strategy === 'explicit' || request.offset > 0;

/** Which job holds which GPU. */
export class GpuPool {
  private readonly owners: (string | undefined)[];
  private readonly gpusOfHost = new Map<string, number[]>();

  constructor(private readonly topology: Topology) {
    this.owners = topology.gpus.map(() => undefined);
    topology.gpus.forEach((gpu, index) => {
      const { name } = topology.devices[gpu.host];
      const gpus = this.gpusOfHost.get(name);
      if (gpus === undefined) this.gpusOfHost.set(name, [index]);
      else gpus.push(index);
    });
  }

  /** GPUs that the request's hosts have in all, free or not. @throws InputError for an unknown host */
  countOn(request: PlacementRequest): number {
    return this.hostsOf(request).reduce((sum, host) => sum + this.gpusOfHost.get(host)!.length, 0);
  }

  /** @throws InputError when the GPUs are not there or belong to another job; nothing is taken then */
  place(request: PlacementRequest): Int32Array {
    const unit = this.unitSize(request.tensor);
    if (request.offset % unit !== 0) {
      const message = `offset ${request.offset} would split a tensor-parallel group; take a multiple of ${unit}`;
      throw InputError.at(`${request.pointer}/placement/offset`, message);
    }
    const units = this.orderedUnits(request, unit).slice(request.offset / unit);
    const wanted = (request.gpus ?? units.length * unit) / unit;
    const usable = isPinned(request) ? units : units.filter((gpus) => gpus.every((gpu) => !this.owners[gpu]));
    if (usable.length < wanted || wanted === 0) throw this.tooFew(request, usable.length * unit, unit);
    const chosen = usable.slice(0, wanted).flat();
    const other = chosen.find((gpu) => this.owners[gpu] !== undefined);
    if (other !== undefined) throw this.collision(request, other);
    for (const gpu of chosen) this.owners[gpu] = request.job;
    return Int32Array.from(chosen);
  }

  private hostsOf(request: PlacementRequest): string[] {
    const names = [...this.gpusOfHost.keys()];
    return request.hosts === undefined
      ? names
      : selectNames(request.hosts, names, 'host', request.hostsPointer);
  }

  private unitSize(tensor: number): number {
    const { gpusPerHost } = this.topology;
    if (tensor <= gpusPerHost) return gpusPerHost % tensor === 0 ? tensor : 1;
    return tensor % gpusPerHost === 0 ? gpusPerHost : 1;
  }

  /** GPUs in the strategy's order, in units that stay together in a host. */
  private orderedUnits(request: PlacementRequest, unit: number): number[][] {
    const perHost = this.hostsOf(request).map((host) => {
      const gpus = this.gpusOfHost.get(host)!;
      const whole = Math.floor(gpus.length / unit);
      return Array.from({ length: whole }, (_, index) => gpus.slice(index * unit, (index + 1) * unit));
    });
    return request.strategy === 'spread' ? takeTurns(this.byLeaf(perHost).map(takeTurns)) : perHost.flat();
  }

  private byLeaf(perHost: number[][][]): number[][][][] {
    const leaves = new Map<number, number[][][]>();
    for (const units of perHost) {
      if (units.length === 0) continue;
      const nic = this.topology.nics[this.topology.gpus[units[0][0]].nic];
      const leaf = this.topology.ports[peerPort(this.topology, nic.ports[0])].device;
      const hosts = leaves.get(leaf);
      if (hosts === undefined) leaves.set(leaf, [units]);
      else hosts.push(units);
    }
    return [...leaves.values()];
  }

  private tooFew(request: PlacementRequest, usable: number, unit: number): InputError {
    const all = this.countOn(request);
    const where = request.hosts === undefined ? 'the fabric has' : 'its hosts have';
    const free = isPinned(request) ? `after offset ${request.offset}` : 'free';
    const grouped = unit > 1 ? ` in groups of ${unit} within a host` : '';
    const message = `job "${request.job}" wants ${request.gpus ?? 'some'} GPUs; ${where} ${all}, ${usable} ${free}${grouped}`;
    const holders = [...new Set(this.owners.filter((owner) => owner !== undefined))];
    const held =
      holders.length > 0
        ? `other GPUs are held by ${holders.join(', ')}`
        : 'ask for fewer GPUs, or take a job with a step and fit: { spareHosts: 0 }, which shrinks to the fabric';
    return InputError.at(
      `${request.pointer}/${request.hosts === undefined ? 'gpus' : 'placement'}`,
      message,
      held,
    );
  }

  private collision(request: PlacementRequest, gpu: number): InputError {
    const { host, position } = this.topology.gpus[gpu];
    const where = `GPU ${position} of ${this.topology.devices[host].name}`;
    const message = `jobs "${this.owners[gpu]}" and "${request.job}" both want ${where}; a GPU runs one job`;
    return InputError.at(request.pointer, message, 'give one of them other hosts or another offset');
  }
}

/** One item of each list in turn, until all are empty. */
function takeTurns<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, turn) =>
    lists.filter((list) => turn < list.length).map((list) => list[turn]),
  ).flat();
}
