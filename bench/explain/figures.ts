/** Figures over many cases: shares, quantiles, calibration. */
import type { BaselineName } from './baselines/index.js';
import type { FaultClass } from './corpus/fault-entry.js';
import type { Grade } from './grade.js';
import type { CaseResult } from './measure-case.js';

/** Null for no cases: nothing was measured, which is not the same as 0. */
export const shareOf = <T>(items: readonly T[], holds: (item: T) => boolean): number | null =>
  items.length === 0 ? null : items.filter(holds).length / items.length;

export const meanOf = <T>(items: readonly T[], read: (item: T) => number): number | null =>
  items.length === 0 ? null : items.reduce((sum, item) => sum + read(item), 0) / items.length;

/** Nearest rank, so that Infinity stays Infinity. */
export function quantile(values: readonly number[], share: number): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted.length === 0 ? null : sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}

export type Counted = CaseResult & { ours: Grade };

/** Cases that were diagnosed. */
export const counted = (results: readonly CaseResult[]): Counted[] =>
  results.filter((result): result is Counted => result.ours !== null);

export const controls = (results: readonly CaseResult[]): Counted[] =>
  counted(results).filter(({ control }) => control !== null);

/** Cases with one fault, of a class or of any. */
export const singles = (results: readonly CaseResult[], ...classes: FaultClass[]): Counted[] =>
  counted(results).filter(
    ({ control, entries, classes: of }) =>
      control === null && entries.length === 1 && (classes.length === 0 || classes.includes(of[0])),
  );

export const watchedWell = <T extends CaseResult>(results: readonly T[]): T[] =>
  results.filter(({ quality }) => quality === 'clean');

export const top1 = (results: readonly Counted[]): number | null => meanOf(results, ({ ours }) => ours.top1);

export const baselineTop1 = (results: readonly Counted[], name: BaselineName): number | null =>
  meanOf(results, ({ baselines }) => baselines[name]?.top1 ?? 0);

export interface ReliabilityBin {
  from: number;
  to: number;
  claims: number;
  /** Mean probability that was stated, and the share that was right. */
  stated: number | null;
  right: number | null;
}

const BIN_EDGES = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1];

/** Every culprit that was named, on faults and controls alike, by the probability it was given. */
export function reliability(results: readonly Counted[]): ReliabilityBin[] {
  const claims = results.flatMap(({ ours }) => ours.claims);
  return BIN_EDGES.slice(0, -1).map((from, index) => {
    const to = BIN_EDGES[index + 1];
    const within = claims.filter(({ probability }) => probability >= from && (probability < to || to === 1));
    return {
      ...{ from, to, claims: within.length },
      stated: meanOf(within, ({ probability }) => probability),
      right: shareOf(within, ({ right }) => right),
    };
  });
}

/** Brier's error: of the named ranks on faults, of any alarm on controls; who abstains states nothing. */
export function brier(results: readonly Counted[]): number | null {
  const errors = results.flatMap(({ ours, control }) => {
    if (ours.abstained) return [];
    if (control === null || control === 'straggler') return ours.brier === null ? [] : [ours.brier];
    return [Math.max(0, ...ours.claims.map(({ probability, right }) => (right ? 0 : probability))) ** 2];
  });
  return meanOf(errors, (error) => error);
}
