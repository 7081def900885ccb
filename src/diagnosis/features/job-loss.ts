/**
 * GPU time lost by each job, read off its step counter.
 *
 * Every instant lies in a step: between two readings of the counter, `n` steps at the job's normal pace should have
 * taken `n` times the normal step; what took longer is lost. The step still open at the end of the window is lost from
 * the moment it exceeds a normal one, and a job that died loses everything from then on. The normal pace is found
 * without knowing when a fault began: the median of the steps within 5 % of the fast fifth of all steps, so that even
 * a window mostly full of slow steps has a sound baseline. Not modelled: steps redone after a restart.
 */
import { jobId } from '../../kernel/elements.js';
import type { Job } from '../../workload/job.js';
import type { Context, Interval } from './context.js';
import { freshSamples, stateSpans } from './samples.js';
import type { Sample } from './samples.js';
import { median, quantile, robustSpread } from './statistics.js';

export interface LossInterval extends Interval {
  lostNs: number;
}

export interface JobLoss {
  job: Job;
  gpus: number;
  /** Normal step time, ns; null when the job's steps are not known. */
  normalStepNs: number | null;
  /** Longest step, ns; null as above. */
  slowestStepNs: number | null;
  slow: LossInterval[];
  /** Time lost in the window, ns (per GPU; times `gpus` for GPU time). */
  lostNs: number;
  /** When the scheduler saw the job fail, ns; null when it did not. */
  diedNs: number | null;
}

/** Slower than this by comparison is slow; below it is noise. */
const SLOW_RATIO = 0.02;
const SLOW_SPREADS = 4;
const FAST_SHARE = 0.2;
const FAST_BAND = 1.05;

interface StepReading extends Interval {
  steps: number;
  /** False where the reading opens in mid-step. */
  whole: boolean;
}

export function observeJobLosses(context: Context): JobLoss[] {
  return context.jobs.map((job) => observeJobLoss(context, job));
}

function observeJobLoss(context: Context, job: Job): JobLoss {
  const gpus = job.placement.length;
  const diedNs = deathOf(context, job);
  const untilNs = diedNs ?? context.window.toNs;
  const samples = freshSamples(context.read('job_steps', jobId(job.name)));
  const readings = stepReadings(job, samples);
  const paces = readings
    .filter((reading) => reading.whole && reading.steps > 0)
    .map((reading) => (reading.toNs - reading.fromNs) / reading.steps);
  if (paces.length === 0) {
    return { job, gpus, normalStepNs: null, slowestStepNs: null, slow: [], lostNs: 0, diedNs };
  }
  const fast = quantile(paces, FAST_SHARE);
  const normal = paces.filter((pace) => pace <= fast * FAST_BAND);
  const normalStepNs = median(normal);
  const allowedNs = Math.max(SLOW_RATIO * normalStepNs, SLOW_SPREADS * robustSpread(normal));
  const slow = readings
    .map(({ fromNs, toNs, steps }) => ({ fromNs, toNs, lostNs: toNs - fromNs - steps * normalStepNs, steps }))
    .filter(({ lostNs, steps }) => lostNs > allowedNs * Math.max(1, steps))
    .map(({ fromNs, toNs, lostNs }): LossInterval => ({ fromNs, toNs, lostNs }));
  const lastNs = samples[samples.length - 1].timeNs;
  const openNs = untilNs - lastNs;
  if (openNs > normalStepNs + allowedNs) {
    slow.push({ fromNs: lastNs, toNs: untilNs, lostNs: diedNs === null ? openNs - normalStepNs : openNs });
  }
  if (diedNs !== null && diedNs < context.window.toNs) {
    slow.push({ fromNs: diedNs, toNs: context.window.toNs, lostNs: context.window.toNs - diedNs });
  }
  return {
    job,
    gpus,
    normalStepNs,
    slowestStepNs: Math.max(...paces, openNs),
    slow,
    lostNs: slow.reduce((sum, interval) => sum + interval.lostNs, 0),
    diedNs,
  };
}

function deathOf(context: Context, job: Job): number | null {
  const spans = stateSpans(context.read('job_state', jobId(job.name)), context.window.toNs);
  const dead = spans.find((span, index) => span.value === 0 && index > 0 && spans[index - 1].value === 1);
  return dead?.fromNs ?? null;
}

function stepReadings(job: Job, samples: readonly Sample[]): StepReading[] {
  const readings: StepReading[] = [];
  for (let index = 1; index < samples.length; index++) {
    const { timeNs, value } = samples[index - 1];
    const steps = samples[index].value - value;
    if (steps < 0) continue;
    const fromNs = value === 0 ? Math.max(timeNs, job.startNs) : timeNs;
    readings.push({ fromNs, toNs: samples[index].timeNs, steps, whole: index > 1 || value === 0 });
  }
  return readings;
}
