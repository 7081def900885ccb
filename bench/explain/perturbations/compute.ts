/**
 * GPUs and hosts that are not all alike, and steps that are not all of a length.
 *
 * One GPU model spreads by 8 % on average over five clusters (Sinha et al., SC'22); large language models in one room
 * rather by 1 %. From step to step a rank varies by 0.4 to 1.5 %, and a job feels the slowest of its ranks.
 */
import { jobId, rankId } from '../../../src/core/elements.js';
import type { DiagnosisInput } from '../../../src/diagnosis/index.js';
import type { Evidence } from '../../../src/model/telemetry/series.js';
import { edited, withValues } from './edits.js';
import { normal, pickOne, uniform, type Perturbation } from './perturbation.js';

/** How many times as long as recorded a rank computes. */
type Factor = (rank: string, timeNs: number, index: number) => number;

/** What a rank computes longer it waits less, as long as it waits: its step stays as long as it was. */
function computing(evidence: Evidence, factor: Factor): Evidence {
  const more = new Map<string, Map<number, number>>();
  const longer = edited(evidence, (series) => {
    if (series.metric !== 'rank_compute_time_s') return series;
    const added = new Map<number, number>();
    more.set(series.element, added);
    return withValues(series, (old, timeNs, index) => {
      const value = old * factor(series.element, timeNs, index);
      added.set(timeNs, value - old);
      return value;
    });
  });
  return edited(longer, (series) =>
    series.metric === 'rank_wait_time_s'
      ? withValues(series, (old, timeNs) => Math.max(0, old - (more.get(series.element)?.get(timeNs) ?? 0)))
      : series,
  );
}

/** Steps that take longer: those after them end later. */
function stretched(
  evidence: Evidence,
  job: string,
  extraS: (timeNs: number, tookS: number) => number,
): Evidence {
  const id = jobId(job);
  const times = evidence.series.find(({ metric, element }) => metric === 'job_step_time_s' && element === id);
  if (times === undefined) return evidence;
  const ends = [...times.timesNs];
  let sum = 0;
  const late = ends.map((timeNs, index) => (sum += extraS(timeNs, times.values[index]) * 1e9));
  const lateAt = (timeNs: number): number => late[ends.findLastIndex((end) => end <= timeNs)] ?? 0;
  return edited(evidence, (series) => {
    if (series.element !== id || series.metric === 'job_state') return series;
    const moved =
      series.metric === 'job_step_time_s'
        ? withValues(series, (old, timeNs) => old + extraS(timeNs, old))
        : series;
    const timesNs = series.timesNs.map((timeNs) => timeNs + lateAt(timeNs));
    const count = timesNs.findLastIndex((timeNs) => timeNs <= evidence.toNs) + 1;
    return {
      metric: moved.metric,
      element: moved.element,
      timesNs: timesNs.slice(0, count),
      values: moved.values.slice(0, count),
      quality: moved.quality.slice(0, count),
    };
  });
}

const ranksOf = ({ jobs }: DiagnosisInput): { job: string; rank: number; gpu: number }[] =>
  jobs.flatMap(({ name, placement }) => Array.from(placement, (gpu, rank) => ({ job: name, rank, gpu })));

const LAST = { least: 0.02, most: 0.05 };
const THROTTLE = { least: 0.03, most: 0.1 };

export const COMPUTE: readonly Perturbation[] = [
  {
    name: 'rank-scatter',
    what: "each rank's compute time scatters by 1.5 % from poll to poll",
    apply: ({ evidence }, seed) => ({
      evidence: computing(evidence, (rank, _, index) => 1 + 0.015 * normal(seed, 'scatter', rank, index)),
    }),
  },
  {
    name: 'gpu-spread',
    what: 'GPUs differ by 1 % for good, and by 0.3 % a poll',
    apply: ({ evidence }, seed) => ({
      evidence: computing(
        evidence,
        (rank, _, index) =>
          (1 + 0.01 * normal(seed, 'gpu', rank)) * (1 + 0.003 * normal(seed, 'poll', rank, index)),
      ),
    }),
  },
  {
    name: 'rank-always-last',
    what: 'one rank of a job is always last, by 2 to 5 %',
    apply: (world, seed) => {
      const { job, rank } = pickOne(ranksOf(world), seed, 'last') ?? { job: '', rank: 0 };
      const extra = LAST.least + (LAST.most - LAST.least) * uniform(seed, 'by');
      return {
        evidence: computing(
          world.evidence,
          (element, _, index) =>
            (element === rankId(job, rank) ? 1 + extra : 1) *
            (1 + 0.004 * normal(seed, 'poll', element, index)),
        ),
      };
    },
  },
  {
    name: 'slow-steps',
    what: 'steps vary by 0.4 % a rank, and one in ten is 1 to 3 % longer',
    apply: ({ jobs, evidence }, seed) => {
      const noisy = computing(evidence, (rank, _, index) => 1 + 0.004 * normal(seed, 'step', rank, index));
      const longer = (job: string) => (timeNs: number, tookS: number) =>
        uniform(seed, 'long', job, timeNs) < 0.1
          ? tookS * (0.01 + 0.02 * uniform(seed, 'by', job, timeNs))
          : 0;
      return { evidence: jobs.reduce((known, { name }) => stretched(known, name, longer(name)), noisy) };
    },
  },
  {
    name: 'midday',
    what: 'all computing slows by 1.5 % and comes back (heat at midday)',
    apply: ({ jobs, evidence }) => {
      const { fromNs, toNs } = evidence;
      const share = (timeNs: number): number =>
        0.015 * Math.sin((Math.PI * (timeNs - fromNs)) / (toNs - fromNs));
      const slower = edited(evidence, (series) =>
        series.metric === 'rank_compute_time_s'
          ? withValues(series, (old, timeNs) => old * (1 + share(timeNs)))
          : series,
      );
      const longer = (timeNs: number, tookS: number): number => tookS * share(timeNs);
      return { evidence: jobs.reduce((known, { name }) => stretched(known, name, longer), slower) };
    },
  },
  {
    name: 'throttle',
    what: 'one GPU throttles by 3 to 10 % for the second half (compute, at most)',
    apply: (world, seed) => {
      const one = pickOne(ranksOf(world), seed, 'throttled');
      if (one === undefined) return null;
      const extra = THROTTLE.least + (THROTTLE.most - THROTTLE.least) * uniform(seed, 'by');
      const sinceNs = (world.evidence.fromNs + world.evidence.toNs) / 2;
      const element = rankId(one.job, one.rank);
      const slow = computing(world.evidence, (rank, timeNs) =>
        rank === element && timeNs > sinceNs ? 1 + extra : 1,
      );
      const usual = slow.series.find(
        (series) => series.metric === 'rank_compute_time_s' && series.element === element,
      );
      const computeS = usual?.values.find((value) => value > 0) ?? 0;
      const { topology } = world;
      return {
        evidence: stretched(slow, one.job, (timeNs) => (timeNs > sinceNs ? extra * computeS : 0)),
        troubled: [`device:${topology.devices[topology.gpus[one.gpu].host].name}`, element],
      };
    },
  },
];
