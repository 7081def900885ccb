/**
 * Where the ranks of all jobs sit at present, and which hosts the scheduler keeps empty.
 *
 * Starts as the jobs were placed. A job that is complete gives its GPUs back; one that failed keeps them, as an allocation
 * outlives the processes in it.
 */
import type { Topology } from '../../model/topology/model.js';
import type { Job } from '../../model/workload/job.js';
import { movedPlacement, spareHosts, whyNoSpare, type GpuUse } from '../../model/workload/spares.js';

const NOWHERE = new Int32Array(0);

export class Placements {
  /** By job: GPU of each rank; empty for a job that has given its GPUs back. */
  private readonly held: Int32Array[];
  /** By job: where its ranks are, or were last. */
  private readonly last: Int32Array[];
  private readonly drained: Uint8Array;
  private readonly stores = new Set<number>();
  /** Grows with every change. */
  version = 0;
  /** By host: GPUs in use, as of a version. */
  private readonly counts: Int32Array;
  private countedVersion = -1;

  constructor(
    private readonly topology: Topology,
    jobs: readonly Job[],
    /** Hosts that run nothing at present: index → whether they are up. */
    private readonly isUp: (host: number) => boolean,
  ) {
    this.held = jobs.map(({ placement }) => placement);
    this.last = [...this.held];
    this.drained = new Uint8Array(topology.devices.length);
    this.counts = new Int32Array(topology.devices.length);
    for (const { checkpoint } of jobs) {
      for (const gpu of checkpoint?.traffic?.receivers ?? []) this.stores.add(topology.gpus[gpu].host);
    }
  }

  of(job: number): Int32Array {
    return this.last[job];
  }

  /** Device indices of the hosts with a rank of the job, in the order of ranks. */
  hostsOf(job: number): number[] {
    return [...new Set(Array.from(this.last[job], (gpu) => this.topology.gpus[gpu].host))];
  }

  gpusInUse(host: number): number {
    if (this.countedVersion !== this.version) {
      this.countedVersion = this.version;
      this.counts.fill(0);
      for (const gpu of this.held.flatMap((placement) => [...placement])) {
        this.counts[this.topology.gpus[gpu].host]++;
      }
    }
    return this.counts[host];
  }

  isDrained(host: number): boolean {
    return this.drained[host] === 1;
  }

  setDrained(host: number, drained: boolean): void {
    this.drained[host] = Number(drained);
    this.version++;
  }

  /** Why a host can't take over, as a clause; undefined when it can. */
  whyNot(job: number, fromHost: number, toHost: number): string | undefined {
    return this.isUp(toHost)
      ? whyNoSpare(this.use(), job, fromHost, toHost)
      : `${this.topology.devices[toHost].name} is down`;
  }

  /** The host that the scheduler would take, undefined when there is none. */
  spareFor(job: number, fromHost: number): number | undefined {
    return spareHosts(this.use(), job, fromHost).find((host) => this.isUp(host));
  }

  move(job: number, fromHost: number, toHost: number): void {
    this.held[job] = this.last[job] = movedPlacement(this.last[job], this.topology, fromHost, toHost);
    this.version++;
  }

  release(job: number): void {
    this.held[job] = NOWHERE;
    this.version++;
  }

  private use(): GpuUse {
    const closed = new Set(this.stores);
    this.drained.forEach((drained, host) => drained === 1 && closed.add(host));
    return { topology: this.topology, placements: this.held, closed };
  }
}
