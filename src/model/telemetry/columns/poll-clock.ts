/**
 * When a group of elements is polled: round after round at one interval, all elements of the group at one instant.
 *
 * The times of a window are worked out once and shared by all its series without gaps, and so is the all-fresh quality.
 */

/** Rounds from `from` up to, not including, `to`. */
export interface RoundRange {
  from: number;
  to: number;
}

export class PollClock {
  /** Rounds taken so far. */
  rounds = 0;
  private shared?: { range: RoundRange; timesNs: Float64Array; fresh: Uint8Array };

  constructor(
    readonly intervalNs: number,
    readonly phaseNs: number,
  ) {}

  /** When the next round is due, ns. */
  get dueNs(): number {
    return this.timeNs(this.rounds);
  }

  /** How many rounds are due up to an instant, itself included. */
  roundsUntil(timeNs: number): number {
    return Math.max(0, Math.floor((timeNs - this.phaseNs) / this.intervalNs) + 1);
  }

  timeNs(round: number): number {
    return this.phaseNs + round * this.intervalNs;
  }

  /** The rounds taken within a window, both ends included. */
  within(fromNs: number, toNs: number): RoundRange {
    const from = this.firstFrom(fromNs);
    let to = Math.max(from, Math.min(this.rounds, this.firstFrom(toNs)));
    if (to < this.rounds && this.timeNs(to) === toNs) to++;
    return { from: Math.min(from, to), to };
  }

  /** Times of the rounds, and as many fresh codes; shared, so not to be written to. */
  samples(range: RoundRange): { timesNs: Float64Array; fresh: Uint8Array } {
    if (this.shared?.range.from !== range.from || this.shared.range.to !== range.to) {
      const length = range.to - range.from;
      const timesNs = Float64Array.from({ length }, (_, at) => this.timeNs(range.from + at));
      this.shared = { range, timesNs, fresh: new Uint8Array(length) };
    }
    return this.shared;
  }

  /** The first round at or after an instant, taken or not. */
  private firstFrom(timeNs: number): number {
    let round = Math.max(0, Math.floor((timeNs - this.phaseNs) / this.intervalNs) - 1);
    while (this.timeNs(round) < timeNs) round++;
    return round;
  }
}
