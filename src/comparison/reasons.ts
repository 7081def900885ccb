/** Why a comparison has its verdict, in one sentence for a person. */
import { unitText, type AbsoluteObjective, type RelativeObjective } from './suite-objective.js';
import type { GateFigure } from './figures.js';
import type { Gathered } from './pairs.js';
import type { GateVerdict } from './result.js';

/** A figure with its unit, to four digits. */
export function formatAmount(value: number, figure: GateFigure): string {
  const digits = value === 0 ? 0 : Number(value.toPrecision(4));
  return `${digits}${unitText(figure)}`;
}

const seedList = (seeds: readonly number[]): string =>
  seeds.length <= 5 ? seeds.join(', ') : `${seeds.slice(0, 5).join(', ')} and ${seeds.length - 5} more`;

/** By how much the candidate is worse or better, and what was allowed. */
function difference({ figure, margin, ofBaseline }: RelativeObjective, pairs: Gathered): string {
  const before = pairs.meanBaseline ?? 0;
  const change = (pairs.meanCandidate ?? 0) - before;
  const worseBy = figure.better === 'higher' ? -change : change;
  const share = before === 0 ? '' : ` (${Number((Math.abs(change / before) * 100).toPrecision(3))} %)`;
  const allowed = ofBaseline ? `${Number((margin * 100).toPrecision(6))} %` : formatAmount(margin, figure);
  if (change === 0) return `no difference; ${allowed} is allowed`;
  const amount = formatAmount(Math.abs(change), figure);
  return `${worseBy > 0 ? 'worse' : 'better'} by ${amount}${share} on average; worse by ${allowed} is allowed`;
}

/** @param seeds what it rests on, such as `8 pairs of seeds` */
export function relativeReason(
  objective: RelativeObjective,
  verdict: GateVerdict,
  pairs: Gathered,
  seeds: string,
): string {
  const what = difference(objective, pairs);
  if (verdict === 'regression') return `${what}, and ${seeds} rule chance out`;
  if (verdict === 'none') return `${what}, and ${seeds} show that it stays within`;
  return `${what}, but ${seeds} show neither that it stays within nor that it does not`;
}

export const lostReason = (lost: readonly number[], seeds: number, problem?: string): string =>
  `the candidate's figure could not be known at ${lost.length} of ${seeds} seeds (${seedList(lost)}) where the baseline's was` +
  (problem === undefined ? '' : `: ${problem}`);

/** @param seeds what it rests on, such as `4 pairs of seeds` */
export function tooFewReason(
  seeds: string,
  least: number,
  { values }: Pick<Gathered, 'values'>,
  problem?: string,
): string {
  const unknown = (['baseline', 'candidate'] as const).flatMap((side) => {
    const count = values[side].filter((value) => Number.isNaN(value)).length;
    return count === 0 ? [] : [`at ${count} of ${values[side].length} seeds on the ${side}`];
  });
  const where = unknown.length === 0 ? '' : `; the figure could not be known ${unknown.join(' and ')}`;
  return `only ${seeds} tell, and at least ${least} are needed${where}${problem === undefined ? '' : `: ${problem}`}`;
}

export function absoluteReason(
  { objective, share }: AbsoluteObjective,
  counts: { met: number; missed: number; unknown: number },
  seeds: number,
): string {
  const allowed = share === 1 ? 'all must' : `${Math.ceil(seeds * share - 1e-9)} of ${seeds} must`;
  const unknown = counts.unknown === 0 ? '' : `, could not be known at ${counts.unknown}`;
  return `${objective.expression}: met at ${counts.met} seeds, missed at ${counts.missed}${unknown}; ${allowed} meet it`;
}
