/**
 * DCQCN reaction points: the rate of every flow, and what marks and timers do to it.
 *
 * After Zhu et al., SIGCOMM 2015, in the timer form of NICs: three clocks run from a flow's first mark. Alpha is
 * averaged every alpha interval; every decrease interval with a mark cuts the rate by alpha/2; every increase
 * interval since the last cut moves the rate half-way to a target which, after fast recovery, itself rises.
 * Not modelled: the byte counter, a CNP generator apart from the mark's echo, slow restart after idle time.
 */
import type { DcqcnSettings } from './network.js';

// A module constant is read faster than a global where tests run in a sandbox.
const { max, min } = Math;

export class ReactionPoints {
  /** Bytes/ns. */
  readonly rate: Float64Array;
  readonly target: Float64Array;
  readonly alpha: Float64Array;
  /** Increase periods since the last cut. */
  private readonly stage: Int32Array;
  private readonly markedForAlpha: Uint8Array;
  private readonly markedForCut: Uint8Array;
  private readonly alphaNs: Float64Array;
  private readonly decreaseNs: Float64Array;
  private readonly increaseNs: Float64Array;
  /** Earliest of a flow's three clocks, ns; Infinity before its first mark. */
  readonly nextNs: Float64Array;
  /** Cuts so far, per flow. */
  readonly cuts: Int32Array;

  /** @param lineRate bytes/ns of each flow's NIC, where it starts */
  constructor(
    private readonly settings: DcqcnSettings | null,
    private readonly lineRate: Float64Array,
  ) {
    const count = lineRate.length;
    this.rate = lineRate.slice();
    this.target = lineRate.slice();
    this.alpha = new Float64Array(count).fill(1);
    this.stage = new Int32Array(count);
    this.cuts = new Int32Array(count);
    this.markedForAlpha = new Uint8Array(count);
    this.markedForCut = new Uint8Array(count);
    const never = (): Float64Array => new Float64Array(count).fill(Infinity);
    [this.alphaNs, this.decreaseNs, this.increaseNs, this.nextNs] = [never(), never(), never(), never()];
  }

  /** The sender hears of a mark. */
  mark(flow: number, nowNs: number): void {
    const { settings } = this;
    if (settings === null) return;
    this.markedForCut[flow] = 1;
    if (this.nextNs[flow] < Infinity) {
      this.markedForAlpha[flow] = 1;
      return;
    }
    // The first mark sets alpha itself, so it does not count again when alpha is averaged.
    this.alphaNs[flow] = nowNs + settings.alphaIntervalNs;
    this.decreaseNs[flow] = nowNs + settings.decreaseIntervalNs;
    this.nextNs[flow] = min(this.alphaNs[flow], this.decreaseNs[flow]);
  }

  /** Lets all clocks of a flow run to `untilNs`; true when its rate changed. */
  advance(flow: number, untilNs: number): boolean {
    let changed = false;
    while (this.nextNs[flow] <= untilNs) {
      const nowNs = this.nextNs[flow];
      if (this.alphaNs[flow] === nowNs) this.average(flow, nowNs);
      if (this.decreaseNs[flow] === nowNs) changed = this.decrease(flow, nowNs) || changed;
      if (this.increaseNs[flow] === nowNs) changed = this.increase(flow, nowNs) || changed;
      this.nextNs[flow] = min(this.alphaNs[flow], this.decreaseNs[flow], this.increaseNs[flow]);
    }
    return changed;
  }

  /** Stops a flow's clocks. */
  stop(flow: number): void {
    this.alphaNs[flow] = this.decreaseNs[flow] = this.increaseNs[flow] = this.nextNs[flow] = Infinity;
  }

  private average(flow: number, nowNs: number): void {
    const { gain, alphaIntervalNs } = this.settings!;
    this.alpha[flow] = (1 - gain) * this.alpha[flow] + (this.markedForAlpha[flow] === 1 ? gain : 0);
    this.markedForAlpha[flow] = 0;
    this.alphaNs[flow] = nowNs + alphaIntervalNs;
  }

  private decrease(flow: number, nowNs: number): boolean {
    const { decreaseIntervalNs, increaseIntervalNs, clampTargetRate, minRate } = this.settings!;
    this.decreaseNs[flow] = nowNs + decreaseIntervalNs;
    if (this.markedForCut[flow] === 0) return false;
    this.markedForCut[flow] = 0;
    if (clampTargetRate || this.stage[flow] > 0) this.target[flow] = this.rate[flow];
    this.rate[flow] = max(minRate, this.rate[flow] * (1 - this.alpha[flow] / 2));
    this.stage[flow] = 0;
    this.cuts[flow]++;
    this.increaseNs[flow] = nowNs + increaseIntervalNs;
    return true;
  }

  private increase(flow: number, nowNs: number): boolean {
    const { fastRecoveryTimes, additiveIncrease, hyperIncrease, increaseIntervalNs } = this.settings!;
    const stage = this.stage[flow]++;
    this.increaseNs[flow] = nowNs + increaseIntervalNs;
    if (stage >= fastRecoveryTimes) {
      const step = stage === fastRecoveryTimes ? additiveIncrease : hyperIncrease;
      this.target[flow] = min(this.lineRate[flow], this.target[flow] + step);
    }
    this.rate[flow] = (this.rate[flow] + this.target[flow]) / 2;
    return true;
  }
}
