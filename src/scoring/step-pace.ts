/**
 * The pace of a job: q(t), its throughput as a share of its own pace before the fault.
 *
 * Every instant lies in one step, from the end of the step before to its own end. q there is T0 / T, at most 1, with
 * T0 the median step time before injection. The step that was not finished when the drill ended is censored: its q
 * is at most T0 / elapsed. A step counter that goes back is a restart from a checkpoint: no progress in that
 * interval, and the steps between are redone. Not modelled: progress inside a step, batches of changing size.
 */
import type { EvidenceIndex } from '../telemetry/series.js';
import { QUALITY } from '../telemetry/series.js';
import { jobId } from '../kernel/elements.js';
import type { Job } from '../workload/job.js';
import { freshSamples } from './samples.js';
import { clamp, deviation, median, NS_PER_S } from './statistics.js';

/** A job is back when it holds this share of its pace … */
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
  /** Steps finished in it; more than one when a sample was lost, negative after a restart. */
  steps: number;
}

function stepSpans(index: EvidenceIndex, job: Job, endNs: number): StepSpan[] {
  const samples = freshSamples(index.get('job_steps', jobId(job.name))).filter(
    ({ timeNs }) => timeNs <= endNs,
  );
  const spans: StepSpan[] = [];
  for (let at = 1; at < samples.length; at++) {
    const steps = samples[at].value - samples[at - 1].value;
    const fromNs = Math.max(samples[at - 1].timeNs, job.startNs);
    if (steps !== 0 && samples[at].timeNs > fromNs) spans.push({ fromNs, toNs: samples[at].timeNs, steps });
  }
  return spans;
}

/** Whether the newest word on the job's steps is that nothing can be said. */
function silent(index: EvidenceIndex, job: Job): boolean {
  const quality = index.get('job_steps', jobId(job.name))?.quality;
  return quality === undefined || quality.at(-1) === QUALITY.notAvailable;
}

/** The open interval after the last finished step. */
function unfinished(
  index: EvidenceIndex,
  job: Job,
  fromNs: number,
  endNs: number,
  stepNs: number,
): PaceInterval[] {
  if (endNs <= fromNs) return [];
  const state = freshSamples(index.get('job_state', jobId(job.name))).at(-1);
  const dead = state !== undefined && state.value === 0;
  const q = dead ? 0 : clamp(stepNs / (endNs - fromNs), 0, 1);
  return [{ fromNs, toNs: endNs, q, censored: !dead }];
}

/**
 * @param injectedNs end of the baseline
 * @returns null when the evidence does not tell: no step log, fewer than three steps before the fault, N/A at the end
 */
export function jobPace(index: EvidenceIndex, job: Job, injectedNs: number, endNs: number): JobPace | null {
  const spans = stepSpans(index, job, endNs);
  const baseline = spans.filter((span) => span.toNs <= injectedNs && span.steps > 0);
  const finished = baseline.reduce((sum, span) => sum + span.steps, 0);
  if (finished < BASELINE_STEPS_MIN || silent(index, job)) return null;
  const stepTimes = baseline.flatMap((span) =>
    Array.from({ length: span.steps }, () => (span.toNs - span.fromNs) / span.steps),
  );
  const stepNs = median(stepTimes);
  const pace = (span: StepSpan): number => {
    const q = span.steps < 0 ? 0 : clamp((stepNs * span.steps) / (span.toNs - span.fromNs), 0, 1);
    return q > 1 - ROUNDING ? 1 : q;
  };
  const intervals: PaceInterval[] = spans.map((span) => ({
    fromNs: span.fromNs,
    toNs: span.toNs,
    q: pace(span),
    censored: false,
  }));
  const lastNs = spans[spans.length - 1].toNs;
  return {
    job: job.name,
    gpus: job.placement.length,
    stepNs,
    noise: deviation(stepTimes.map((time) => stepNs / time)),
    intervals: [...intervals, ...unfinished(index, job, lastNs, endNs, stepNs)],
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

/**
 * The first instant from which a job holds 95 % of its pace long enough.
 * @returns null when it does not within what was observed
 */
export function backAtNs(pace: JobPace, fromNs: number): number | null {
  const needNs = holdNs(pace);
  let sinceNs: number | null = null;
  for (const interval of pace.intervals) {
    if (interval.toNs <= fromNs) continue;
    // An unfinished step proves nothing: its q is only an upper bound.
    if (interval.censored || interval.q < RECOVERED_PACE) sinceNs = null;
    else sinceNs ??= Math.max(interval.fromNs, fromNs);
    if (sinceNs !== null && interval.toNs - sinceNs >= needNs) return sinceNs;
  }
  return null;
}
