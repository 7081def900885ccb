/**
 * FEC counters as a port shows them: whole numbers, scattered like counts of rare events about what is expected.
 *
 * Figures of one port and round share one draw, since they come from the same codewords: a second with more bad symbols
 * has more bad codewords, too. None counts more than arrived: codewords are corrected or not, and a symbol is wrong once.
 * The share p of what is counted leaves a variance of n·p·(1 - p).
 */
import { poissonOf, uniformAt } from '../noise/draws.js';
import type { OpticNoise } from '../noise/optic-noise.js';
import type { Signals } from '../network/signals.js';

/** Scales a uniform draw to a standard deviation of one. */
const SQRT_12 = Math.sqrt(12);
/** Counts below come from their distribution, those above from a normal one. */
const RARE = 40;
/** What nobody will live to see must not be rounded up. */
const NEVER = 1e-3;

export class FecCounts {
  readonly corrected: Float64Array;
  readonly uncorrected: Float64Array;
  readonly symbolErrors: Float64Array;
  /** By port: what had arrived, and been expected of it, at the last reading. */
  private readonly codewords: Float64Array;
  private readonly expected: readonly Float64Array[];
  private readonly drawn: Float64Array;
  private readonly round: Int32Array;
  /** Of the port and round that were read last. */
  private drift = 1;

  constructor(
    private readonly signals: Signals,
    /** By port: the direction on which it receives. */
    private readonly receives: Int32Array,
    private readonly seed: number,
    /** Undefined in a quiet world. */
    private readonly noise?: OpticNoise,
  ) {
    const perPort = (): Float64Array => new Float64Array(receives.length);
    this.corrected = perPort();
    this.uncorrected = perPort();
    this.symbolErrors = perPort();
    this.codewords = perPort();
    this.expected = [perPort(), perPort(), perPort()];
    this.drawn = perPort();
    this.round = new Int32Array(receives.length).fill(-1);
  }

  /** Of a port in a round: zero on average, with a standard deviation of one. */
  luck(port: number, round: number): number {
    this.draw(port, round);
    return this.drawn[port];
  }

  /** Brings a port's counts up to date, once a round. */
  read(nowNs: number, round: number, port: number): void {
    if (!this.draw(port, round)) return;
    const { signals } = this;
    const direction = this.receives[port];
    signals.settle(nowNs, direction);
    // A healthy link's ratio drifts; what ails a sick one outweighs that.
    this.drift =
      this.noise !== undefined && signals.condition(direction) === undefined
        ? this.noise.drift(port, nowNs)
        : 1;
    const codewords = signals.codewords[direction] - this.codewords[port];
    this.codewords[port] = signals.codewords[direction];
    const uncorrected = this.scatter(0, port, signals.uncorrectedCodewords[direction], codewords);
    this.uncorrected[port] += Math.min(uncorrected, Math.floor(codewords));
    const corrected = this.scatter(1, port, signals.correctedCodewords[direction], codewords);
    this.corrected[port] += Math.min(corrected, Math.max(0, Math.floor(codewords) - uncorrected));
    const symbols = codewords * signals.codewordSymbols;
    const wrong = this.scatter(2, port, signals.symbolErrors[direction], symbols);
    this.symbolErrors[port] += Math.min(wrong, Math.floor(symbols));
  }

  /** True for the first draw of a round. */
  private draw(port: number, round: number): boolean {
    if (this.round[port] === round) return false;
    this.round[port] = round;
    this.drawn[port] = SQRT_12 * (uniformAt(this.seed, port, round) - 0.5);
    return true;
  }

  /** Bits that were wrong among so many in a round: a whole number, so few errors make a rough ratio. */
  wrongBits(port: number, round: number, expected: number): number {
    this.draw(port, round);
    return poissonOf(this.noise!.luck(port, round, 0), expected * this.drift);
  }

  private scatter(which: number, port: number, expected: number, trials: number): number {
    const mean = (expected - this.expected[which][port]) * (which === 0 ? 1 : this.drift);
    this.expected[which][port] = expected;
    if (this.noise !== undefined && mean < RARE) {
      return poissonOf(this.noise.luck(port, this.round[port], 0), mean);
    }
    if (mean < NEVER) return 0;
    const spread = Math.sqrt(mean * Math.max(0, 1 - mean / trials));
    return Math.max(0, Math.floor(mean + this.drawn[port] * spread + 0.5));
  }
}
