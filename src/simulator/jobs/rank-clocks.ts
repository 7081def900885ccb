/**
 * How long each rank of a job computes, and what it waits: the figures of a profiler that looks at every step.
 *
 * All ranks do the same work; a rank on a slowed GPU needs its factor longer for it, and the others wait in the next
 * collective. Ranks at normal speed share one clock, so the cost follows the number of slowed ranks, not of all.
 * Waiting is the rest of a step: for slower ranks, or for the network; the rank itself can't tell which.
 * In an untidy world each rank has a factor and stops of its own in each step; they are the step's, whatever it computes.
 * Not modelled: a rank that starts its collective while others still compute.
 */

import type { StepNoise } from '../noise/compute-noise.js';

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

/** What a step of an untidy world makes of each rank. */
class Untidy implements StepNoise {
  readonly stopsNs: Float64Array;
  /** Of the last whole step. */
  readonly lastFactors: Float64Array;
  readonly lastStopsNs: Float64Array;
  /** Of the fastest pace that the common clock may take for granted: 1, or less where all ranks are faster. */
  pace = 1;
  lastPace = 1;
  /** No computation of the step has begun. */
  fresh = true;

  constructor(readonly factors: Float64Array) {
    this.stopsNs = new Float64Array(factors.length);
    this.lastFactors = factors.slice();
    this.lastStopsNs = new Float64Array(factors.length);
  }

  endStep(): void {
    this.lastFactors.set(this.factors);
    this.lastStopsNs.set(this.stopsNs);
    this.lastPace = this.pace;
  }
}

export class RankClocks {
  private readonly common = new Clock(1);
  private untidy: Untidy | undefined;
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
    this.findSlowest();
  }

  /** Lets `draw` say what the step that begins makes of each of so many ranks. */
  beginStep(ranks: number, draw: (out: StepNoise) => void): void {
    this.untidy ??= new Untidy(new Float64Array(ranks).fill(1));
    draw(this.untidy);
    this.untidy.fresh = true;
    this.findSlowest();
  }

  private findSlowest(): void {
    this.slowdown = 1;
    if (this.untidy !== undefined) {
      const { factors } = this.untidy;
      let slowest = 0;
      for (let rank = 0; rank < factors.length; rank++) if (factors[rank] > slowest) slowest = factors[rank];
      this.untidy.pace = Math.min(1, slowest);
      this.slowdown = slowest;
    }
    for (const [rank, { factor }] of this.own) {
      this.slowdown = Math.max(this.slowdown, factor * (this.untidy?.factors[rank] ?? 1));
    }
  }

  /**
   * A computation begins.
   * @returns how long it takes until the slowest rank is done, ns
   */
  begin(nowNs: number, workNs: number): number {
    const { untidy } = this;
    const pace = untidy?.pace ?? 1;
    this.common.extend(nowNs, workNs * pace);
    for (const clock of this.own.values()) clock.extend(nowNs, workNs * pace * clock.factor);
    if (untidy?.fresh !== true) return workNs * this.slowdown;
    untidy.fresh = false;
    let takesNs = 0;
    for (let rank = 0; rank < untidy.factors.length; rank++) {
      const slowed = this.own.get(rank)?.factor ?? 1;
      takesNs = Math.max(takesNs, workNs * untidy.factors[rank] * slowed + untidy.stopsNs[rank]);
    }
    return takesNs;
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
    this.untidy?.endStep();
  }

  /** Compute time of a rank in the last whole step, whole µs in ns; NaN before there is one. */
  computeNs(rank: number): number {
    const { lastNs } = this.own.get(rank) ?? this.common;
    if (this.untidy === undefined) return toResolution(lastNs);
    const { lastFactors, lastPace, lastStopsNs } = this.untidy;
    return toResolution((lastNs * lastFactors[rank]) / lastPace + lastStopsNs[rank]);
  }

  /** The rest of that step, in the same way. */
  waitNs(rank: number): number {
    return Math.max(0, toResolution(this.lastStepNs) - this.computeNs(rank));
  }
}
