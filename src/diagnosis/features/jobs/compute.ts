/**
 * Which hosts compute slower than their peers, from timers around the computing part of every rank's steps.
 *
 * A step waits for its slowest rank, so a slow GPU slows all, and all but its own ranks report waiting. Ranks of a job do
 * the same work: each is compared with the faster ranks of its job at that time, so that a heavier batch looks like no
 * slow host, and then with itself at other times (slow-stretch.ts). It counts by what the job would gain without it:
 * somebody is always last. Polls are grouped by their nearest common instant, since hosts are not polled together. A
 * job within one host has no peers to compare with.
 */
import { jobId, rankId } from '../../../core/elements.js';
import type { MetricName } from '../../../model/telemetry/catalog.js';
import type { Job } from '../../../model/workload/job.js';
import type { Context, Interval } from '../../series/context.js';
import { Room } from '../../series/room.js';
import { freshColumn, samplesWithin } from '../../series/samples.js';
import type { Column, Sample } from '../../series/samples.js';
import { median, quantile } from '../../series/statistics.js';
import { THRESHOLDS } from '../../likelihoods.js';
import { populationOf, slowStretch } from './slow-stretch.js';
import type { Stretch } from './slow-stretch.js';

/** The peers' pace is that of the faster ones: up to three quarters of a job may be slow. */
const PEERS_SHARE = 0.25;
/** With fewer of the ranks' answers in a round, those may all be slow ones. */
const FEWEST_PEERS = 0.4;

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
  /** What its job would gain without it, as a share of a step. */
  cost: number;
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
    const peers = peersOf(context, job, 'rank_compute_time_s', PEERS_SHARE);
    const population = populationOf(context, job, (rank) => ratiosTo(peers, rank));
    const suspects: Suspect[] = [];
    job.placement.forEach((gpu, rank) => {
      const ratios = ratiosTo(peers, rank);
      if (ratios.count === 0) return;
      const { host } = context.topology.gpus[gpu];
      const known = hosts.get(host) ?? { host, compared: 0, slow: [] };
      hosts.set(host, known);
      known.compared++;
      const stretch = slowStretch(ratios, population);
      if (stretch !== null)
        suspects.push({ ...stretch, rank, host, timesNs: ratios.timesNs.slice(0, ratios.count) });
    });
    for (const one of costly(context, job, peers, suspects)) hosts.get(one.host)?.slow.push(one);
  }
  return [...hosts.values()].sort((one, other) => one.host - other.host);
}

type Suspect = Stretch & { rank: number; host: number; timesNs: Float64Array };

/** Those that the rest of the job waited for, long enough to be worth a name. */
function costly(context: Context, job: Job, peers: Peers, suspects: readonly Suspect[]): SlowRank[] {
  if (suspects.length === 0) return [];
  const others = slowestElsewhere(context, job, peers, new Set(suspects.map(({ host }) => host)));
  return suspects.flatMap(({ rank, host, timesNs, first, last, ratio }) => {
    const during = { fromNs: first === 0 ? context.window.fromNs : timesNs[first - 1], toNs: timesNs[last] };
    const firstSlowNs = timesNs[first];
    const cost = costOf(context, job, rank, { fromNs: firstSlowNs, toNs: during.toNs }, peers, others);
    if (cost < THRESHOLDS.unexplainedLoss) return [];
    return [{ job, rank, host, ratio, during, firstSlowNs, hadPast: first > 0, cost }];
  });
}

/** By round, the longest time that a rank on none of some hosts computed. */
function slowestElsewhere(
  { topology }: Context,
  job: Job,
  { columns, intervalNs }: Peers,
  hosts: ReadonlySet<number>,
): ReadonlyMap<number, number> {
  const slowest = new Map<number, number>();
  columns.forEach(({ count, timesNs, values }, rank) => {
    if (hosts.has(topology.gpus[job.placement[rank]].host)) return;
    for (let at = 0; at < count; at++) {
      const round = Math.round(timesNs[at] / intervalNs);
      slowest.set(round, Math.max(slowest.get(round) ?? 0, values[at]));
    }
  });
  return slowest;
}

/** What the job would gain if the rank computed as long as the slowest of the others: the job waits for those anyway. */
function costOf(
  context: Context,
  job: Job,
  rank: number,
  during: Interval,
  { columns, intervalNs, paces }: Peers,
  others: ReadonlyMap<number, number>,
): number {
  const gains: number[] = [];
  const { count, timesNs, values } = columns[rank];
  for (let at = 0; at < count; at++) {
    if (timesNs[at] < during.fromNs || timesNs[at] > during.toNs) continue;
    const round = Math.round(timesNs[at] / intervalNs);
    const without = others.get(round) ?? paces.get(round);
    if (without !== undefined) gains.push(values[at] - without);
  }
  const steps = samplesWithin(context.read('job_step_time_s', jobId(job.name)), during).map(
    ({ value }) => value,
  );
  const stepS = median(steps.length > 0 ? steps : values.subarray(0, count));
  return gains.length === 0 ? 0 : median(gains) / stepS;
}

/** What all ranks of a job told of a metric, and the pace of the peers in each round of polls; none without peers. */
interface Peers {
  columns: readonly Column[];
  intervalNs: number;
  paces: ReadonlyMap<number, number>;
}

/** @param share quantile of all ranks' values that stands for the peers */
function peersOf(context: Context, job: Job, metric: MetricName, share: number): Peers {
  const columns = Array.from(job.placement, (_, rank) =>
    freshColumn(context.read(metric, rankId(job.name, rank))),
  );
  const hosts = new Set(job.placement.map((gpu) => context.topology.gpus[gpu].host));
  const intervalNs = pollIntervalNs(columns);
  const paces = new Map<number, number>();
  if (hosts.size < 2 || intervalNs === 0) return { columns, intervalNs, paces };
  const together = new Map<number, number[]>();
  for (const { count, timesNs, values } of columns) {
    for (let at = 0; at < count; at++) {
      const round = Math.round(timesNs[at] / intervalNs);
      const known = together.get(round);
      if (known === undefined) together.set(round, [values[at]]);
      else known.push(values[at]);
    }
  }
  for (const [round, values] of together) {
    const pace = values.length > job.placement.length * FEWEST_PEERS ? quantile(values, share) : 0;
    if (pace > 0) paces.set(round, pace);
  }
  return { columns, intervalNs, paces };
}

const ROOMS = { times: new Room(), ratios: new Room() };

/** Samples of a rank, each divided by the peers' value at that time. Good until the next. */
function ratiosTo({ columns, intervalNs, paces }: Peers, rank: number): Column {
  const own = columns[rank];
  if (paces.size === 0) return { count: 0, timesNs: own.timesNs, values: own.values };
  const [timesNs, values] = [ROOMS.times.take(own.count), ROOMS.ratios.take(own.count)];
  let count = 0;
  for (let at = 0; at < own.count; at++) {
    const pace = paces.get(Math.round(own.timesNs[at] / intervalNs));
    if (pace === undefined) continue;
    timesNs[count] = own.timesNs[at];
    values[count++] = own.values[at] / pace;
  }
  return { count, timesNs, values };
}

/** By rank: its samples, each divided by the peers' value at that time; empty without peers. */
export function compareWithPeers(
  context: Context,
  job: Job,
  ranks: readonly number[],
  metric: MetricName,
  share: number,
): Sample[][] {
  const peers = peersOf(context, job, metric, share);
  return ranks.map((rank) => {
    const { count, timesNs, values } = ratiosTo(peers, rank);
    return Array.from({ length: count }, (_, at) => ({ timeNs: timesNs[at], value: values[at] }));
  });
}

/** Steps of each rank that are looked at. */
const STEPS_ASKED = 19;

function pollIntervalNs(columns: readonly Column[]): number {
  const steps: number[] = [];
  for (const { count, timesNs } of columns) {
    for (let at = 1; at < count && at <= STEPS_ASKED; at++) steps.push(timesNs[at] - timesNs[at - 1]);
  }
  return steps.length === 0 ? 0 : Math.round(median(steps));
}
