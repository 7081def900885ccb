/**
 * The level of a figure that scatters, and whether a later window is back at it.
 *
 * Polls and training steps are not in step, so one interval alone says little: means over windows are compared, by the
 * scatter that intervals had before (weighted Welford, West 1979). What nothing weighs, such as the share of a link in
 * no traffic at all, counts for nothing. Not modelled: intervals that depend on each other; those of a beat cancel each
 * other out, which makes the bound a wide one.
 */

/** One interval's value, and how much it says: its length, or the bytes that it rests on. */
export interface Weighed {
  value: number;
  weight: number;
}

/** A window may be below the level by this share of it … */
export const LEVEL_TOLERANCE = 0.1;
/** … or by what this many standard errors of the difference explain … */
const SIGMAS = 3;
/** … but half of the level is never back at it, however much was scattered. */
const LEAST_SHARE = 0.5;

export class Level {
  mean = 0;
  private weight = 0;
  private squaredWeights = 0;
  private squares = 0;
  /** Of all intervals. */
  lowest = Infinity;

  static of(intervals: Iterable<Weighed>): Level {
    const level = new Level();
    for (const one of intervals) level.add(one);
    return level;
  }

  add({ value, weight }: Weighed): void {
    if (weight <= 0) return;
    this.weight += weight;
    this.squaredWeights += weight * weight;
    const off = value - this.mean;
    this.mean += (off * weight) / this.weight;
    this.squares += weight * off * (value - this.mean);
    this.lowest = Math.min(this.lowest, value);
  }

  /** As many intervals of equal weight as say the same; 0 without any. */
  get intervals(): number {
    return this.weight === 0 ? 0 : this.weight ** 2 / this.squaredWeights;
  }

  /** Standard deviation of one interval, as a few of them let it be estimated; 0 for fewer than two. */
  get deviation(): number {
    const { intervals } = this;
    if (intervals <= 1) return 0;
    return Math.sqrt(((Math.max(0, this.squares) / this.weight) * intervals) / (intervals - 1));
  }

  /** Whether the mean of a later window is no lower than chance explains. */
  isHeldBy(window: Level): boolean {
    if (this.intervals === 0 || window.intervals === 0) return false;
    const error = this.deviation * Math.sqrt(1 / this.intervals + 1 / window.intervals);
    const below = Math.max(LEVEL_TOLERANCE * this.mean, SIGMAS * error);
    return window.mean >= Math.max(this.mean - below, LEAST_SHARE * this.mean);
  }
}
