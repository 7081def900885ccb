/**
 * What the simulator says of its own computing: that it goes on, and how exact it was.
 *
 * `onWork` is called from within whatever may take long, far more often than once a second, so that a host can tell
 * "computing" from "stuck"; it may throw to end the computation. The residual is the largest relative error that a
 * search for the steady state of congestion was left with. No series shows either: an operator has neither.
 */

/** How exact the searches of a run were. */
export interface SearchRecord {
  /** Searches for a steady state so far, and those that stopped before they came to it. */
  searches: number;
  stopped: number;
  /** Largest relative error that one was left with, and when, ns; 0 where all came to their end. */
  worstResidual: number;
  worstNs: number | null;
}

export class Effort {
  onWork: (() => void) | undefined;
  readonly record: SearchRecord = { searches: 0, stopped: 0, worstResidual: 0, worstNs: null };
  nowNs = 0;

  work(): void {
    this.onWork?.();
  }

  /** @param residual relative error; 0 for a search that came to its end */
  searched(residual: number): void {
    const { record } = this;
    record.searches++;
    if (residual === 0) return;
    record.stopped++;
    if (residual <= record.worstResidual) return;
    record.worstResidual = residual;
    record.worstNs = this.nowNs;
  }
}
