/**
 * When could it have been known? The diagnosis is asked again with what had been seen a second, two seconds, … after
 * the last of the faults came, until it names every fault first and exactly.
 *
 * The verdict of the run is sealed before; this only measures. The figure is the end of the shortest window that
 * sufficed, so it is never better than the polls allow. Large fabrics are left out: there one diagnosis takes seconds.
 */
import { diagnose } from '../diagnosis/index.js';
import { scoreExplainability } from '../scoring/explainability/explainability.js';
import type { ScoringInput } from '../scoring/input.js';
import { windowOf } from '../model/telemetry/window.js';

/** Seconds after the last fault came at which it is asked. */
const ASKED_S = [1, 2, 3, 4, 5, 7, 10, 15, 20, 30] as const;
const MOST_GPUS = 1024;

/** @param working called back now and then @returns seconds from when the last of the faults came; null when it is not known, or nothing that was seen sufficed */
export function timeToExplainS(input: ScoringInput, working: () => void): number | null {
  const { topology, jobs, evidence, injectedNs, endNs, truth } = input;
  if (injectedNs === null || truth.length === 0 || topology.gpus.length > MOST_GPUS) return null;
  const lastNs = Math.max(...truth.map(({ fromNs }) => fromNs));
  for (const seconds of ASKED_S) {
    const toNs = lastNs + seconds * 1e9;
    if (toNs > endNs) return null;
    const seen = windowOf(evidence, evidence.fromNs, toNs);
    const verdict = diagnose({ topology, jobs, evidence: seen }, working);
    if (verdict.faultFound !== true) continue;
    const { top1, top3 } = scoreExplainability({ ...input, evidence: seen, verdict, twin: null }).metrics;
    if (top1 === 1 && top3 === 1) return seconds;
  }
  return null;
}
