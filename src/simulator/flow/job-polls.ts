/**
 * What the profilers beside the ranks of all jobs say when they are polled: of rank pairs, and of ranks.
 *
 * A profiler runs on the host of its rank (of a pair: of the sending one) and goes down with it.
 */
import type { MetricName } from '../../telemetry/catalog.js';
import type { PollClock } from '../../telemetry/columns/poll-clock.js';
import type { PollColumn } from '../../telemetry/columns/poll-column.js';
import type { Topology } from '../../topology/model.js';
import type { Job } from '../../workload/job.js';
import type { Connections } from './connections.js';
import type { Counters } from './counters.js';
import type { SeriesNumbers } from './device-polls.js';
import type { PhysicalLayer } from './physical-layer.js';
import type { QpTimers } from './qp-timers.js';
import type { RankClocks } from './rank-clocks.js';
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
}

/** A metric with the host that tells it, by element. */
interface PolledMetric {
  column: PollColumn;
  read: (index: number) => number;
  indices: Int32Array;
  hosts: Int32Array;
}

export class JobPolls {
  private readonly metrics: PolledMetric[] = [];
  private readonly deviceUp: Uint8Array;
  private nowNs = 0;

  constructor(
    sources: JobSources,
    private readonly book: SeriesBook,
    private readonly series: SeriesNumbers,
    readonly clock: PollClock,
  ) {
    this.deviceUp = sources.physical.deviceUp;
    this.addEdges(sources);
    this.addRanks(sources);
  }

  poll(nowNs: number): void {
    this.nowNs = nowNs;
    const round = this.clock.rounds++;
    for (const { column, read, indices, hosts } of this.metrics) {
      column.begin();
      column.fill(0, indices.length, indices, read);
      for (let place = 0; place < hosts.length; place++) {
        if (hosts[place] >= 0 && this.deviceUp[hosts[place]] === 0) column.skip(place, place + 1);
      }
      this.book.disturb(column, round);
    }
  }

  private addEdges({ topology, connections, counters, timers }: JobSources): void {
    const hosts = Int32Array.from(connections.all, ({ sourceNic }) => topology.nics[sourceNic].host);
    this.add('edge_tx_bytes', hosts, (edge) => Math.floor(counters.delivered[edge]));
    this.add('edge_stalled_s', hosts, (edge) => timers.stalledNs(this.nowNs, edge) / 1e9);
  }

  private addRanks({ topology, jobs, clocks }: JobSources): void {
    const ranks = jobs.flatMap((job, index) =>
      Array.from(job.placement, (gpu, rank) => ({
        clock: clocks[index],
        rank,
        host: topology.gpus[gpu].host,
      })),
    );
    const hosts = Int32Array.from(ranks, ({ host }) => host);
    this.add('rank_compute_time_s', hosts, (at) => ranks[at].clock.computeNs(ranks[at].rank) / 1e9);
    this.add('rank_wait_time_s', hosts, (at) => ranks[at].clock.waitNs(ranks[at].rank) / 1e9);
  }

  /** @param hosts by element: the host without which nobody tells; -1 for what the scheduler or framework tells */
  private add(metric: MetricName, hosts: Int32Array, read: (index: number) => number): void {
    if (hosts.length === 0 || this.series[metric][0] < 0) return;
    const column = this.book.column(metric, this.clock, this.series[metric]);
    this.metrics.push({ column, read, indices: Int32Array.from(hosts.keys()), hosts });
  }
}
