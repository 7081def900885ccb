/**
 * From candidates to culprits with probabilities.
 *
 * Candidates for the same units that differ in side or direction add up to one explanation. Explanations compete only where they explain
 * the same units, so that two faults far apart don't share one probability. A wide one (a dead device, a dead NIC, a slow
 * switch) competes with the *set* of faults its units would need without it: one cause against many, each with its own
 * prior (Occam's razor as arithmetic). The strongest wide one that beats its units takes them; what is left is judged
 * unit by unit.
 */
import { logSumExp } from './series/statistics.js';
import type { Explanation } from './explanation.js';
import type { Candidate, Unit } from './candidate.js';
import { PRIORS, THRESHOLDS, kindOf, logLikelihoodRatio, sideOf } from './likelihoods.js';

export interface Ranking {
  /** At or above the naming threshold, most probable first. */
  culprits: Explanation[];
  /** Considered and not named, most probable first. */
  rejected: Explanation[];
}

export function rank(candidates: readonly Candidate[]): Ranking {
  const groups = groupVariants(candidates);
  const single = new Map<Unit, Candidate[][]>();
  for (const group of groups.filter((one) => one[0].covers.length === 1)) {
    const [unit] = group[0].covers;
    single.set(unit, [...(single.get(unit) ?? []), group]);
  }
  const taken = new Set<Unit>();
  const explanations: Explanation[] = [];
  let open = groups.filter((group) => group[0].covers.length > 1);
  while (open.length > 0) {
    const judged = open.map((group) => ({ group, logOdds: wideLogOdds(group, single, taken) }));
    const best = judged.reduce((one, other) => (other.logOdds > one.logOdds ? other : one));
    if (best.logOdds <= 0) {
      explanations.push(...judged.map(({ group, logOdds }) => explain(group, logistic(logOdds))));
      break;
    }
    explanations.push(explain(best.group, logistic(best.logOdds)));
    for (const unit of best.group[0].covers) taken.add(unit);
    open = open.filter((group) => group !== best.group);
  }
  for (const [unit, rivals] of single) explanations.push(...judgeUnit(unit, rivals, explanations, taken));
  return split(explanations);
}

function groupVariants(candidates: readonly Candidate[]): Candidate[][] {
  const groups = new Map<string, Candidate[]>();
  for (const candidate of candidates) {
    const key = `${kindOf(candidate.hypothesis)} ${candidate.element.id} ${candidate.covers.join()}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [candidate]);
    else group.push(candidate);
  }
  return [...groups.values()];
}

/** log P(candidate, evidence) / P(no fault, evidence), findings about units taken by another cause left out. */
function logScore(candidate: Candidate, taken?: ReadonlySet<Unit>): number {
  const prior = PRIORS[candidate.hypothesis];
  return candidate.findings.reduce(
    (sum, { signature, outcome, unit }) =>
      unit !== undefined && taken?.has(unit) === true
        ? sum
        : sum + logLikelihoodRatio(signature, outcome, candidate.hypothesis),
    Math.log(prior / (1 - prior)),
  );
}

const groupScore = (group: readonly Candidate[], taken?: ReadonlySet<Unit>): number =>
  logSumExp(group.map((candidate) => logScore(candidate, taken)));

/** Odds of one wide cause against all that would have to be wrong with its units instead. */
function wideLogOdds(
  group: readonly Candidate[],
  single: ReadonlyMap<Unit, readonly Candidate[][]>,
  taken: ReadonlySet<Unit>,
): number {
  const alternative = group[0].covers
    .filter((unit) => !taken.has(unit))
    .map((unit) => logSumExp([0, ...(single.get(unit) ?? []).map((rival) => groupScore(rival))]))
    .reduce((sum, score) => sum + score, 0);
  return groupScore(group, taken) - alternative;
}

function judgeUnit(
  unit: Unit,
  rivals: readonly Candidate[][],
  wide: readonly Explanation[],
  taken: ReadonlySet<Unit>,
): Explanation[] {
  const total = logSumExp([0, ...rivals.map((rival) => groupScore(rival))]);
  const explained = wide
    .filter(({ covers }) => covers.length > 1 && covers.includes(unit))
    .map(({ probability }) => probability)
    .reduce((most, probability) => Math.max(most, probability), taken.has(unit) ? THRESHOLDS.name : 0);
  return rivals.map((group) => explain(group, Math.exp(groupScore(group) - total) * (1 - explained)));
}

function explain(group: readonly Candidate[], probability: number): Explanation {
  const scores = group.map((candidate) => logScore(candidate));
  const total = logSumExp(scores);
  const best = scores.indexOf(Math.max(...scores));
  return {
    ...group[best],
    kind: kindOf(group[best].hypothesis),
    side: dominant(group, scores, total, (candidate) => sideOf(candidate.hypothesis)) ?? 'unknown',
    direction: dominant(group, scores, total, (candidate) => candidate.direction) ?? 'both',
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

/** Ties are broken by topology index, never by name. */
function byProbability(one: Explanation, other: Explanation): number {
  return (
    other.probability - one.probability ||
    (one.onsetNs ?? -Infinity) - (other.onsetNs ?? -Infinity) ||
    (one.links[0] ?? Infinity) - (other.links[0] ?? Infinity) ||
    (one.device ?? Infinity) - (other.device ?? Infinity)
  );
}
