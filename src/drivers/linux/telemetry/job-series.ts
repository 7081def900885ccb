/**
 * Jobs' own reports as series: lines of the log when they come, figures of profilers when they are polled.
 *
 * The job reports instants of the machine's monotonic clock; series count from the drill's start. What a dead worker no
 * longer tells is missing, not repeated.
 */
import { deviceId, edgeId, jobId, rankId } from '../../../core/elements.js';
import type { MetricName } from '../../../model/telemetry/catalog.js';
import type { Topology } from '../../../model/topology/model.js';
import { busBandwidthFactor, type CollectiveKind, type Job } from '../../../model/workload/job.js';
import type { EdgeSample, JobListener, StepSummary } from '../job/job-events.js';
import type { SeriesStore } from './series-store.js';

export interface JobsView {
  placementOf(job: number): Int32Array;
  holdsGpus(job: number): boolean;
  isDrained(host: number): boolean;
}

/** Figures of a job since the last poll. */
interface Recent {
  allReduceS: number[];
  flowS: number[];
  lastStep: StepSummary | undefined;
  edges: Map<string, EdgeSample>;
  restarts: number;
  redone: number;
}

export class JobSeries implements JobListener {
  private readonly recent: Recent[];

  constructor(
    private readonly store: SeriesStore,
    private readonly topology: Topology,
    private readonly jobs: readonly Job[],
    private readonly view: JobsView,
    /** Instant of the machine's clock → ns of the drill. */
    private readonly sinceStart: (atNs: number) => number,
  ) {
    this.recent = jobs.map(() => ({
      allReduceS: [],
      flowS: [],
      lastStep: undefined,
      edges: new Map<string, EdgeSample>(),
      restarts: 0,
      redone: 0,
    }));
    jobs.forEach((_, job) => {
      this.log(job, 'job_restarts', 0, 0);
      this.log(job, 'job_redone_steps', 0, 0);
      this.log(job, 'job_checkpoint_time_s', 0, NaN);
      this.log(job, 'job_completion_time_s', 0, NaN);
    });
  }

  started(job: number, atNs: number): void {
    this.change(job, 'job_state', atNs, 1);
    this.log(job, 'job_steps', this.sinceStart(atNs), 0);
    this.hostsChanged(atNs);
  }

  stepEnded(job: number, summary: StepSummary): void {
    const timeNs = this.sinceStart(summary.endedNs);
    const { durationNs, computeNs, collectives } = summary;
    this.log(job, 'job_steps', timeNs, summary.step);
    this.log(job, 'job_step_time_s', timeNs, durationNs / 1e9);
    this.log(job, 'job_gpu_utilisation', timeNs, Math.min(1, Math.max(0, ...computeNs) / durationNs));
    const [first] = collectives;
    if (first !== undefined) {
      const largest = collectives.reduce((one, other) => (other.bytes > one.bytes ? other : one), first);
      const algorithm = largest.bytes / Math.max(1, largest.tookNs);
      const factor = busBandwidthFactor(largest.type as CollectiveKind, largest.ranks);
      this.log(job, 'job_algbw_gbytes_per_s', timeNs, algorithm);
      this.log(job, 'job_busbw_gbytes_per_s', timeNs, algorithm * factor);
    }
    const recent = this.recent[job];
    recent.lastStep = summary;
    for (const { type, tookNs } of collectives) {
      recent.flowS.push(tookNs / 1e9);
      if (type === 'all-reduce') recent.allReduceS.push(tookNs / 1e9);
    }
  }

  edgeCounted(job: number, edge: EdgeSample): void {
    this.recent[job].edges.set(`${edge.fromRank}-${edge.toRank}`, edge);
  }

  checkpointWritten(job: number, atNs: number, tookNs: number): void {
    this.log(job, 'job_checkpoint_time_s', this.sinceStart(atNs), tookNs / 1e9);
  }

  failed(job: number, atNs: number): void {
    this.change(job, 'job_state', atNs, 0);
    this.hostsChanged(atNs);
  }

  stopped(job: number, atNs: number): void {
    this.change(job, 'job_state', atNs, 2);
    this.hostsChanged(atNs);
  }

  resumed(job: number, atNs: number, step: number, redone: number): void {
    const recent = this.recent[job];
    const timeNs = this.sinceStart(atNs);
    this.change(job, 'job_state', atNs, 1);
    this.log(job, 'job_steps', timeNs, step);
    this.log(job, 'job_restarts', timeNs, ++recent.restarts);
    this.change(job, 'job_redone_steps', atNs, (recent.redone += redone));
    this.hostsChanged(atNs);
  }

  completed(job: number, atNs: number, tookNs: number): void {
    this.change(job, 'job_state', atNs, 3);
    this.log(job, 'job_completion_time_s', this.sinceStart(atNs), tookNs / 1e9);
    this.hostsChanged(atNs);
  }

  hostsChanged(atNs: number): void {
    const used = new Map<number, number>();
    this.jobs.forEach((_, job) => {
      if (!this.view.holdsGpus(job)) return;
      for (const gpu of this.view.placementOf(job)) {
        const { host } = this.topology.gpus[gpu];
        used.set(host, (used.get(host) ?? 0) + 1);
      }
    });
    const timeNs = this.sinceStart(atNs);
    for (const { index, name, role } of this.topology.devices) {
      if (role !== 'host') continue;
      this.store.change('host_drained', deviceId(name), timeNs, Number(this.view.isDrained(index)));
      this.store.change('host_allocated_gpus', deviceId(name), timeNs, used.get(index) ?? 0);
    }
  }

  /** What the profilers say now. */
  poll(timeNs: number): void {
    this.jobs.forEach((job, index) => {
      const recent = this.recent[index];
      this.log(index, 'job_allreduce_latency_s', timeNs, mean(recent.allReduceS));
      this.log(index, 'job_allreduce_latency_p99_s', timeNs, nearestRank(recent.allReduceS, 0.99));
      this.log(index, 'job_flow_p99_s', timeNs, nearestRank(recent.flowS, 0.99));
      recent.allReduceS = [];
      recent.flowS = [];
      this.pollRanks(job, recent.lastStep, timeNs);
      for (const edge of recent.edges.values()) this.pollEdge(job, edge);
      recent.edges.clear();
    });
  }

  private pollRanks({ name }: Job, step: StepSummary | undefined, timeNs: number): void {
    step?.computeNs.forEach((computeNs, rank) => {
      this.store.add('rank_compute_time_s', rankId(name, rank), timeNs, computeNs / 1e9);
      this.store.add('rank_wait_time_s', rankId(name, rank), timeNs, step.waitNs[rank] / 1e9);
    });
  }

  private pollEdge({ name }: Job, edge: EdgeSample): void {
    const element = edgeId(name, edge.fromRank, edge.toRank);
    const timeNs = this.sinceStart(edge.atNs);
    this.store.add('edge_tx_bytes', element, timeNs, edge.deliveredBytes);
    this.store.add('edge_stalled_s', element, timeNs, edge.stalledNs / 1e9);
  }

  private log(job: number, metric: MetricName, timeNs: number, value: number): void {
    this.store.add(metric, jobId(this.jobs[job].name), timeNs, value);
  }

  private change(job: number, metric: MetricName, atNs: number, value: number): void {
    this.store.change(metric, jobId(this.jobs[job].name), this.sinceStart(atNs), value);
  }
}

const mean = (values: readonly number[]): number =>
  values.length === 0 ? NaN : values.reduce((sum, value) => sum + value, 0) / values.length;

function nearestRank(values: readonly number[], share: number): number {
  if (values.length === 0) return NaN;
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.ceil(share * sorted.length) - 1];
}
