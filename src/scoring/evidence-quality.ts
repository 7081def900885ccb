/**
 * Whether a verdict's citations are true, and whether they cover what the fault showed.
 *
 * Precision punishes made-up evidence: a cited series must exist and have truly changed after the injection. Coverage
 * asks for each metric that the fault kind is known to move: if it did move on an element of the fault, was one of
 * those changed series cited? A symptom that did not show in the evidence is asked of nobody.
 */
import { EvidenceIndex } from '../telemetry/series.js';
import type { Culprit } from '../diagnosis/verdict.js';
import { changedAtNs } from './change.js';
import { faultElements, seriesOn, symptomElements } from './fault-elements.js';
import type { ScoringInput } from './input.js';

export interface EvidenceQuality {
  coverage: number | null;
  precision: number | null;
}

const key = (metric: string, element: string): string => `${metric} ${element}`;

/** @param answer the culprits that the verdict stands by */
export function evidenceQuality(
  input: ScoringInput,
  answer: readonly Culprit[],
  injectedNs: number,
): EvidenceQuality {
  const { topology, endNs, exposedJobs } = input;
  const index = new EvidenceIndex(input.evidence);
  const cited = new Map(
    answer.flatMap((culprit) => culprit.evidence.map((one) => [key(one.metric, one.element), one] as const)),
  );
  const trulyChanged = new Set<string>();
  for (const [name, { metric, element }] of cited) {
    const series = index.get(metric, element);
    if (series !== undefined && changedAtNs(series, injectedNs, endNs) !== null) trulyChanged.add(name);
  }
  const jobs = input.jobs.filter((job) => exposedJobs === null || exposedJobs.includes(job.name));
  const ids = symptomElements(topology, faultElements(topology, input.truth), jobs);
  let shown = 0;
  let covered = 0;
  for (const metric of new Set(input.expectedMetrics)) {
    const moved = seriesOn(index, [metric], ids).filter(
      (series) => changedAtNs(series, injectedNs, endNs) !== null,
    );
    if (moved.length === 0) continue;
    shown++;
    if (moved.some((series) => trulyChanged.has(key(series.metric, series.element)))) covered++;
  }
  return {
    coverage: shown === 0 ? null : covered / shown,
    precision: cited.size === 0 ? null : trulyChanged.size / cited.size,
  };
}
