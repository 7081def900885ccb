/**
 * Whose fault the lost GPU time is: each slow interval goes to the culprits that were at work when it was lost.
 *
 * Slow steps that follow each other are one run, so that after-effects (retransmission timers, a late failback) stay
 * with their cause; a step that ended before the onset is nobody's. Only those on a possible way of the job's flows, or
 * hosts of its ranks, are asked, and nobody is blamed for much more than its own evidence can have cost (cost.ts). Where
 * several were at work, one that was there before the others keeps to what it costs when it is alone; the rest is
 * split by the time for which they overlap with the run. A job whose flows only meet those of one that crosses the
 * culprit counts a tenth, and only while that one is late itself.
 */
import { ownLossNs, toldLossNs } from './cost.js';
import type { Explanation } from './explanation.js';
import { AFTER_STEPS } from './features/jobs/job-loss.js';
import type { JobLoss, LossInterval } from './features/jobs/job-loss.js';
import { waysOf } from './paths.js';
import type { Way } from './paths.js';
import { overlaps } from './series/context.js';
import type { Context, Interval } from './series/context.js';
import { cutOut, union } from './series/samples.js';

export interface Attribution {
  /** Share of all GPU time lost, per culprit; null when nothing was lost or steps are not known. */
  shares: (number | null)[];
  /** GPU time lost in the window, ns summed over GPUs. */
  lostGpuNs: number;
  /** Share of the GPU time of all jobs that was lost; null when steps are not known. */
  lossRatio: number | null;
  /** A job told steps, and too few of them were free of the culprits to know its pace without them. */
  isPaceUnproven: boolean;
  /** Per culprit, its own part of each job's loss: the intervals it had a hand in, and the time it is blamed for. */
  affected: JobLoss[][];
}

const OFF_PATH_WEIGHT = 0.1;
/** Alone for so many steps of a job, a culprit shows what it costs by itself. */
const FEWEST_ALONE_STEPS = 5;

export function attribute(
  context: Context,
  culprits: readonly Explanation[],
  losses: readonly JobLoss[],
): Attribution {
  const known = losses.filter((loss) => loss.normalStepNs !== null);
  const lostGpuNs = known.reduce((sum, loss) => sum + loss.lostNs * loss.gpus, 0);
  const windowNs = context.window.toNs - context.window.fromNs;
  const gpuNs = known.reduce((sum, loss) => sum + loss.gpus * windowNs, 0);
  const blamed = culprits.map(() => 0);
  const affected: JobLoss[][] = culprits.map(() => []);
  const ways = culprits.map((culprit) => waysOf(context, culprit));
  for (const loss of known) {
    const place = context.jobs.indexOf(loss.job);
    const suspects = culprits.map((culprit, index): Suspect => ({
      culprit,
      way: ways[index][place],
      toldNs: toldLossNs(context, culprit, loss),
      until: {
        fromNs: culprit.during.fromNs,
        toNs: culprit.during.toNs + AFTER_STEPS * (loss.normalStepNs ?? 0),
      },
      onsetNs: culprit.onsetNs ?? context.window.fromNs,
    }));
    splitLoss(suspects, loss, losses).forEach((part, index) => {
      blamed[index] += part.lostNs * loss.gpus;
      if (part.lostNs > 0) affected[index].push(ownPart(loss, part));
    });
  }
  return {
    shares: blamed.map((ns) => (lostGpuNs > 0 ? Number(Math.min(1, ns / lostGpuNs).toPrecision(6)) : null)),
    lostGpuNs,
    lossRatio: gpuNs > 0 ? lostGpuNs / gpuNs : null,
    isPaceUnproven: known.some((loss) => !loss.isNormalProven),
    affected,
  };
}

interface Part {
  lostNs: number;
  losses: LossInterval[];
}

/** A culprit as one job sees it. */
interface Suspect {
  culprit: Explanation;
  way: Way;
  /** What it cost the job by its own evidence, ns. */
  toldNs: number;
  /** When it was at work, after-effects included. */
  until: Interval;
  onsetNs: number;
}

/** What one culprit did to a job, in the shape of the whole. */
function ownPart(loss: JobLoss, { lostNs, losses }: Part): JobLoss {
  const died = losses.some(({ fromNs }) => fromNs === loss.diedNs);
  const longest = Math.max(...losses.map((interval) => interval.lostNs));
  return {
    ...loss,
    lostNs,
    losses,
    slowestStepNs: longest + (loss.normalStepNs ?? 0),
    diedNs: died ? loss.diedNs : null,
    restarts: loss.restarts.filter(({ stopped }) =>
      losses.some(({ fromNs, toNs }) => stopped.fromNs < toNs && stopped.toNs > fromNs),
    ),
  };
}

function splitLoss(suspects: readonly Suspect[], loss: JobLoss, all: readonly JobLoss[]): Part[] {
  const parts = suspects.map((): Part => ({ lostNs: 0, losses: [] }));
  const alone = suspects.map((_, index) => costAlone(suspects, index, loss));
  for (const run of runsOf(loss.losses)) {
    const whole: Interval = { fromNs: run[0].fromNs, toNs: run[run.length - 1].toNs };
    const weights = suspects.map((suspect) => sharedNs(whole, suspect.until) * nearness(suspect, whole, all));
    for (const interval of run) {
      const present = weights.map((weight, index) => (interval.toNs > suspects[index].onsetNs ? weight : 0));
      const blame = blameOf(interval, present, suspects, alone);
      blame.forEach((lostNs, index) => {
        if (present[index] === 0) return;
        parts[index].lostNs += lostNs;
        parts[index].losses.push(interval);
      });
    }
  }
  parts.forEach((part, index) => (part.lostNs = ownLossNs(part.lostNs, suspects[index].toldNs)));
  return parts;
}

/** How much a suspect counts for what a job lost in a run of slow steps. */
function nearness({ way, toldNs }: Suspect, run: Interval, all: readonly JobLoss[]): number {
  if (toldNs === 0) return 0;
  if (way.crosses) return 1;
  const isLateToo = way.meets.some((job) =>
    all[job].losses.some((interval) => interval.lostNs > 0 && overlaps(interval, run)),
  );
  return isLateToo ? OFF_PATH_WEIGHT : 0;
}

/** What each loses of one slow interval: those who were there before keep to what they cost alone, others share the rest. */
function blameOf(
  interval: LossInterval,
  present: readonly number[],
  suspects: readonly Suspect[],
  alone: readonly (number | null)[],
): number[] {
  const isPresent = (index: number): boolean => present[index] > 0;
  const latestNs = Math.max(...suspects.flatMap(({ onsetNs }, index) => (isPresent(index) ? [onsetNs] : [])));
  const tookNs = interval.toNs - interval.fromNs;
  // what would have been lost anyway, while the job stood still for the others, is shared with them
  const stopped = Math.min(1, Math.max(0, interval.lostNs / Math.max(1, tookNs)));
  const expected = suspects.map(({ onsetNs, until }, index) =>
    isPresent(index) && onsetNs < latestNs && sharedNs(interval, until) > 0
      ? (alone[index] ?? NaN) * sharedNs(interval, until) * (1 - stopped / 2)
      : NaN,
  );
  const isSteady = expected.map((ns) => !Number.isNaN(ns));
  const steadyNs = expected.reduce((sum, ns) => sum + (Number.isNaN(ns) ? 0 : Math.max(0, ns)), 0);
  const left = present.reduce((sum, weight, index) => sum + (isSteady[index] ? 0 : weight), 0);
  const scale = steadyNs > interval.lostNs ? Math.max(0, interval.lostNs) / Math.max(1, steadyNs) : 1;
  const restNs = interval.lostNs - steadyNs * scale;
  return present.map((weight, index) => {
    if (weight === 0) return 0;
    return isSteady[index] ? Math.max(0, expected[index]) * scale : (restNs * weight) / left;
  });
}

/** What a job loses in a part of the time in which one of several suspects is at work alone; null where that is too short. */
function costAlone(suspects: readonly Suspect[], index: number, loss: JobLoss): number | null {
  const others = suspects.filter((other, place) => place !== index && other.toldNs > 0);
  if (others.length === 0) return null;
  const free = cutOut([suspects[index].until], union(others.map(({ until }) => until)));
  const freeNs = free.reduce((sum, { fromNs, toNs }) => sum + toNs - fromNs, 0);
  if (freeNs < FEWEST_ALONE_STEPS * (loss.normalStepNs ?? Infinity)) return null;
  const lostNs = loss.losses.reduce((sum, interval) => {
    const part = free.reduce((ns, one) => ns + sharedNs(one, interval), 0);
    return sum + (interval.lostNs * part) / Math.max(1, interval.toNs - interval.fromNs);
  }, 0);
  return Math.max(0, lostNs) / freeNs;
}

/** Losses that follow each other without a normal step in between. */
function runsOf(losses: readonly LossInterval[]): LossInterval[][] {
  const runs: LossInterval[][] = [];
  for (const interval of losses) {
    const last = runs.at(-1);
    if (last !== undefined && interval.fromNs <= last[last.length - 1].toNs) last.push(interval);
    else runs.push([interval]);
  }
  return runs;
}

const sharedNs = (one: Interval, other: Interval): number =>
  Math.max(0, Math.min(one.toNs, other.toNs) - Math.max(one.fromNs, other.fromNs));
