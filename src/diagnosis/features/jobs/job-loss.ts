/**
 * GPU time lost by each job, read off its step counter.
 *
 * Every instant lies in a step: between two readings of the counter, `n` steps at the job's normal pace should have
 * taken `n` times the normal step; what took longer is lost. The step still open at the end is lost from the moment it
 * exceeds a normal one, and a job that died loses everything from its last step on. While suspects are at work all
 * steps count together, faster ones included, and only an excess beyond the job's own noise is a loss: jobs share
 * links, and their steps beat against each other in the best of fabrics. Beside suspects, and without any, only stalls and
 * slowness that lasts are losses, for the same reason; a single step that was long in computing is work, and no loss, and the pace is
 * that of the same company of jobs: one that starts takes its share of the links. A checkpoint is no part of the step
 * after it. A restart loses the time without processes, and the steps that have to be done again.
 */
import { jobId } from '../../../core/elements.js';
import type { Job } from '../../../model/workload/job.js';
import { overlaps } from '../../series/context.js';
import type { Context, Interval } from '../../series/context.js';
import { freshSamples, stateSpans, union } from '../../series/samples.js';
import type { Sample } from '../../series/samples.js';
import { checkpoints, completedNs, JOB_STATES, observeRestarts } from './restarts.js';
import type { Restart } from './restarts.js';
import { isHeavier, timedSteps } from './quiet-step.js';
import { median, quantile, robustSpread } from '../../series/statistics.js';

export interface LossInterval extends Interval {
  /** Negative where a step was faster than normal. */
  lostNs: number;
}

export interface JobLoss {
  job: Job;
  gpus: number;
  /** Normal step time, ns; null when the job's steps are not known. */
  normalStepNs: number | null;
  /** Enough steps were free of any suspect to say what is normal; without them nothing lost may be much lost. */
  isNormalProven: boolean;
  /** Longest step in the losses, ns; null without any. */
  slowestStepNs: number | null;
  losses: LossInterval[];
  /** Time lost in the window, ns (per GPU; times `gpus` for GPU time). */
  lostNs: number;
  /** When the scheduler saw the job fail for good, ns; null when it did not. */
  diedNs: number | null;
  /** Restarts in the losses. */
  restarts: readonly Restart[];
}

interface StepReading extends Interval {
  steps: number;
  /** False where the reading opens or ends in mid-step. */
  whole: boolean;
  /** Time beyond the usual that was work, ns. */
  workNs: number;
  /** The job had no processes for a part of it, and had so many finished steps to do again afterwards. */
  redone?: number;
}

interface Pace {
  /** It is that of steps that no suspect has touched, or there is no suspect. */
  isProven: boolean;
  normalNs: number;
  spreadNs: number;
}

/** Steps that make a pace, at least. */
const FEWEST_STEPS = 5;
/** A step that starts within this many normal steps of the end of a fault still feels it. */
export const AFTER_STEPS = 2;
/** A lone slow step is a loss from here on; noise below. */
const LONE_RATIO = 0.5;
const LONE_SPREADS = 6;
/** A block of steps is a loss from here on, where no suspect says when to look. */
const LASTING_RATIO = 0.15;
const BLOCK_STEPS = 10;
/** All steps under suspects together are a loss from here on. */
const JOINT_RATIO = 0.01;
const JOINT_SPREADS = 3;
const FAST_SHARE = 0.2;
const FAST_BAND = 1.05;

/** @param suspects when culprits were at work, from onset to end; empty when there is none */
export function observeJobLosses(context: Context, suspects: readonly Interval[]): JobLoss[] {
  return context.jobs.map((job) => observeJobLoss(context, job, suspects));
}

function observeJobLoss(context: Context, job: Job, suspects: readonly Interval[]): JobLoss {
  const diedNs = deathOf(context, job);
  const restarts = context.once(observeRestarts).filter((restart) => restart.job === job);
  const single = stepReadings(context, job, diedNs, restarts);
  const known = { job, gpus: job.placement.length, diedNs, restarts };
  // a suspect tells when to look; without one only what lasts within the same company is a loss
  const parts =
    suspects.length > 0
      ? [single]
      : byCompany(context, job, excused(context, job, single)).map((part) =>
          inBlocks(part, blockSize(part.length)),
        );
  const pace = paceOf(parts.flat(), suspects);
  if (pace === null) {
    const nothing = { losses: [], lostNs: 0, slowestStepNs: null };
    return { ...known, ...nothing, normalStepNs: null, isNormalProven: false };
  }
  const losses = parts.flatMap((part) => lossesOf(part, paceOf(part, suspects) ?? pace, suspects));
  if (suspects.length > 0) losses.push(...besideSuspects(context, job, single, pace, suspects, losses));
  if (diedNs !== null && diedNs < context.window.toNs) {
    losses.push({ fromNs: diedNs, toNs: context.window.toNs, lostNs: context.window.toNs - diedNs });
  }
  losses.sort((one, other) => one.fromNs - other.fromNs);
  const slowest = Math.max(...losses.map(({ lostNs }) => lostNs + pace.normalNs));
  return {
    ...known,
    normalStepNs: pace.normalNs,
    isNormalProven: pace.isProven,
    slowestStepNs: losses.length === 0 ? null : slowest,
    losses,
    lostNs: losses.reduce((sum, { lostNs }) => sum + lostNs, 0),
  };
}

/**
 * What else is slow, and lasts: no suspect's work, and lost all the same. Long single steps are known already.
 */
function besideSuspects(
  context: Context,
  job: Job,
  readings: readonly StepReading[],
  pace: Pace,
  suspects: readonly Interval[],
  known: readonly LossInterval[],
): LossInterval[] {
  const reach = reachOf(suspects, pace.normalNs);
  const rest = excused(context, job, readings).filter(
    (reading) => ![...reach, ...known].some((other) => overlaps(other, reading)),
  );
  return byCompany(context, job, rest).flatMap((part) =>
    lossesOf(inBlocks(part, blockSize(part.length)), paceOf(part, suspects) ?? pace, []),
  );
}

/** Readings apart by which other jobs run: who starts in mid-run takes a share of the links, and that is no fault. */
function byCompany(context: Context, job: Job, readings: readonly StepReading[]): StepReading[][] {
  const changes = context.jobs
    .filter((other) => other !== job)
    .flatMap((other) => [other.startNs, completedNs(context, other) ?? Infinity])
    .filter((timeNs) => timeNs > context.window.fromNs && timeNs < context.window.toNs)
    .sort((one, other) => one - other);
  const parts: StepReading[][] = [];
  let from = 0;
  for (const changeNs of [...changes, Infinity]) {
    const part = readings.slice(from).filter(({ fromNs }) => fromNs < changeNs);
    from += part.length;
    if (part.length > 0) parts.push(part);
  }
  return parts;
}

function deathOf(context: Context, job: Job): number | null {
  const spans = stateSpans(context.read('job_state', jobId(job.name)), context.window.toNs);
  const last = spans.at(-1);
  return last?.value === JOB_STATES.failed && spans.length > 1 ? last.fromNs : null;
}

function stepReadings(
  context: Context,
  job: Job,
  diedNs: number | null,
  restarts: readonly Restart[],
): StepReading[] {
  const samples: Sample[] = freshSamples(context.read('job_steps', jobId(job.name)));
  const written = checkpoints(context, job);
  const readings: StepReading[] = [];
  for (let index = 1; index < samples.length; index++) {
    const { timeNs, value } = samples[index - 1];
    const steps = samples[index].value - value;
    const toNs = samples[index].timeNs;
    const restart = restarts.find(({ stopped }) => stopped.toNs === toNs);
    if (restart !== undefined) {
      readings.push({ fromNs: timeNs, toNs, steps: 0, whole: false, workNs: 0, redone: restart.redoneSteps });
      continue;
    }
    if (steps < 0) continue;
    const startNs = value === 0 ? Math.max(timeNs, job.startNs) : timeNs;
    const fromNs = startNs + sharedNs(written, { fromNs: startNs, toNs });
    readings.push({ fromNs, toNs, steps, whole: index > 1 || value === 0, workNs: 0 });
  }
  const last = readings.at(-1);
  const endNs = diedNs ?? completedNs(context, job) ?? context.window.toNs;
  if (last !== undefined && endNs > last.toNs) {
    const waits = restarts.some(({ resumed }) => !resumed);
    const fromNs = last.toNs + sharedNs(written, { fromNs: last.toNs, toNs: endNs });
    readings.push({
      fromNs,
      toNs: endNs,
      steps: 0,
      whole: false,
      workNs: 0,
      ...(waits ? { redone: 0 } : {}),
    });
  }
  return readings;
}

function sharedNs(spans: readonly Interval[], { fromNs, toNs }: Interval): number {
  let sum = 0;
  for (const span of spans) sum += Math.max(0, Math.min(span.toNs, toNs) - Math.max(span.fromNs, fromNs));
  return sum;
}

/** A heavy step between two usual ones. */
function excused(context: Context, job: Job, readings: readonly StepReading[]): StepReading[] {
  const steps = timedSteps(context, job);
  const usualS = median(steps.map(({ tookS }) => tookS));
  const long = steps.map((step) => step.tookS > (1 + LONE_RATIO) * usualS);
  const work = new Map<number, number>();
  steps.forEach((step, index) => {
    const lone = long[index] && !long[index - 1] && !long[index + 1];
    if (lone && isHeavier(step, steps)) work.set(step.toNs, (step.tookS - usualS) * 1e9);
  });
  return readings.map((reading) => ({ ...reading, workNs: work.get(reading.toNs) ?? 0 }));
}

/** Blocks of up to ten steps, at least ten blocks. */
const blockSize = (readings: number): number => Math.max(1, Math.min(BLOCK_STEPS, Math.floor(readings / 10)));

/** Readings of several steps in place of single ones, over which beats even out. */
function inBlocks(readings: readonly StepReading[], size: number): StepReading[] {
  const blocks: StepReading[] = [];
  let count = 0;
  for (const reading of readings) {
    const last = blocks.at(-1);
    const joins = last !== undefined && last.whole && reading.whole && count < size;
    if (joins && reading.fromNs === last.toNs) {
      last.toNs = reading.toNs;
      last.steps += reading.steps;
      last.workNs += reading.workNs;
      count++;
    } else {
      blocks.push({ ...reading });
      count = 1;
    }
  }
  return blocks;
}

/** Before the first suspect, else beside them, else the fast fifth: a pace that no fault has touched. */
function paceOf(readings: readonly StepReading[], suspects: readonly Interval[]): Pace | null {
  const whole = readings.filter((reading) => reading.whole && reading.steps > 0);
  if (whole.length === 0) return null;
  const paces = (some: readonly StepReading[]): number[] =>
    some.map((reading) => (reading.toNs - reading.fromNs) / reading.steps);
  const firstNs = Math.min(Infinity, ...suspects.map((suspect) => suspect.fromNs));
  const calm = [
    whole.filter((reading) => Number.isFinite(firstNs) && reading.toNs <= firstNs),
    whole.filter((reading) => suspects.length > 0 && !suspects.some((suspect) => overlaps(suspect, reading))),
  ].find((some) => some.length >= FEWEST_STEPS);
  const all = paces(calm ?? whole);
  const usual = calm === undefined ? fastSteps(all) : withoutOutliers(all);
  return {
    isProven: suspects.length === 0 || calm !== undefined,
    normalNs: usual.reduce((sum, pace) => sum + pace, 0) / usual.length,
    spreadNs: spreadOf(usual),
  };
}

/** Spread of one step as it matters for sums: beats cancel over a few steps, so sums wander less than steps do. */
function spreadOf(paces: readonly number[]): number {
  const alone = robustSpread(paces);
  const blocks: number[] = [];
  for (let from = 0; from + FEWEST_STEPS <= paces.length; from += FEWEST_STEPS) {
    const block = paces.slice(from, from + FEWEST_STEPS);
    blocks.push(block.reduce((sum, pace) => sum + pace, 0) / FEWEST_STEPS);
  }
  return blocks.length < 4 ? alone : Math.min(alone, Math.sqrt(FEWEST_STEPS) * robustSpread(blocks));
}

function fastSteps(paces: readonly number[]): number[] {
  const fast = quantile(paces, FAST_SHARE);
  return paces.filter((pace) => pace <= fast * FAST_BAND);
}

function withoutOutliers(paces: readonly number[]): number[] {
  const limit = (1 + LONE_RATIO) * median(paces);
  return paces.filter((pace) => pace <= limit);
}

/** When suspects may be felt. */
const reachOf = (suspects: readonly Interval[], normalNs: number): Interval[] =>
  union(suspects.map(({ fromNs, toNs }) => ({ fromNs, toNs: toNs + AFTER_STEPS * normalNs })));

function lossesOf(
  readings: readonly StepReading[],
  { normalNs, spreadNs }: Pace,
  suspects: readonly Interval[],
): LossInterval[] {
  const reach = reachOf(suspects, normalNs);
  const excess = ({ fromNs, toNs, steps, workNs, redone }: StepReading): LossInterval => {
    const tookNs = toNs - fromNs - workNs;
    if (redone !== undefined) return { fromNs, toNs, lostNs: tookNs + redone * normalNs };
    // An open step is no loss before it exceeds a normal one.
    return { fromNs, toNs, lostNs: steps > 0 ? tookNs - steps * normalNs : Math.max(0, tookNs - normalNs) };
  };
  const lone = readings.filter((reading) => !reach.some((suspect) => overlaps(suspect, reading)));
  const losses = lone.map(excess).filter(({ lostNs, fromNs, toNs }) => {
    const share = suspects.length > 0 ? LONE_RATIO * normalNs : LASTING_RATIO * (toNs - fromNs - lostNs);
    return lostNs > Math.max(share, LONE_SPREADS * spreadNs);
  });
  for (const suspect of reach) {
    const joint = readings.filter((reading) => overlaps(suspect, reading)).map(excess);
    const lostNs = joint.reduce((sum, interval) => sum + interval.lostNs, 0);
    const tookNs = joint.reduce((sum, { fromNs, toNs }) => sum + toNs - fromNs, 0);
    const noiseNs = JOINT_SPREADS * spreadNs * Math.sqrt(joint.length);
    if (lostNs > Math.max(JOINT_RATIO * tookNs, noiseNs)) losses.push(...joint);
  }
  return losses;
}
