/**
 * How far queues may move in one sweep of a search, and when a search gets nowhere.
 *
 * Most searches end within the first sweeps, where a queue's bytes move at most by what it is asked. Where flows have
 * several bottlenecks a queue's own marks hold few of those that cross it, and it needs to move far to be noticed: from
 * then on a queue that keeps its direction may take ever longer steps. Where that goes round in circles steps become
 * short, and where this does not help either the search stops with its residual.
 */

const FIRST_SWEEPS = 24;
/** Most that a queue's gain may grow to: at first, from then on, and where a search has gone in circles. */
const MOST_GAIN = { first: 1, long: 64, short: 0.3 };
/** A search that has not come nearer by this factor in so many sweeps gets nowhere. */
const NEARER = 0.9;
const PATIENCE = 40;

export class Pace {
  mostGain = MOST_GAIN.first;
  /** The last sweep found the state that it began with nearer to the end than any before. */
  isNearest = false;
  private sweeps = 0;
  private nearest = Infinity;
  private wasNearer = Infinity;
  private nearerSweep = 0;

  /** @param marks false: nobody marks, and long steps would decide which of several ports fills first */
  constructor(private readonly marks: boolean) {}

  begin(): void {
    this.mostGain = MOST_GAIN.first;
    this.isNearest = false;
    this.sweeps = 0;
    this.nearest = this.wasNearer = Infinity;
  }

  /** The first sweeps are over. */
  get isLong(): boolean {
    return this.sweeps >= FIRST_SWEEPS;
  }

  /**
   * After a sweep: false when more of them would not help.
   * @param worst largest relative error that it found
   */
  goesOn(worst: number): boolean {
    if (++this.sweeps <= FIRST_SWEEPS) return true;
    if (this.marks && this.mostGain === MOST_GAIN.first) this.mostGain = MOST_GAIN.long;
    this.isNearest = worst <= this.nearest;
    if (this.isNearest) this.nearest = worst;
    if (worst < this.wasNearer * NEARER) {
      this.wasNearer = worst;
      this.nearerSweep = this.sweeps;
    }
    if (this.sweeps - this.nearerSweep <= PATIENCE) return true;
    if (this.mostGain === MOST_GAIN.short) return false;
    this.mostGain = MOST_GAIN.short;
    this.nearerSweep = this.sweeps;
    return true;
  }
}
