/**
 * Which hosts compute slower than their peers, from timers around the computing part of every rank's steps.
 *
 * A step waits for its slowest rank, so a slow GPU slows all, and all but its own ranks report waiting. Ranks of a job do
 * the same work: a rank is slow where it computes longer than the faster ranks of its job did at that time. Comparing
 * with peers and not with the past keeps a heavier batch from looking like a slow host. Polls are grouped by their
 * nearest common instant, since hosts are not polled together. A job within one host has no peers to compare with.
 */
import { rankId } from '../../kernel/elements.js';
import type { MetricName } from '../../telemetry/catalog.js';
import type { Job } from '../../workload/job.js';
import type { Context, Interval } from './context.js';
import { freshSamples } from './samples.js';
import type { Sample } from './samples.js';
import { median, quantile } from './statistics.js';

/** Computing longer than peers by this share is slow; ranks of a healthy job differ by less. */
const SLOW_RATIO = 0.03;
/** The peers' pace is that of the faster ones: up to three quarters of a job may be slow. */
const PEERS_SHARE = 0.25;
/** With fewer of the ranks' answers in a round, those may all be slow ones. */
const FEWEST_PEERS = 0.4;
/** A rank is slow from so many slow polls on: one may be a hiccup. */
const FEWEST_POLLS = 2;

export interface SlowRank {
  job: Job;
  rank: number;
  host: number;
  /** Median of its compute time over that of its peers, while it was slow. */
  ratio: number;
  /** From the poll before the first slow one to the last slow one. */
  during: Interval;
  firstSlowNs: number;
  /** False when it was slow in its first poll, so that there is no past to compare with. */
  hadPast: boolean;
}

export interface ComputeObservation {
  host: number;
  /** Ranks on the host whose compute times, and those of their peers on other hosts, were read. */
  compared: number;
  slow: SlowRank[];
}

export function observeCompute(context: Context): ComputeObservation[] {
  const hosts = new Map<number, ComputeObservation>();
  for (const job of context.jobs) {
    const polls = compareWithPeers(context, job, 'rank_compute_time_s', PEERS_SHARE);
    polls.forEach((own, rank) => {
      if (own.length === 0) return;
      const { host } = context.topology.gpus[job.placement[rank]];
      const known = hosts.get(host) ?? { host, compared: 0, slow: [] };
      hosts.set(host, known);
      known.compared++;
      const slow = slowRank(context, job, rank, own);
      if (slow !== null) known.slow.push(slow);
    });
  }
  return [...hosts.values()].sort((one, other) => one.host - other.host);
}

/**
 * By rank: its samples, each divided by the peers' value at that time; empty without peers.
 * @param share quantile of all ranks' values that stands for the peers
 */
export function compareWithPeers(context: Context, job: Job, metric: MetricName, share: number): Sample[][] {
  const own = Array.from(job.placement, (_, rank) =>
    freshSamples(context.read(metric, rankId(job.name, rank))),
  );
  const hosts = new Set(job.placement.map((gpu) => context.topology.gpus[gpu].host));
  const intervalNs = pollIntervalNs(own);
  if (hosts.size < 2 || intervalNs === 0) return own.map(() => []);
  const round = ({ timeNs }: Sample): number => Math.round(timeNs / intervalNs);
  const together = new Map<number, number[]>();
  for (const sample of own.flat()) {
    const values = together.get(round(sample));
    if (values === undefined) together.set(round(sample), [sample.value]);
    else values.push(sample.value);
  }
  const peers = new Map<number, number>();
  for (const [at, values] of together) {
    if (values.length > job.placement.length * FEWEST_PEERS) peers.set(at, quantile(values, share));
  }
  return own.map((samples) =>
    samples.flatMap((sample) => {
      const pace = peers.get(round(sample));
      return pace === undefined || pace <= 0 ? [] : [{ timeNs: sample.timeNs, value: sample.value / pace }];
    }),
  );
}

function pollIntervalNs(series: readonly (readonly Sample[])[]): number {
  const steps = series.flatMap((samples) =>
    samples.slice(1, 20).map(({ timeNs }, index) => timeNs - samples[index].timeNs),
  );
  return steps.length === 0 ? 0 : Math.round(median(steps));
}

function slowRank(
  { topology, window }: Context,
  job: Job,
  rank: number,
  ratios: readonly Sample[],
): SlowRank | null {
  const slow = ratios.filter(({ value }) => value > 1 + SLOW_RATIO);
  if (slow.length < FEWEST_POLLS) return null;
  const first = ratios.indexOf(slow[0]);
  return {
    job,
    rank,
    host: topology.gpus[job.placement[rank]].host,
    ratio: median(slow.map(({ value }) => value)),
    during: {
      fromNs: first === 0 ? window.fromNs : ratios[first - 1].timeNs,
      toNs: slow[slow.length - 1].timeNs,
    },
    firstSlowNs: slow[0].timeNs,
    hadPast: first > 0,
  };
}
