/**
 * Profiles of impairments on a fabric whose clock nobody drives: each level is entered when it is due, until the profile is stopped.
 *
 * Where telling a device takes longer than a level lasts, levels are passed over: what is entered is what should hold by now. A
 * process that dies takes its profiles along; the level that stands then is given back by the undo timer of the setting.
 */
import { setTimeout as sleep } from 'node:timers/promises';

export interface Level {
  /** Since the first level was entered. */
  afterNs: number;
  enter(signal: AbortSignal): Promise<void>;
}

export class Profiles {
  private readonly running = new Map<string, { abort: AbortController; ended: Promise<void> }>();

  /**
   * @param beganMs when the first level was entered, by `performance.now()`
   * @param failed is told what a level threw; no other level comes then
   */
  start(id: string, levels: readonly Level[], beganMs: number, failed: (error: unknown) => void): void {
    const abort = new AbortController();
    this.running.set(id, { abort, ended: follow(levels, beganMs, abort.signal).catch(failed) });
  }

  /** Resolves when no level of it can come any more. */
  async stop(id: string): Promise<void> {
    const profile = this.running.get(id);
    profile?.abort.abort();
    await profile?.ended;
    this.running.delete(id);
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.running.keys()].map((id) => this.stop(id)));
  }
}

async function follow(levels: readonly Level[], beganMs: number, signal: AbortSignal): Promise<void> {
  const leftMs = ({ afterNs }: Level): number => beganMs + afterNs / 1e6 - performance.now();
  for (let next = 0; next < levels.length && !signal.aborted;) {
    const due = levels.findLastIndex((level) => leftMs(level) <= 0);
    if (due >= next) {
      await levels[due].enter(signal);
      next = due + 1;
    } else {
      await sleep(Math.max(1, leftMs(levels[next])), undefined, { signal }).catch(() => undefined);
    }
  }
}
