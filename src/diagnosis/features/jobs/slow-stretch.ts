/**
 * Where the times of one rank, each over its peers' at that moment, lie on two levels, or on one that is out of line.
 *
 * Ranks scatter from step to step and GPUs of one model differ for good, so the line is drawn by both: how far a rank
 * moves from poll to poll by itself, and how far peers are apart. The extremes that many values reach by chance grow
 * with their number (the greatest of n normal ones lies near sqrt(2 ln n) spreads), and so does the line.
 */
import type { Job } from '../../../model/workload/job.js';
import type { Context } from '../../series/context.js';
import type { Column } from '../../series/samples.js';
import { expectedMaximum, median, robustSpread } from '../../series/statistics.js';

interface Population {
  /** Spread of a rank's times from poll to poll. */
  scatter: number;
  /** Spread of what GPUs of the same host take for good. */
  apart: number;
  ranks: number;
}

export interface Stretch {
  /** Places of its first and last slow samples. */
  first: number;
  last: number;
  /** Median over its peers', while it is slow. */
  ratio: number;
}

/** GPUs of one model differ by 8 % on average (Sinha et al., SC'22): what was always so must differ by more. */
const ALWAYS_SO = 0.08;
/** A rank is slow from so many polls on: one may be a hiccup. */
const FEWEST_POLLS = 2;

/** A step that began before the change shows a part of it, and belongs to it from this part on. */
const EDGE = 10;

/** @param ratiosOf what a rank took over its peers; good until the next rank is asked for */
export function populationOf(
  { topology }: Context,
  job: Job,
  ratiosOf: (rank: number) => Column,
): Population {
  const scatters: number[] = [];
  const levels = new Map<number, number[]>();
  job.placement.forEach((gpu, rank) => {
    const { count, values } = ratiosOf(rank);
    if (count === 0) return;
    const own = values.subarray(0, count);
    // differences of neighbours do not see where a level ends
    scatters.push(robustSpread(own.subarray(1).map((value, at) => value - own[at])) / Math.SQRT2);
    const { host } = topology.gpus[gpu];
    levels.set(host, [...(levels.get(host) ?? []), median(own)]);
  });
  const apart = [...levels.values()].flatMap((own) => own.map((level) => level - median(own)));
  return { scatter: median(scatters) || 0, apart: robustSpread(apart) || 0, ranks: scatters.length };
}

export function slowStretch(
  { count, values }: Column,
  { scatter, apart, ranks }: Population,
): Stretch | null {
  if (count < FEWEST_POLLS) return null;
  const own = values.subarray(0, count);
  const line = expectedMaximum(count * ranks) * scatter;
  const sorted = Float64Array.from(own).sort();
  const [low, high] = [sorted[Math.min(1, count - 1)], sorted[count - 2]];
  const stretch = high - low > line ? longestAbove(own, (low + high) / 2) : null;
  if (stretch !== null) {
    const inside = own.subarray(stretch.first, stretch.last + 1);
    const outside = [...own.subarray(0, stretch.first), ...own.subarray(stretch.last + 1)];
    const [ratio, usual] = [median(inside), median(outside)];
    if (outside.length > 0 && ratio - usual > line) {
      return { ...widened(own, stretch, usual + Math.max(line, (ratio - usual) / EDGE)), ratio };
    }
  }
  const ratio = median(own);
  const isFarOut = ratio > 1 + Math.max(ALWAYS_SO, expectedMaximum(ranks) * apart);
  return isFarOut ? { first: 0, last: count - 1, ratio } : null;
}

/** With neighbours that are out of line already, or still. */
function widened(
  values: ArrayLike<number>,
  { first, last }: Pick<Stretch, 'first' | 'last'>,
  level: number,
): Pick<Stretch, 'first' | 'last'> {
  let [from, to] = [first, last];
  while (from > 0 && values[from - 1] > level) from--;
  while (to + 1 < values.length && values[to + 1] > level) to++;
  return { first: from, last: to };
}

/** The stretch in which samples above a level outnumber the others most; it begins and ends with such. */
function longestAbove(values: ArrayLike<number>, level: number): Pick<Stretch, 'first' | 'last'> | null {
  let [best, sum, start] = [FEWEST_POLLS - 1, 0, 0];
  let found: Pick<Stretch, 'first' | 'last'> | null = null;
  for (let at = 0; at < values.length; at++) {
    if (sum <= 0) [sum, start] = [0, at];
    sum += values[at] > level ? 1 : -1;
    if (sum > best) [best, found] = [sum, { first: start, last: at }];
  }
  return found;
}
