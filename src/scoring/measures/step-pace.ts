/**
 * The pace of a job: q(t), its throughput as a share of its own pace before the fault.
 *
 * Every instant lies in one step, from the end of the step before to its own end. q there is T0 / T, at most 1, with
 * T0 the median step time before injection. The step that was not finished when the drill ended is censored: its q
 * is at most T0 / elapsed. A restart (its counter rises, or the step counter goes back) means no progress in the interval
 * that it ends, and the steps between are redone. Checkpoints are the job's own business and part of its pace as long
 * as they take no longer than the longest before the fault; what they take beyond that is lost.
 * Not modelled: progress inside a step, batches of changing size.
 */
import type { EvidenceIndex } from '../../model/telemetry/series.js';
import { QUALITY } from '../../model/telemetry/series.js';
import { jobId } from '../../core/elements.js';
import type { Job } from '../../model/workload/job.js';
import { freshSamples } from './samples.js';
import type { Span } from './samples.js';
import { clamp, deviation, median, NS_PER_S } from './statistics.js';

/** A job is back when it holds this share of its pace, less what its steps scattered by before … */
export const RECOVERED_PACE = 0.95;
/** … for this long, and for two of its usual steps at least. */
const HOLD_NS = 2 * NS_PER_S;
const HOLD_STEPS = 2;
/** Steps that a median before the fault needs. */
const BASELINE_STEPS_MIN = 3;
/** Step times are differences of large instants: what they lose in the last digits is no loss of pace. */
const ROUNDING = 1e-9;

export interface PaceInterval {
  fromNs: number;
  toNs: number;
  /** 0..1; an upper bound when censored. */
  q: number;
  censored: boolean;
}

export interface JobPace {
  job: string;
  gpus: number;
  /** T0, ns. */
  stepNs: number;
  /** Standard deviation of q before the fault. */
  noise: number;
  intervals: readonly PaceInterval[];
  redoneSteps: number;
}

interface StepSpan {
  fromNs: number;
  toNs: number;
  /** Steps finished in it; more than one when a sample was lost, negative after a restart that lost some. */
  steps: number;
  /** It ends with the job's processes at work again. */
  restart: boolean;
  /** Part of it that went into a checkpoint of usual length, ns. */
  checkpointNs: number;
}

/** Values of `job_state` in the catalogue. */
const STATE = { failed: 0, waiting: 2, complete: 3 } as const;

function stepSpans(index: EvidenceIndex, job: Job, injectedNs: number, endNs: number): StepSpan[] {
  const samples = freshSamples(index.get('job_steps', jobId(job.name))).filter(
    ({ timeNs }) => timeNs <= endNs,
  );
  const restarts = restartsOf(index, job);
  const checkpoints = checkpointsOf(index, job, injectedNs);
  const spans: StepSpan[] = [];
  let openNs: number | undefined;
  for (let at = 1; at < samples.length; at++) {
    const toNs = samples[at].timeNs;
    const steps = samples[at].value - samples[at - 1].value;
    const restart = steps < 0 || restarts.has(toNs);
    const fromNs = openNs ?? Math.max(samples[at - 1].timeNs, job.startNs);
    // A counter that was read again without a new step goes with the step that comes.
    openNs = steps === 0 && !restart ? fromNs : undefined;
    if (openNs !== undefined || toNs <= fromNs) continue;
    const checkpointNs = restart ? 0 : overlapNs(checkpoints, fromNs, toNs);
    spans.push({ fromNs, toNs, steps, restart, checkpointNs });
  }
  return spans;
}

/** Instants at which the counter of restarts rose. */
function restartsOf(index: EvidenceIndex, job: Job): Set<number> {
  const samples = freshSamples(index.get('job_restarts', jobId(job.name)));
  return new Set(
    samples.filter(({ value }, at) => at > 0 && value > samples[at - 1].value).map(({ timeNs }) => timeNs),
  );
}

/** When the job wrote checkpoints, each for no longer than the longest before the fault, or the median without any. */
function checkpointsOf(index: EvidenceIndex, job: Job, injectedNs: number): Span[] {
  const samples = freshSamples(index.get('job_checkpoint_time_s', jobId(job.name)));
  const before = samples.filter(({ timeNs }) => timeNs <= injectedNs).map(({ value }) => value);
  const usualS = before.length > 0 ? Math.max(...before) : median(samples.map(({ value }) => value));
  return samples.map(({ timeNs, value }) => {
    const fromNs = timeNs - value * NS_PER_S;
    return { fromNs, toNs: fromNs + Math.min(value, usualS) * NS_PER_S };
  });
}

function overlapNs(spans: readonly Span[], fromNs: number, toNs: number): number {
  let sum = 0;
  for (const span of spans) sum += Math.max(0, Math.min(span.toNs, toNs) - Math.max(span.fromNs, fromNs));
  return sum;
}

/** Whether the newest word on the job's steps is that nothing can be said. */
function silent(index: EvidenceIndex, job: Job): boolean {
  const quality = index.get('job_steps', jobId(job.name))?.quality;
  return quality === undefined || quality.at(-1) === QUALITY.notAvailable;
}

/** The open interval after the last finished step, or restart. */
function unfinished(
  index: EvidenceIndex,
  job: Job,
  fromNs: number,
  endNs: number,
  stepNs: number,
): PaceInterval[] {
  if (endNs <= fromNs) return [];
  const state = freshSamples(index.get('job_state', jobId(job.name))).at(-1)?.value;
  // Who is done loses nothing any more.
  if (state === STATE.complete) return [{ fromNs, toNs: endNs, q: 1, censored: false }];
  if (state === STATE.failed || state === STATE.waiting) {
    return [{ fromNs, toNs: endNs, q: 0, censored: false }];
  }
  const writtenNs = overlapNs(checkpointsOf(index, job, endNs), fromNs, endNs);
  const q = clamp(stepNs / (endNs - fromNs - writtenNs), 0, 1);
  return [{ fromNs, toNs: endNs, q, censored: true }];
}

/** A checkpoint comes first, as the job's own business; then the step at its pace. */
function intervalsOf(
  { fromNs, toNs, steps, restart, checkpointNs }: StepSpan,
  stepNs: number,
): PaceInterval[] {
  const whole = { fromNs: fromNs + checkpointNs, toNs, censored: false };
  if (restart) return [{ ...whole, q: 0 }];
  const q = clamp((stepNs * steps) / (toNs - whole.fromNs), 0, 1);
  const step = { ...whole, q: q > 1 - ROUNDING ? 1 : q };
  return checkpointNs > 0 ? [{ fromNs, toNs: whole.fromNs, q: 1, censored: false }, step] : [step];
}

/**
 * @param injectedNs end of the baseline
 * @returns null when the evidence does not tell: no step log, fewer than three steps before the fault, N/A at the end
 */
export function jobPace(index: EvidenceIndex, job: Job, injectedNs: number, endNs: number): JobPace | null {
  const spans = stepSpans(index, job, injectedNs, endNs);
  const baseline = spans.filter((span) => span.toNs <= injectedNs && !span.restart);
  const finished = baseline.reduce((sum, span) => sum + span.steps, 0);
  if (finished < BASELINE_STEPS_MIN || silent(index, job)) return null;
  const stepTimes = baseline.flatMap(({ fromNs, toNs, steps, checkpointNs }) =>
    Array.from({ length: steps }, () => (toNs - fromNs - checkpointNs) / steps),
  );
  const stepNs = median(stepTimes);
  const lastNs = spans[spans.length - 1].toNs;
  return {
    job: job.name,
    gpus: job.placement.length,
    stepNs,
    noise: deviation(stepTimes.map((time) => stepNs / time)),
    intervals: [
      ...spans.flatMap((span) => intervalsOf(span, stepNs)),
      ...unfinished(index, job, lastNs, endNs, stepNs),
    ],
    redoneSteps: spans.reduce((sum, span) => sum + Math.max(0, -span.steps), 0),
  };
}

/** Time lost between two instants: the integral of 1 - q, ns. */
export function lostNs(pace: JobPace, fromNs: number, toNs: number): number {
  let lost = 0;
  for (const interval of pace.intervals) {
    const overlapNs = Math.min(interval.toNs, toNs) - Math.max(interval.fromNs, fromNs);
    if (overlapNs > 0) lost += (1 - interval.q) * overlapNs;
  }
  return lost;
}

/** Mean pace between two instants. */
export const meanPace = (pace: JobPace, fromNs: number, toNs: number): number =>
  1 - lostNs(pace, fromNs, toNs) / (toNs - fromNs);

/** How long a job must hold its pace to count as back, ns. */
export const holdNs = (pace: JobPace): number => Math.max(HOLD_NS, HOLD_STEPS * pace.stepNs);

/** Sigmas of a step's scatter that are chance, and the largest that a quiet baseline may have. */
const SIGMAS = 3;
const MOST_NOISE = 0.1;

/**
 * How far below its pace before, 0..1, so many steps of a job may lie on average: 5 %, or what chance explains.
 */
const shortfall = (pace: JobPace, steps: number): number =>
  Math.max(1 - RECOVERED_PACE, (SIGMAS * Math.min(pace.noise, MOST_NOISE)) / Math.sqrt(steps));

/**
 * The first instant from which a job holds 95 % of its pace long enough: each step by itself and all of them together,
 * as far as the scatter of its steps before the fault lets that be told.
 * @returns null when it does not within what was observed
 */
export function backAtNs(pace: JobPace, fromNs: number): number | null {
  const needNs = holdNs(pace);
  const seen = pace.intervals.filter(({ toNs }) => toNs > fromNs);
  for (let first = 0; first < seen.length; first++) {
    const sinceNs = Math.max(seen[first].fromNs, fromNs);
    if (holdsFrom(pace, seen, first, sinceNs + needNs)) return sinceNs;
  }
  return null;
}

/** Whether the steps from one on, up to the one that ends at an instant or later, hold the pace. */
function holdsFrom(pace: JobPace, seen: readonly PaceInterval[], first: number, untilNs: number): boolean {
  let sum = 0;
  for (let at = first; at < seen.length; at++) {
    const { q, censored, toNs } = seen[at];
    // An unfinished step proves nothing: its q is only an upper bound.
    if (censored || q < 1 - shortfall(pace, 1)) return false;
    sum += q;
    const steps = at - first + 1;
    if (toNs >= untilNs) return sum / steps >= 1 - shortfall(pace, steps);
  }
  return false;
}
