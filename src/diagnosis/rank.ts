/**
 * From candidates to culprits with probabilities.
 *
 * Candidates that differ in side or direction add up to one explanation. Explanations compete only where they explain
 * the same links, so that two faults far apart don't share one probability. A dead device competes with the *set* of
 * faults its links would need without it: one cause against many, each with its own prior (Occam's razor as
 * arithmetic). The strongest device that beats its links takes them; what is left is judged link by link.
 */
import type { CulpritKind, Direction, ElementRef, Side } from '../telemetry/vocabulary.js';
import type { Interval } from './features/context.js';
import { logSumExp } from './features/statistics.js';
import type { Candidate, Finding } from './hypotheses/hypothesis.js';
import { PRIORS, THRESHOLDS, kindOf, logLikelihoodRatio, sideOf } from './likelihoods.js';

export interface Explanation {
  kind: CulpritKind;
  element: ElementRef;
  side: Side;
  direction: Direction;
  links: readonly number[];
  device?: number;
  /** Findings of the most probable variant. */
  findings: readonly Finding[];
  during: Interval;
  onsetNs: number | null;
  probability: number;
}

export interface Ranking {
  /** At or above the naming threshold, most probable first. */
  culprits: Explanation[];
  /** Considered and not named, most probable first. */
  rejected: Explanation[];
}

export function rank(candidates: readonly Candidate[]): Ranking {
  const groups = groupVariants(candidates);
  const nodes = groups.filter((group) => group[0].device !== undefined);
  const links = groups.filter((group) => group[0].device === undefined);
  const taken = new Set<number>();
  const explanations: Explanation[] = [];
  let open = nodes;
  while (open.length > 0) {
    const judged = open.map((group) => ({ group, logOdds: nodeLogOdds(group[0], links, taken) }));
    const best = judged.reduce((one, other) => (other.logOdds > one.logOdds ? other : one));
    if (best.logOdds <= 0) {
      explanations.push(...judged.map(({ group, logOdds }) => explain(group, logistic(logOdds))));
      break;
    }
    explanations.push(explain(best.group, logistic(best.logOdds)));
    for (const link of best.group[0].links) taken.add(link);
    open = open.filter((group) => group !== best.group);
  }
  explanations.push(...judgeLinks(links, explanations, taken));
  return split(explanations);
}

function groupVariants(candidates: readonly Candidate[]): Candidate[][] {
  const groups = new Map<string, Candidate[]>();
  for (const candidate of candidates) {
    const key = `${kindOf(candidate.hypothesis)} ${candidate.element.id}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [candidate]);
    else group.push(candidate);
  }
  return [...groups.values()];
}

/** log P(candidate, evidence) / P(no fault, evidence), findings about links taken by another cause left out. */
export function logScore(candidate: Candidate, taken?: ReadonlySet<number>): number {
  const prior = PRIORS[candidate.hypothesis];
  return candidate.findings.reduce(
    (sum, { signature, outcome, link }) =>
      link !== undefined && taken?.has(link) === true
        ? sum
        : sum + logLikelihoodRatio(signature, outcome, candidate.hypothesis),
    Math.log(prior / (1 - prior)),
  );
}

const groupScore = (group: readonly Candidate[]): number =>
  logSumExp(group.map((candidate) => logScore(candidate)));

/** Odds of a dead device against all that would have to be wrong with its links instead. */
function nodeLogOdds(
  node: Candidate,
  linkGroups: readonly Candidate[][],
  taken: ReadonlySet<number>,
): number {
  const alternative = node.links
    .filter((link) => !taken.has(link))
    .map((link) => {
      const scores = linkGroups.filter((group) => group[0].links[0] === link).map(groupScore);
      return logSumExp([0, ...scores]);
    })
    .reduce((sum, score) => sum + score, 0);
  return logScore(node, taken) - alternative;
}

function judgeLinks(
  groups: readonly Candidate[][],
  nodes: readonly Explanation[],
  taken: ReadonlySet<number>,
): Explanation[] {
  return groups.map((group) => {
    const link = group[0].links[0];
    const rivals = groups.filter((other) => other[0].links[0] === link).map(groupScore);
    const share = Math.exp(groupScore(group) - logSumExp([0, ...rivals]));
    const deviceDied = nodes
      .filter((node) => node.links.includes(link))
      .map((node) => node.probability)
      .reduce((most, probability) => Math.max(most, probability), taken.has(link) ? THRESHOLDS.name : 0);
    return explain(group, share * (1 - deviceDied));
  });
}

function explain(group: readonly Candidate[], probability: number): Explanation {
  const scores = group.map((candidate) => logScore(candidate));
  const total = logSumExp(scores);
  const best = scores.indexOf(Math.max(...scores));
  const { element, links, device, findings, during, onsetNs } = group[best];
  return {
    kind: kindOf(group[best].hypothesis),
    element,
    side: dominant(group, scores, total, (candidate) => sideOf(candidate.hypothesis)) ?? 'unknown',
    direction: dominant(group, scores, total, (candidate) => candidate.direction) ?? 'both',
    links,
    ...(device === undefined ? {} : { device }),
    findings,
    during,
    onsetNs,
    probability: capped(probability),
  };
}

/** The value that holds enough of the group's probability to be stated. */
function dominant<T>(
  group: readonly Candidate[],
  scores: readonly number[],
  total: number,
  read: (candidate: Candidate) => T,
): T | undefined {
  const shares = new Map<T, number>();
  group.forEach((candidate, index) => {
    const value = read(candidate);
    shares.set(value, (shares.get(value) ?? 0) + Math.exp(scores[index] - total));
  });
  return [...shares].find(([, share]) => share >= THRESHOLDS.detail)?.[0];
}

const logistic = (logOdds: number): number => 1 / (1 + Math.exp(-logOdds));

/** Neither certain nor impossible: the table is judgement. Rounded, so that sums in another order read the same. */
function capped(probability: number): number {
  const most = logistic(THRESHOLDS.logOddsMost);
  return Number(Math.min(most, Math.max(1 - most, probability)).toPrecision(6));
}

function split(explanations: readonly Explanation[]): Ranking {
  const sorted = [...explanations].sort(byProbability);
  return {
    culprits: sorted.filter((explanation) => explanation.probability >= THRESHOLDS.name),
    rejected: sorted.filter((explanation) => explanation.probability < THRESHOLDS.name),
  };
}

function byProbability(one: Explanation, other: Explanation): number {
  return (
    other.probability - one.probability ||
    (one.onsetNs ?? -Infinity) - (other.onsetNs ?? -Infinity) ||
    one.links[0] - other.links[0]
  );
}
