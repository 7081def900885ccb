/**
 * How far another machine's monotonic clock is from this one's, told by questions over a session to it, with its bound.
 *
 * The other clock was read between our sending and our receiving, so half the way there and back bounds the error of the
 * middle (Cristian 1989); the quickest of several answers bounds it best (the clock filter of NTP, RFC 5905, section 10).
 * An answer is worth less the older it is: two clocks may drift apart as fast as kernels slew them. An answer that an older
 * one rules out means that the other clock has jumped, as when its machine slept, and the older ones are forgotten.
 * Not modelled: a way there that always takes longer than the way back, which the bound covers and the middle does not.
 */

/** MAXFREQ of Linux, 500 ppm: a clock under NTP is slewed by no more; two of them drift apart by twice that. */
const MOST_DRIFT = 2 * 500e-6;

interface Answer {
  /** Other clock less ours, ns. */
  offsetNs: number;
  /** Of the offset when it was told, ns. */
  errorNs: number;
  /** When it was asked for, by our clock, ns: clocks drift while it is under way, too. */
  atNs: number;
}

const agedErrorNs = ({ errorNs, atNs }: Answer, nowNs: number): number =>
  errorNs + MOST_DRIFT * Math.max(0, nowNs - atNs);

export class ClockOffset {
  private best: Answer | undefined;

  /** @param thereNs what the other clock said between our instants `sentNs` and `receivedNs` */
  add(sentNs: number, thereNs: number, receivedNs: number): void {
    const answer = {
      offsetNs: thereNs - (sentNs + receivedNs) / 2,
      errorNs: (receivedNs - sentNs) / 2,
      atNs: sentNs,
    };
    const { best } = this;
    if (best !== undefined) {
      const [errorNs, bestErrorNs] = [answer, best].map((one) => agedErrorNs(one, receivedNs));
      const agree = Math.abs(answer.offsetNs - best.offsetNs) <= errorNs + bestErrorNs;
      if (agree && bestErrorNs <= errorNs) return;
    }
    this.best = answer;
  }

  /** The instant of ours at which the other clock said this, ns. @throws Error before the first answer */
  hereNs(thereNs: number): number {
    if (this.best === undefined) throw new Error('the other clock has not been asked');
    return thereNs - this.best.offsetNs;
  }

  /** By how much `hereNs` may be off, ns; infinite before the first answer. @param nowNs our clock */
  errorNs(nowNs: number): number {
    return this.best === undefined ? Infinity : agedErrorNs(this.best, nowNs);
  }
}
