/**
 * When a QP whose packets vanish tries again, and when it gives up.
 *
 * Fixed timer, InfiniBand Architecture Specification (local ACK timeout, retry counter): the timer of the first
 * transmission counts, so with 7 retries a QP errs at the eighth expiry: 8 × 4.29 s = 34.4 s for T = 20.
 * Adaptive, after NVIDIA's "Adaptive Retransmission: Parameters Control": the interval starts at a small base,
 * grows, is capped by the QP timeout, and the QP errs once `retries × timeout` passed without progress (30.1 s).
 * Not modelled: randomised first interval, firmware that rounds a timeout up (to 4 × by specification).
 */
import { ackTimeoutNs, type FabricSettings } from '../settings.js';

export class RetransmissionSchedule {
  private readonly timeoutNs: number;
  /** Time from the stall to the QP's error, ns. */
  readonly patienceNs: number;

  constructor(private readonly settings: FabricSettings) {
    this.timeoutNs = ackTimeoutNs(settings);
    // A lone try with adaptive timing still has the one timeout that its first transmission is owed.
    this.patienceNs = settings.adaptiveRetransmission
      ? this.timeoutNs * Math.max(1, settings.retries)
      : this.timeoutNs * (settings.retries + 1);
  }

  /** Interval before try `attempt` (1 is the first retransmission), ns. */
  intervalNs(attempt: number): number {
    if (!this.settings.adaptiveRetransmission) return this.timeoutNs;
    const { adaptiveBase, adaptiveFactor } = this.settings;
    return Math.min(this.timeoutNs, adaptiveBase * adaptiveFactor ** (attempt - 1));
  }

  /** Whether try `attempt` is started by the adaptive timer and not by the QP's full timeout. */
  isAdaptive(attempt: number): boolean {
    return this.intervalNs(attempt) < this.timeoutNs;
  }
}
