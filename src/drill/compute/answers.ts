/**
 * Has what is not a drill and may take long computed by threads: a server goes on answering others meanwhile.
 *
 * A thread takes one question after another; more than `MOST_THREADS` at a time wait.
 */
import { Computing } from './host.js';
import type { Answered, Asked, QuestionName } from './questions.js';

/** A verdict may take a core for minutes; the others are for drills and the server itself. */
const MOST_THREADS = 2;
const IDLE_AFTER_MS = 30_000;

export class Answers {
  private readonly idle = new Map<Computing, NodeJS.Timeout>();
  private readonly threads = new Set<Computing>();
  private readonly waiting: (() => void)[] = [];
  private busy = 0;

  /** @throws what the question can't be answered for; ComputingLostError when its thread ended before */
  async ask<Name extends QuestionName>(name: Name, asked: Asked<Name>): Promise<Answered<Name>> {
    if (this.busy < MOST_THREADS) this.busy++;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    const thread = this.take();
    try {
      return await thread.ask(name, asked);
    } finally {
      this.giveBack(thread);
      // who waits takes our place
      const next = this.waiting.shift();
      if (next === undefined) this.busy--;
      else next();
    }
  }

  /** Ends the threads; questions under way are lost. */
  async close(): Promise<void> {
    await Promise.all([...this.threads].map((thread) => this.leave(thread)));
  }

  private take(): Computing {
    for (const [kept, timer] of this.idle) {
      clearTimeout(timer);
      this.idle.delete(kept);
      if (!kept.isLost) return kept;
      this.threads.delete(kept);
    }
    const thread = Computing.thread();
    this.threads.add(thread);
    return thread;
  }

  private giveBack(thread: Computing): void {
    if (thread.isLost) this.threads.delete(thread);
    else this.idle.set(thread, setTimeout(() => void this.leave(thread), IDLE_AFTER_MS).unref());
  }

  private leave(thread: Computing): Promise<void> {
    clearTimeout(this.idle.get(thread));
    this.idle.delete(thread);
    this.threads.delete(thread);
    return thread.close();
  }
}
