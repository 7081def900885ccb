/**
 * What the profilers beside the ranks of all jobs say when they are polled: of rank pairs, of ranks, and of whole jobs.
 *
 * A profiler runs on the host of its rank (of a pair: of the sending one) and goes down with it. Figures of a whole job
 * are put together where the framework logs, whichever hosts it runs on.
 */
import type { MetricName } from '../../model/telemetry/catalog.js';
import type { PollClock } from '../../model/telemetry/columns/poll-clock.js';
import type { PollColumn } from '../../model/telemetry/columns/poll-column.js';
import type { Topology } from '../../model/topology/model.js';
import type { Job } from '../../model/workload/job.js';
import type { Connections } from '../transport/connections.js';
import type { Counters } from './counters.js';
import type { SeriesNumbers } from './device-polls.js';
import type { JobLatencies } from '../jobs/latencies.js';
import type { PollNoise } from '../noise/poll-noise.js';
import type { PhysicalLayer } from '../network/physical-layer.js';
import type { Placements } from '../jobs/placements.js';
import type { QpTimers } from '../transport/qp-timers.js';
import type { RankClocks } from '../jobs/rank-clocks.js';
import type { SeriesBook } from './series-book.js';

export interface JobSources {
  topology: Topology;
  jobs: readonly Job[];
  physical: PhysicalLayer;
  connections: Connections;
  counters: Counters;
  timers: QpTimers;
  /** By job. */
  clocks: readonly RankClocks[];
  placements: Placements;
  /** By job; read and cleared at each poll. */
  latencies: readonly JobLatencies[];
}

/** Tells the polls of a host's profiler apart from those of its NICs. */
const PROFILER = 1;

/** The host without which nobody tells of an element; -1 for what the framework tells. */
type HostOf = (index: number) => number;

/** A metric with the host that tells it, by element. */
interface PolledMetric {
  column: PollColumn;
  read: (index: number) => number;
  indices: Int32Array;
  hosts: Int32Array;
  hostOf: HostOf;
}

export class JobPolls {
  private readonly metrics: PolledMetric[] = [];
  private readonly deviceUp: Uint8Array;
  private nowNs = 0;
  /** By host: the round that it was last asked in, and whether that failed. */
  private readonly heard: Int32Array;
  private readonly missed: Uint8Array;
  private placementVersion = 0;

  constructor(
    private readonly sources: JobSources,
    private readonly book: SeriesBook,
    private readonly series: SeriesNumbers,
    readonly clock: PollClock,
    /** Undefined in a quiet world. */
    private readonly noise?: PollNoise,
  ) {
    this.deviceUp = sources.physical.deviceUp;
    this.heard = new Int32Array(this.deviceUp.length).fill(-1);
    this.missed = new Uint8Array(this.deviceUp.length);
    this.addEdges(sources);
    this.addRanks(sources);
    this.addLatencies(sources);
  }

  poll(nowNs: number): void {
    this.nowNs = nowNs;
    const round = this.clock.rounds++;
    if (this.placementVersion !== this.sources.placements.version) this.findHosts();
    for (const { column, read, indices, hosts } of this.metrics) {
      column.begin();
      column.fill(0, indices.length, indices, read);
      for (let place = 0; place < hosts.length; place++) {
        if (hosts[place] >= 0 && this.isSilent(hosts[place], round)) column.skip(place, place + 1);
      }
      this.book.disturb(column, round);
    }
    for (const { allReduce, allToAll, flows } of this.sources.latencies) {
      allReduce.clear();
      allToAll.clear();
      flows.clear();
    }
  }

  private isSilent(host: number, round: number): boolean {
    if (this.deviceUp[host] === 0) return true;
    if (this.noise === undefined) return false;
    if (this.heard[host] !== round) {
      this.heard[host] = round;
      this.missed[host] = Number(this.noise.misses(host, round, this.nowNs, PROFILER));
    }
    return this.missed[host] === 1;
  }

  /** Ranks have moved. */
  private findHosts(): void {
    this.placementVersion = this.sources.placements.version;
    for (const { hosts, indices, hostOf } of this.metrics) {
      for (let place = 0; place < hosts.length; place++) hosts[place] = hostOf(indices[place]);
    }
  }

  private addEdges({ topology, connections, counters, timers }: JobSources): void {
    const hostOf: HostOf = (edge) => topology.nics[connections.all[edge].sourceNic].host;
    this.add('edge_tx_bytes', hostOf, (edge) => Math.floor(counters.delivered[edge]));
    this.add('edge_stalled_s', hostOf, (edge) => timers.stalledNs(this.nowNs, edge) / 1e9);
  }

  private addRanks({ topology, jobs, clocks, placements }: JobSources): void {
    const ranks = jobs.flatMap((job, index) =>
      Array.from(job.placement, (_, rank) => ({ clock: clocks[index], job: index, rank })),
    );
    const hostOf: HostOf = (at) => topology.gpus[placements.of(ranks[at].job)[ranks[at].rank]].host;
    this.add('rank_compute_time_s', hostOf, (at) => ranks[at].clock.computeNs(ranks[at].rank) / 1e9);
    this.add('rank_wait_time_s', hostOf, (at) => ranks[at].clock.waitNs(ranks[at].rank) / 1e9);
  }

  private addLatencies({ latencies }: JobSources): void {
    const add = (metric: MetricName, readNs: (of: JobLatencies) => number): void =>
      this.add(
        metric,
        () => -1,
        (job) => readNs(latencies[job]) / 1e9,
      );
    add('job_allreduce_latency_s', ({ allReduce }) => allReduce.meanNs);
    add('job_allreduce_latency_p99_s', ({ allReduce }) => allReduce.p99Ns);
    add('job_alltoall_latency_s', ({ allToAll }) => allToAll.meanNs);
    add('job_alltoall_latency_p99_s', ({ allToAll }) => allToAll.p99Ns);
    add('job_flow_p99_s', ({ flows }) => flows.p99Ns);
  }

  /** Elements without a series of the metric are left out. */
  private add(metric: MetricName, hostOf: HostOf, read: (index: number) => number): void {
    const numbers = this.series[metric];
    const indices = Int32Array.from(numbers.keys()).filter((index) => numbers[index] >= 0);
    if (indices.length === 0) return;
    const column = this.book.column(
      metric,
      this.clock,
      indices.map((index) => numbers[index]),
    );
    this.metrics.push({ column, read, indices, hosts: indices.map(hostOf), hostOf });
  }
}
