/**
 * By how much one clock is ahead of another, from one counter's readings under both: bytes that leave one end of a cable
 * arrive at the other at once, so the two curves lie on each other when one is moved by that much.
 *
 * Gains between the polls of the one are compared with what the other, read between its polls, gained in the same time
 * moved. The worst fifth is left out: a loss puts gains apart for good or ill. A link that carries the same in every poll
 * fits everywhere and says nothing, which its certainty tells.
 * Not modelled: clocks that drift by more than a few ms within the window; clocks that are off by more than a second or so.
 */
import type { Column } from '../../series/samples.js';
import { sumOfSmallest } from '../../series/statistics.js';

/** Clocks that are further apart than this are not looked for. */
const FARTHEST_NS = 1.25e9;
const COARSE_NS = 50e6;
const FINE_NS = 5e6;
const KEPT_SHARE = 0.8;
const FEWEST_GAINS = 8;
/** A fit that near by is as good as the best tells nothing. */
const APART_NS = 200e6;

export interface ClockFit {
  /** How far the second clock is ahead of the first, ns. */
  aheadNs: number;
  /** How much better it fits than any that is clearly another, 0 (says nothing) to 1. */
  certainty: number;
  /** How much better it fits than clocks that agree, likewise. */
  doubt: number;
}

/** A counter under the first clock, and the same one under the second. */
export type CounterPair = readonly [first: Column, second: Column];

/** @returns null when too few gains can be compared */
export function fitClocks(pairs: readonly CounterPair[]): ClockFit | null {
  const usable = pairs.filter(([first, second]) => first.count > FEWEST_GAINS && second.count > FEWEST_GAINS);
  if (usable.length === 0) return null;
  const differences = new Float64Array(usable.reduce((sum, [{ count }]) => sum + count, 0));
  const costs = new Map<number, number>();
  const costAt = (offsetNs: number): number => {
    let cost = costs.get(offsetNs);
    if (cost === undefined) costs.set(offsetNs, (cost = misfit(usable, offsetNs, differences)));
    return cost;
  };
  const coarse = bestOf(0, FARTHEST_NS, COARSE_NS, costAt);
  if (costAt(coarse) === Infinity) return null;
  const aheadNs = bestOf(coarse, COARSE_NS, FINE_NS, costAt);
  const elsewhere = [...costs].filter(([offsetNs]) => Math.abs(offsetNs - aheadNs) >= APART_NS);
  const next = Math.min(...elsewhere.map(([, cost]) => cost));
  const gainOver = (other: number): number => (other > 0 ? Math.max(0, 1 - costAt(aheadNs) / other) : 0);
  return { aheadNs, certainty: gainOver(next), doubt: gainOver(costAt(0)) };
}

/** The offset around `middle` that costs least; of equals the one nearest to no offset at all. */
function bestOf(
  middleNs: number,
  reachNs: number,
  stepNs: number,
  costAt: (offsetNs: number) => number,
): number {
  const steps = Math.round(reachNs / stepNs);
  let best = middleNs;
  for (let step = -steps; step <= steps; step++) {
    const offsetNs = middleNs + step * stepNs;
    const [cost, least] = [costAt(offsetNs), costAt(best)];
    if (cost < least || (cost === least && Math.abs(offsetNs) < Math.abs(best))) best = offsetNs;
  }
  return best;
}

/**
 * Bytes by which gains differ at an offset, as a share of all; infinite when hardly any can be compared. Rounded, so that
 * sums in another order cost the same.
 * @param differences room for one number a gain
 */
function misfit(pairs: readonly CounterPair[], offsetNs: number, differences: Float64Array): number {
  let compared = 0;
  let bytes = 0;
  for (const [{ count, timesNs, values }, second] of pairs) {
    let cursor = 0;
    let before = NaN;
    for (let index = 0; index < count; index++) {
      const atNs = timesNs[index] + offsetNs;
      while (cursor < second.count && second.timesNs[cursor] < atNs) cursor++;
      const now = valueAt(second, cursor, atNs);
      // NaN in the first round, and where the second counter was not read around the instant
      const gain = index === 0 ? NaN : values[index] - values[index - 1];
      const difference = gain - (now - before);
      const size = difference < 0 ? -difference : difference;
      if (size >= 0) {
        differences[compared++] = size;
        bytes += gain;
      }
      before = now;
    }
  }
  if (compared < FEWEST_GAINS || bytes <= 0) return Infinity;
  const kept = Math.ceil(KEPT_SHARE * compared);
  const off = sumOfSmallest(differences, compared, kept);
  return Math.fround(off / kept / (bytes / compared));
}

/** Between the samples around an instant; NaN outside of them. */
function valueAt({ count, timesNs, values }: Column, next: number, atNs: number): number {
  if (next < count && timesNs[next] === atNs) return values[next];
  if (next === 0 || next === count) return NaN;
  const part = (atNs - timesNs[next - 1]) / (timesNs[next] - timesNs[next - 1]);
  return values[next - 1] + part * (values[next] - values[next - 1]);
}
