/**
 * The recovery score: how much training was lost, how soon it was back, whether it is really back after the repair.
 *
 * Pace, its censoring and its level (95 %) are in step-pace.ts. Resilience loss is Bruneau's triangle, normalised to
 * the observed time from injection on. A value that did not come back in time is "not recovered", never a big
 * number. Formulas and a worked example: docs/scoring.md.
 */
import { EvidenceIndex } from '../../model/telemetry/series.js';
import { firstDetection, seriesOfFault } from './detection.js';
import { failback } from './failback.js';
import { faultElements } from '../measures/fault-elements.js';
import type { ScoringInput } from '../input.js';
import { DEFAULT_PROFILE, weighted } from '../profile.js';
import { timeToRerouteNs } from './reroute.js';
import { SCORE_METRICS } from '../scorecard.js';
import type { MetricValue, Score } from '../scorecard.js';
import { NS_PER_S, clamp, decay } from '../measures/statistics.js';
import { backAtNs, holdNs, jobPace, lostNs } from '../measures/step-pace.js';
import type { JobPace } from '../measures/step-pace.js';

export interface RecoveryFigures {
  recovered: boolean | null;
  time_to_recover_s: number | null;
  failed_back: boolean | null;
  failback_s: number | null;
  resilience_loss: number | null;
  ettr: number | null;
}

/** 0..100 from the published figures; null when one that it rests on is not known. */
export function recoveryScore(figures: RecoveryFigures, profile = DEFAULT_PROFILE): number | null {
  const { recovered, failed_back: failedBack, resilience_loss: loss, ettr } = figures;
  if (recovered === null || failedBack === null || loss === null || ettr === null) return null;
  const { weights, halfLife } = profile.recovery;
  const part = (reached: boolean, seconds: number | null): number =>
    reached && seconds !== null ? decay(seconds, halfLife / NS_PER_S) : 0;
  const share = weighted(weights, {
    recover: part(recovered, figures.time_to_recover_s),
    failback: part(failedBack, figures.failback_s),
    pace: 1 - clamp(loss, 0, 1),
    ettr: clamp(ettr, 0, 1),
  });
  return clamp(100 * share, 0, 100);
}

interface PaceFigures {
  recoveredAtNs: number | null;
  recovered: boolean | null;
  resilienceLoss: number | null;
}

function paceFigures(paces: readonly (JobPace | null)[], injectedNs: number, endNs: number): PaceFigures {
  const known = paces.filter((pace): pace is JobPace => pace !== null);
  const windowNs = endNs - injectedNs;
  if (known.length === 0 || known.length < paces.length || windowNs <= 0) {
    return { recoveredAtNs: null, recovered: null, resilienceLoss: null };
  }
  const gpus = known.reduce((sum, pace) => sum + pace.gpus, 0);
  const lost = known.reduce((sum, pace) => sum + pace.gpus * lostNs(pace, injectedNs, endNs), 0);
  const resilienceLoss = clamp(lost / (gpus * windowNs), 0, 1);
  const backs = known.map((pace) => backAtNs(pace, injectedNs));
  if (backs.every((back): back is number => back !== null)) {
    return { recoveredAtNs: Math.max(...backs), recovered: true, resilienceLoss };
  }
  // Too short a watch says nothing about a job that had no time to prove itself.
  const tooShort = known.some((pace, at) => backs[at] === null && windowNs < holdNs(pace));
  return { recoveredAtNs: null, recovered: tooShort ? null : false, resilienceLoss };
}

/** GPU time lost by all jobs, redone steps included, ns; null when one job's pace is not known. */
function lostGpuNs(paces: readonly (JobPace | null)[], injectedNs: number, endNs: number): number | null {
  let lost = 0;
  for (const pace of paces) {
    if (pace === null) return null;
    lost += pace.gpus * (lostNs(pace, injectedNs, endNs) + pace.redoneSteps * pace.stepNs);
  }
  return paces.length === 0 ? null : lost;
}

const seconds = (ns: number | null): number | null => (ns === null ? null : ns / NS_PER_S);

const unknownScore = (): Score => ({
  score: null,
  metrics: Object.fromEntries(SCORE_METRICS.recovery.map((name) => [name, null])),
});

/** Recovery from evidence; all null for a control, which has nothing to recover from. */
export function scoreRecovery(input: ScoringInput): Score {
  const { topology, jobs, injectedNs, revertedNs, endNs, exposedJobs } = input;
  if (injectedNs === null || input.truth.length === 0) return unknownScore();
  const index = new EvidenceIndex(input.evidence);
  const elements = faultElements(topology, input.truth);
  const everyPace = jobs.map((job) => jobPace(index, job, injectedNs, endNs));
  const exposedPaces = everyPace.filter(
    (_, at) => exposedJobs === null || exposedJobs.includes(jobs[at].name),
  );
  const { recoveredAtNs, recovered, resilienceLoss } = paceFigures(exposedPaces, injectedNs, endNs);
  const detectedNs = firstDetection(seriesOfFault(input, index, elements), injectedNs, endNs)?.atNs ?? null;
  const rerouteNs = timeToRerouteNs(index, topology, elements, injectedNs, revertedNs ?? endNs);
  const back =
    revertedNs === null || exposedPaces.includes(null)
      ? { failedBack: null, afterNs: null }
      : failback(index, topology, elements, exposedPaces as JobPace[], {
          fromNs: input.evidence.fromNs,
          injectedNs,
          revertedNs,
          endNs,
        });
  const lost = lostGpuNs(everyPace, injectedNs, endNs);
  const gpuNs = jobs.reduce((sum, job) => sum + job.placement.length, 0) * (endNs - injectedNs);
  const redone = everyPace.includes(null)
    ? null
    : (everyPace as JobPace[]).reduce((sum, pace) => sum + pace.redoneSteps, 0);
  const figures = {
    time_to_detect_s: seconds(detectedNs === null ? null : detectedNs - injectedNs),
    time_to_reroute_s: seconds(rerouteNs),
    time_to_recover_s: seconds(recoveredAtNs === null ? null : recoveredAtNs - injectedNs),
    recovered,
    failback_s: seconds(back.afterNs),
    failed_back: back.failedBack,
    resilience_loss: resilienceLoss,
    lost_gpu_hours: lost === null ? null : lost / NS_PER_S / 3600,
    redone_steps: redone,
    ettr: lost === null || gpuNs <= 0 ? null : clamp(1 - lost / gpuNs, 0, 1),
  } satisfies Record<(typeof SCORE_METRICS.recovery)[number], MetricValue>;
  // A target that carried nothing was no trial: its spotless figures must not read as a score.
  return {
    score: input.targetBytesInBaseline === true ? recoveryScore(figures, input.profile) : null,
    metrics: figures,
  };
}
