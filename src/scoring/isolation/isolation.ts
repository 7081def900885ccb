/**
 * The isolation score: who suffered that had nothing to do with the fault.
 *
 * Jobs whose paths crossed the target at injection are exposed, all others are bystanders, the control group. A
 * bystander is a victim when its pace, during the fault or after the repair, falls by more than 2 % and more than
 * three standard deviations of its own baseline. Flows (rank to rank) are judged in the same way on their bytes.
 * How far pauses spread is in pause-spread.ts.
 */
import { EvidenceIndex } from '../../model/telemetry/series.js';
import type { Topology } from '../../model/topology/model.js';
import type { Job } from '../../model/workload/job.js';
import { faultElements } from '../measures/fault-elements.js';
import type { FaultElements } from '../measures/fault-elements.js';
import type { ScoringInput } from '../input.js';
import { pauseSpread } from './pause-spread.js';
import { DEFAULT_PROFILE, weighted } from '../profile.js';
import { Counter, freshSamples, pollSpans } from '../measures/samples.js';
import type { Span } from '../measures/samples.js';
import { SCORE_METRICS } from '../scorecard.js';
import type { MetricValue, Score } from '../scorecard.js';
import { clamp, deviation, mean } from '../measures/statistics.js';
import { jobPace, lostNs, meanPace } from '../measures/step-pace.js';
import type { JobPace } from '../measures/step-pace.js';

/** A slowdown within this many standard deviations of the baseline is nobody's harm. */
export const VICTIM_DEVIATIONS = 3;

export interface IsolationFigures {
  blast_ratio: number | null;
  victim_flow_share: number | null;
  pause_spread_ratio: number | null;
}

/** 0..100 from the published figures; where flows or pauses are not known, jobs stand for them. */
export function isolationScore(figures: IsolationFigures, profile = DEFAULT_PROFILE): number | null {
  const { blast_ratio: blast } = figures;
  if (blast === null) return null;
  const harm = weighted(profile.isolation.weights, {
    jobs: clamp(blast, 0, 1),
    flows: clamp(figures.victim_flow_share ?? blast, 0, 1),
    pauses: clamp(figures.pause_spread_ratio ?? blast, 0, 1),
  });
  return clamp(100 * (1 - harm), 0, 100);
}

/** The fault, and what follows the repair: traffic may be worse after it than during the outage. */
function phases(injectedNs: number, revertedNs: number | null, endNs: number): Span[] {
  if (revertedNs === null) return [{ fromNs: injectedNs, toNs: endNs }];
  return [
    { fromNs: injectedNs, toNs: revertedNs },
    { fromNs: revertedNs, toNs: endNs },
  ].filter((phase) => phase.toNs > phase.fromNs);
}

const slowdownLimit = (least: number, noise: number): number => Math.max(least, VICTIM_DEVIATIONS * noise);

const isVictim = (pace: JobPace, windows: readonly Span[], least: number): boolean =>
  windows.some(({ fromNs, toNs }) => meanPace(pace, fromNs, toNs) < 1 - slowdownLimit(least, pace.noise));

/** Whether a flow became clearly slower; null when it sent nothing before or its counter does not tell. */
function flowIsVictim(
  counter: Counter,
  fromNs: number,
  injectedNs: number,
  windows: readonly Span[],
  least: number,
): boolean | null {
  const rates = pollSpans(counter.samples, fromNs, injectedNs)
    .map((span) => counter.rate(span.fromNs, span.toNs))
    .filter((rate): rate is number => rate !== null);
  const before = mean(rates);
  if (!(before > 0)) return null;
  let known = false;
  for (const window of windows) {
    const spans = pollSpans(counter.samples, window.fromNs, window.toNs);
    if (spans.length === 0) continue;
    const rate = counter.rate(spans[0].fromNs, spans[spans.length - 1].toNs);
    if (rate === null) continue;
    known = true;
    // Steps and polls are not in step, so single intervals scatter; a mean over n of them scatters by 1/√n.
    const noise = deviation(rates) / before / Math.sqrt(spans.length);
    if (rate < before * (1 - slowdownLimit(least, noise))) return true;
  }
  return known ? false : null;
}

function victimFlowShare(
  index: EvidenceIndex,
  bystanders: readonly Job[],
  injectedNs: number,
  windows: readonly Span[],
  least: number,
): number | null {
  const prefixes = bystanders.map((job) => `edge:${job.name}/`);
  let flows = 0;
  let victims = 0;
  for (const series of index.all('edge_tx_bytes')) {
    if (!prefixes.some((prefix) => series.element.startsWith(prefix))) continue;
    const counter = new Counter(freshSamples(series));
    const victim = flowIsVictim(counter, index.evidence.fromNs, injectedNs, windows, least);
    if (victim === null) continue;
    flows++;
    if (victim) victims++;
  }
  return flows === 0 ? null : victims / flows;
}

/** Which GPUs share the rail, or else the pod, of the faulted links; undefined when they have neither. */
function regionOf(topology: Topology, elements: FaultElements): ((gpu: number) => boolean) | undefined {
  const links = [...elements.links].map((link) => topology.links[link]);
  for (const key of ['rail', 'pod'] as const) {
    const regions = new Set(links.map((link) => link[key]));
    if (regions.size > 0 && !regions.has(undefined)) {
      return (gpu) => nicLinks(topology, gpu).some((link) => regions.has(link[key]));
    }
  }
  return undefined;
}

const nicLinks = (topology: Topology, gpu: number) =>
  topology.nics[topology.gpus[gpu].nic].ports.map((port) => topology.links[topology.ports[port].link]);

/** Share of the lost GPU time inside the region; a job loses the same on each of its GPUs. */
function containment(
  input: ScoringInput,
  paces: readonly (JobPace | null)[],
  elements: FaultElements,
  injectedNs: number,
): number | null {
  const inside = regionOf(input.topology, elements);
  if (inside === undefined || paces.includes(null)) return null;
  let total = 0;
  let contained = 0;
  (paces as JobPace[]).forEach((pace, at) => {
    const lost = lostNs(pace, injectedNs, input.endNs);
    const { placement } = input.jobs[at];
    total += lost * placement.length;
    contained += lost * placement.filter(inside).length;
  });
  return total > 0 ? contained / total : null;
}

/** Isolation from evidence; null for a control and where nobody could tell who was exposed. */
export function scoreIsolation(input: ScoringInput): Score {
  const metrics: Record<string, MetricValue> = Object.fromEntries(
    SCORE_METRICS.isolation.map((name) => [name, null]),
  );
  const { topology, jobs, injectedNs, endNs, exposedJobs } = input;
  if (injectedNs === null || input.truth.length === 0) return { score: null, metrics };
  const profile = input.profile ?? DEFAULT_PROFILE;
  const least = profile.isolation.slowdown;
  const index = new EvidenceIndex(input.evidence);
  const spread = pauseSpread(index, topology, injectedNs, input.revertedNs ?? endNs);
  metrics.pause_depth_hops = spread?.depthHops ?? null;
  metrics.pause_spread_ratio = spread?.spreadRatio ?? null;
  const paces = jobs.map((job) => jobPace(index, job, injectedNs, endNs));
  metrics.containment = containment(input, paces, faultElements(topology, input.truth), injectedNs);
  if (exposedJobs === null) return { score: null, metrics };
  const windows = phases(injectedNs, input.revertedNs, endNs);
  const bystanders = jobs.filter((job) => !exposedJobs.includes(job.name));
  const bystanderPaces = paces.filter((_, at) => !exposedJobs.includes(jobs[at].name));
  metrics.exposed_jobs = jobs.length - bystanders.length;
  metrics.bystander_jobs = bystanders.length;
  if (bystanders.length > 0 && !bystanderPaces.includes(null)) {
    const victims = (bystanderPaces as JobPace[]).filter((pace) => isVictim(pace, windows, least));
    metrics.blast_ratio = victims.length / bystanders.length;
  }
  metrics.victim_flow_share = victimFlowShare(index, bystanders, injectedNs, windows, least);
  const score = isolationScore(metrics as unknown as IsolationFigures, profile);
  return { score: input.targetBytesInBaseline === true ? score : null, metrics };
}
