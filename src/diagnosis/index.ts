/**
 * The blind diagnosis: what slowed this training run, told from topology, placement and telemetry alone.
 *
 * Features are read from the evidence, hypotheses put candidates forward, the likelihood table weighs them, and what
 * stands above the threshold is named with its evidence. It never learns what was injected, or whether anything was.
 */
import type { Explanation } from './explanation.js';
import { firstLineFound, firstLineNone, firstLineUnknown } from './first-line.js';
import { attribute } from './attribution.js';
import type { Attribution } from './attribution.js';
import { answerFound, answerNone, answerUnknown } from './answer.js';
import { suspects } from './candidate.js';
import { chainOf } from './chain.js';
import { citations } from './citations.js';
import { measureCoverage } from './coverage.js';
import { seconds } from './series/change.js';
import { alignedContext } from './features/bytes/clocks.js';
import { overlaps } from './series/context.js';
import type { Context } from './series/context.js';
import type { DiagnosisInput } from './series/context.js';
import { observeDevices } from './features/links/device-observation.js';
import { observeJobLosses } from './features/jobs/job-loss.js';
import type { JobLoss } from './features/jobs/job-loss.js';
import { observeAllLinks } from './features/links/link-observation.js';
import { observeLossSigns } from './features/links/loss-signs.js';
import type { ElementRef } from '../model/telemetry/vocabulary.js';
import { familyOf } from './hypotheses/catalog.js';
import type { Observations } from './hypotheses/hypothesis.js';
import { THRESHOLDS } from './likelihoods.js';
import { rank } from './rank.js';
import { costless, remarkOf } from './remarks.js';
import { ruledOut } from './ruled-out.js';
import { candidatesOf, lookAgain } from './second-look.js';
import { plainVerdict } from './verdict.js';
import type { Culprit, Verdict } from './verdict.js';

export type { DiagnosisInput } from './series/context.js';
export type { Verdict } from './verdict.js';

/** Retries and late polls that belong to what is over. */
const AFTERMATH_NS = 3e9;

/**
 * A verdict on the whole observed window; the same input gives the same bytes.
 * @param working called back now and then while it is worked out
 */
export function diagnose(input: DiagnosisInput, working: () => void = () => undefined): Verdict {
  const context = alignedContext(input);
  working();
  const observations: Observations = {
    devices: context.once(observeDevices),
    links: context.once(observeAllLinks),
  };
  const all = candidatesOf(context, working);
  const candidates = suspects(all);
  const { culprits: named, rejected } = rank(candidates);
  const looked = lookAgain(context, named, candidates, working);
  const weighed = weigh(context, looked, working);
  const harmless = rank(all.filter((one) => one.harmless === true)).culprits;
  const remarks = [...weighed.odd, ...harmless].map((culprit) => remarkOf(context, culprit));
  working();
  const verdict =
    weighed.culprits.length > 0
      ? found(context, observations, weighed.culprits, weighed.attribution)
      : notFound(context, observations, weighed, rejected);
  return { ...verdict, remarks, notes: context.notes() };
}

interface Weighed {
  culprits: readonly Explanation[];
  /** Those that cost nothing. */
  odd: readonly Explanation[];
  /** Of the culprits. */
  attribution: Attribution;
}

/** Blames by cost: who cost nothing is no culprit, and the rest is weighed without it. */
function weigh(context: Context, all: readonly Explanation[], working: () => void): Weighed {
  const losses = observeJobLosses(
    context,
    all.map(({ onsetNs, during }) => ({ fromNs: onsetNs ?? context.window.fromNs, toNs: during.toNs })),
  );
  working();
  const attribution = attribute(context, all, losses);
  working();
  const isOdd = costless(context, all, losses, attribution);
  const odd = all.filter((_, index) => isOdd[index]);
  if (odd.length === 0) return { culprits: all, odd, attribution };
  const rest = weigh(
    context,
    all.filter((_, index) => !isOdd[index]),
    working,
  );
  return { ...rest, odd: [...odd, ...rest.odd] };
}

function found(
  context: Context,
  observations: Observations,
  culprits: readonly Explanation[],
  attribution: Attribution,
): Verdict {
  const order = culprits.map((_, index) => index).sort(byWeight(culprits, attribution));
  const ordered = order.map((index) => culprits[index]);
  const affected = order.map((index) => attribution.affected[index]);
  const shares = order.map((index) => attribution.shares[index]);
  const out = ordered.flatMap((culprit, index) => ruledOut(context, observations, culprit, affected[index]));
  const inOrder = { ...attribution, shares, affected };
  return {
    faultFound: true,
    firstLine: firstLineFound(context, ordered, inOrder),
    answer: answerFound(context, ordered, inOrder, out),
    shareExplained: sumOf(shares),
    affectedJobs: affectedJobs(context, affected),
    aggressors: aggressors(context, ordered),
    chain: ordered.flatMap((culprit, index) => chainOf(context, culprit, affected[index])),
    ruledOut: out,
    culprits: ordered.map((culprit, index): Culprit => ({
      rank: index + 1,
      kind: culprit.kind,
      element: culprit.element,
      side: culprit.side,
      direction: culprit.direction,
      onset_s: culprit.onsetNs === null ? null : seconds(culprit.onsetNs),
      lostTimeShare: shares[index],
      probability: culprit.probability,
      evidence: citations(context, culprit, affected[index]),
    })),
  };
}

/** Each once, in the order of the culprits. */
function aggressors(context: Context, culprits: readonly Explanation[]): ElementRef[] {
  const all = culprits.flatMap((culprit) => familyOf(culprit).aggressors?.(context, culprit) ?? []);
  return [...new Map(all.map((element) => [element.id, element])).values()];
}

/** What cost most comes first; among equals the surer, then the earlier one. */
function byWeight(culprits: readonly Explanation[], attribution: Attribution) {
  const weight = (index: number): number => culprits[index].probability * (attribution.shares[index] ?? 0);
  return (one: number, other: number): number => weight(other) - weight(one) || one - other;
}

function notFound(
  context: Context,
  observations: Observations,
  { attribution, odd }: Weighed,
  suspects: readonly Explanation[],
): Verdict {
  const coverage = measureCoverage(context, observations.links);
  const seen = coverage.links >= THRESHOLDS.coverage && coverage.jobs;
  const unexplained = (attribution.lossRatio ?? 0) > THRESHOLDS.unexplainedLoss;
  const suspected = suspects.some(({ probability }) => probability >= THRESHOLDS.suspect);
  // what odd things let be felt is explained by them, and cost nothing
  const signs = observeLossSigns(context).filter(
    (sign) => !odd.some(({ during }) => overlaps({ ...during, toNs: during.toNs + AFTERMATH_NS }, sign)),
  );
  const healthy = seen && !unexplained && !suspected && signs.length === 0;
  if (healthy) {
    const firstLine = firstLineNone(coverage, suspects[0]?.probability ?? 0, odd.length);
    return { ...plainVerdict([], false, answerNone(context, coverage, odd.length)), firstLine };
  }
  const firstLine = firstLineUnknown(context, attribution, suspects);
  return {
    ...plainVerdict([], null, answerUnknown(context, coverage, attribution, suspects, signs)),
    firstLine,
  };
}

function sumOf(shares: readonly (number | null)[]): number | null {
  const known = shares.filter((share) => share !== null);
  if (known.length === 0) return null;
  return Number(
    Math.min(
      1,
      known.reduce((sum, share) => sum + share, 0),
    ).toPrecision(6),
  );
}

/** In the order of the jobs as given. */
function affectedJobs(context: Context, affected: readonly (readonly JobLoss[])[]): string[] {
  const names = new Set(affected.flat().map(({ job }) => job.name));
  return context.jobs.map((job) => job.name).filter((name) => names.has(name));
}
