/**
 * Tells the host of a drill that it is being computed, and ends one whose simulated time stands still.
 *
 * Solvers, events, diagnosis and twins call back many times a second. The host is told a few times a second, so it can
 * tell computing from stuck: one that hears nothing for {@link STUCK_AFTER_S} may end the program. Within a simulation the
 * same span without any simulated time is taken for a drill that never ends; it becomes an internal error here, so that
 * the faults are undone and the run ends as `error`. Wall clocks are the host's business: nothing pure reads one.
 */
import { InternalError } from '../core/assertion.js';

/** Wall seconds without any progress after which a drill counts as stuck. */
export const STUCK_AFTER_S = 120;
const TELL_EVERY_MS = 100;
/** Longer than this between two calls nothing was simulated: somebody waited for a disk or a database. */
const LONGEST_GAP_MS = 1000;

export class WorkWatch {
  private simulatedNs = -1;
  /** For how long the clock has stood while something was computed. */
  private standsMs = 0;
  private seenMs: number;
  private toldMs: number;

  constructor(
    private readonly tell: () => void,
    private readonly clockMs: () => number = () => performance.now(),
  ) {
    this.seenMs = this.toldMs = clockMs();
  }

  /** Something is being computed that has no clock: a diagnosis, a score. */
  readonly working = (): void => this.sign(this.clockMs());

  /** A simulation is being computed whose clock stands here. @throws InternalError when it does for too long */
  simulating(simulatedNs: number): void {
    const nowMs = this.clockMs();
    this.sign(nowMs);
    const gapMs = nowMs - this.seenMs;
    this.seenMs = nowMs;
    if (simulatedNs !== this.simulatedNs) {
      this.simulatedNs = simulatedNs;
      this.standsMs = 0;
      return;
    }
    this.standsMs += Math.min(gapMs, LONGEST_GAP_MS);
    if (this.standsMs <= STUCK_AFTER_S * 1e3) return;
    const standsS = Math.round(this.standsMs / 1e3);
    throw new InternalError('simulated time does not go on', 'drill', { simulatedNs, standsS });
  }

  private sign(nowMs: number): void {
    if (nowMs - this.toldMs < TELL_EVERY_MS) return;
    this.toldMs = nowMs;
    this.tell();
  }
}
