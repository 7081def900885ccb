/**
 * Whether a verdict's citations are true, and whether they cover what the fault showed.
 *
 * Precision punishes made-up evidence: a cited series must exist and truly differ from what there would have been
 * without the fault (the twin of the same seed, or the series' own past where there is no twin). Coverage asks for
 * each metric that truly differs on an element of the fault or on an exposed job: was one of those series cited? The
 * list of metrics is what moved, not what anybody expected to move. Citations for a culprit that answers no fault
 * cover nothing, and count against precision where they are untrue: naming more can't make an answer better founded.
 */
import { METRICS } from '../../model/telemetry/catalog.js';
import { EvidenceIndex, type Series } from '../../model/telemetry/series.js';
import type { Culprit } from '../../diagnosis/verdict.js';
import { changedAtNs } from '../measures/change.js';
import { faultElements, seriesOn, symptomElements } from '../measures/fault-elements.js';
import type { ScoringInput } from '../input.js';
import { differsFromTwin } from '../measures/twin.js';

export interface EvidenceQuality {
  coverage: number | null;
  precision: number | null;
}

const key = (metric: string, element: string): string => `${metric} ${element}`;

/** @param answer the culprits that the verdict stands by; `hits` are those of them that answer a fault */
export function evidenceQuality(
  input: ScoringInput,
  answer: readonly Culprit[],
  hits: ReadonlySet<Culprit>,
  injectedNs: number,
): EvidenceQuality {
  const { topology, exposedJobs } = input;
  const index = new EvidenceIndex(input.evidence);
  const moved = moves(input, injectedNs);
  const citedBy = (culprits: readonly Culprit[]): Map<string, Series | undefined> =>
    new Map(
      culprits.flatMap(({ evidence }) =>
        evidence.map(({ metric, element }) => [key(metric, element), index.get(metric, element)] as const),
      ),
    );
  const cited = [...citedBy(answer.filter((culprit) => hits.has(culprit)))];
  const trulyMoved = cited
    .filter(([, series]) => series !== undefined && moved(series))
    .map(([name]) => name);
  const strays = [...citedBy(answer.filter((culprit) => !hits.has(culprit))).values()];
  const untrue = strays.filter((series) => series === undefined || !moved(series)).length;
  const founded = new Set(trulyMoved);
  const jobs = input.jobs.filter((job) => exposedJobs === null || exposedJobs.includes(job.name));
  const ids = symptomElements(topology, faultElements(topology, input.truth), jobs);
  let shown = 0;
  let covered = 0;
  for (const { name } of METRICS) {
    const there = seriesOn(index, [name], ids);
    const isCited = there.some((series) => founded.has(key(series.metric, series.element)));
    if (!isCited && !there.some(moved)) continue;
    shown++;
    if (isCited) covered++;
  }
  const total = cited.length + untrue;
  return {
    coverage: shown === 0 ? null : covered / shown,
    precision: total === 0 ? null : trulyMoved.length / total,
  };
}

/** Whether a series truly changed because of the fault, as far as can be told. */
function moves(input: ScoringInput, injectedNs: number): (series: Series) => boolean {
  const { twin, endNs } = input;
  if (twin === undefined || twin === null) return (series) => changedAtNs(series, injectedNs, endNs) !== null;
  const calm = new EvidenceIndex(twin);
  return (series) => differsFromTwin(series, calm.get(series.metric, series.element), injectedNs, endNs);
}
