/**
 * How long each rank of a job computes, and what it waits: the figures of a profiler that looks at every step.
 *
 * All ranks do the same work; a rank on a slowed GPU needs its factor longer for it, and the others wait in the next
 * collective. Ranks at normal speed share one clock, so the cost follows the number of slowed ranks, not of all.
 * Waiting is the rest of a step: for slower ranks, or for the network; the rank itself can't tell which.
 * Not modelled: a rank that starts its collective while others still compute.
 */

/** Timers of profilers resolve a microsecond. */
const toResolution = (ns: number): number => Math.round(ns / 1e3) * 1e3;

/** Computing of one rank, or of all at normal speed, as the union of its operations. */
class Clock {
  busyNs = 0;
  untilNs = 0;
  /** `busyNs` when the step began, and compute time of the last whole step; NaN before there is one. */
  markNs = 0;
  lastNs = NaN;

  constructor(public factor: number) {}

  extend(nowNs: number, takesNs: number): void {
    const endNs = nowNs + takesNs;
    if (endNs <= this.untilNs) return;
    this.busyNs += endNs - Math.max(nowNs, this.untilNs);
    this.untilNs = endNs;
  }

  /** Scales what is left of the present work. */
  setFactor(nowNs: number, factor: number): void {
    const leftNs = Math.max(0, this.untilNs - nowNs);
    const scaledNs = (leftNs * factor) / this.factor;
    this.busyNs += scaledNs - leftNs;
    this.untilNs += scaledNs - leftNs;
    this.factor = factor;
  }

  /** Drops what is left of the present work, and the step that it belonged to. */
  interrupt(nowNs: number): void {
    this.busyNs -= Math.max(0, this.untilNs - nowNs);
    this.untilNs = Math.min(this.untilNs, nowNs);
    this.markNs = this.busyNs;
  }

  endStep(): void {
    this.lastNs = this.busyNs - this.markNs;
    this.markNs = this.busyNs;
  }

  copy(): Clock {
    return Object.assign(new Clock(this.factor), this);
  }
}

export class RankClocks {
  private readonly common = new Clock(1);
  /** Ranks that are, or were, slowed. */
  private readonly own = new Map<number, Clock>();
  private lastStepNs = NaN;
  /** Of the slowest rank: how much longer than normal the job's computation takes. */
  slowdown = 1;

  setSlowdown(nowNs: number, rank: number, factor: number): void {
    let clock = this.own.get(rank);
    if (clock === undefined) {
      if (factor === 1) return;
      this.own.set(rank, (clock = this.common.copy()));
    }
    clock.setFactor(nowNs, factor);
    this.slowdown = 1;
    for (const { factor: one } of this.own.values()) this.slowdown = Math.max(this.slowdown, one);
  }

  /**
   * A computation begins.
   * @returns how long it takes until the slowest rank is done, ns
   */
  begin(nowNs: number, workNs: number): number {
    this.common.extend(nowNs, workNs);
    for (const clock of this.own.values()) clock.extend(nowNs, workNs * clock.factor);
    return workNs * this.slowdown;
  }

  /** The ranks' processes end in mid-step. */
  interrupt(nowNs: number): void {
    this.common.interrupt(nowNs);
    for (const clock of this.own.values()) clock.interrupt(nowNs);
  }

  endStep(durationNs: number): void {
    this.lastStepNs = durationNs;
    this.common.endStep();
    for (const clock of this.own.values()) clock.endStep();
  }

  /** Compute time of a rank in the last whole step, whole µs in ns; NaN before there is one. */
  computeNs(rank: number): number {
    return toResolution((this.own.get(rank) ?? this.common).lastNs);
  }

  /** The rest of that step, in the same way. */
  waitNs(rank: number): number {
    return Math.max(0, toResolution(this.lastStepNs) - this.computeNs(rank));
  }
}
