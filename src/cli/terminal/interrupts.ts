/**
 * Ctrl-C and SIGTERM in two steps: the first asks to stop in order, the second leaves at once.
 *
 * What either means depends on how far a command has come, so the command says it and may change it on the way.
 */
import { guardEnd, liftEndGuard, liftStartGuard } from './early-signals.js';

/** What a command does when it is interrupted. */
export interface OnInterrupt {
  /** Asks for an orderly end. */
  first(): void;
  /** Leaves at once; must not return to the command. */
  second(): void;
}

type Source = Pick<NodeJS.Process, 'on' | 'off'>;

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

export class Interrupts {
  private count = 0;
  private lastMs = -Infinity;

  /**
   * @param sameKeyMs a signal within this time of the one before is the same key press, sent on by another process
   * @param source of signals; a test brings its own
   */
  constructor(
    private reaction: OnInterrupt,
    private readonly sameKeyMs = 0,
    private readonly source: Source = process,
    private readonly clockMs: () => number = () => performance.now(),
  ) {
    for (const signal of SIGNALS) source.on(signal, this.onSignal);
    liftStartGuard();
    liftEndGuard();
  }

  /** Whether a first signal has come. */
  get interrupted(): boolean {
    return this.count > 0;
  }

  /** From now on signals mean this. A first signal that came before is not repeated. */
  become(reaction: OnInterrupt): void {
    this.reaction = reaction;
  }

  /** The process ends soon, with a code that no later signal changes. */
  close(): void {
    if (this.source === process) guardEnd();
    for (const signal of SIGNALS) this.source.off(signal, this.onSignal);
  }

  private readonly onSignal = (): void => {
    const nowMs = this.clockMs();
    if (nowMs - this.lastMs < this.sameKeyMs) return;
    this.lastMs = nowMs;
    this.count++;
    if (this.count === 1) this.reaction.first();
    else this.reaction.second();
  };
}
