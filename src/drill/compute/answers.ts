/**
 * Has what is not a drill and may take long answered by a thread: a server goes on answering others meanwhile.
 *
 * A thread takes one question after another; more than `MOST_THREADS` at a time wait. What needs the server's own settings
 * (a real fabric) is not for a thread, which has none.
 */
import { Worker } from 'node:worker_threads';
import type { Verdict } from '../../diagnosis/verdict.js';
import type { FabricDocument } from '../../documents/fabric-document.js';
import { programPath } from '../../system/program-path.js';
import type { Window } from '../examine.js';
import { ComputingLostError } from './host.js';
import { errorOf, type Thrown } from './task.js';

export type Question =
  | {
      type: 'file';
      /** The evidence file, or the descriptor under which this process has it open. */
      source: Uint8Array | number;
      /** The one that came with the file when left out. */
      fabric: FabricDocument | undefined;
      window: Window;
    }
  | { type: 'fabric'; fabric: FabricDocument; seed: number; window: Required<Window> };

export type Answer = { verdict: Verdict } | { error: Thrown };

/** A verdict may take a core for minutes; the others are for drills and the server itself. */
const MOST_THREADS = 2;
const IDLE_AFTER_MS = 30_000;

export class Answers {
  private readonly idle = new Map<Worker, NodeJS.Timeout>();
  private readonly threads = new Set<Worker>();
  private readonly waiting: (() => void)[] = [];
  private busy = 0;

  /** @throws what the question can't be answered for; ComputingLostError when its thread ended before */
  async ask(question: Question): Promise<Verdict> {
    if (this.busy < MOST_THREADS) this.busy++;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      return await answerFrom(this.take(), question, (thread) => this.giveBack(thread));
    } finally {
      // who waits takes our place
      const next = this.waiting.shift();
      if (next === undefined) this.busy--;
      else next();
    }
  }

  /** Ends the threads; questions under way are lost. */
  async close(): Promise<void> {
    for (const timer of this.idle.values()) clearTimeout(timer);
    this.idle.clear();
    await Promise.all([...this.threads].map((thread) => thread.terminate()));
  }

  private take(): Worker {
    const [kept] = this.idle.keys();
    if (kept !== undefined) {
      clearTimeout(this.idle.get(kept));
      this.idle.delete(kept);
      return kept;
    }
    const thread = new Worker(programPath('answering', import.meta.url), {
      execArgv: [...process.execArgv, '--no-warnings'],
    });
    this.threads.add(thread);
    thread.once('exit', () => {
      this.threads.delete(thread);
      clearTimeout(this.idle.get(thread));
      this.idle.delete(thread);
    });
    return thread;
  }

  private giveBack(thread: Worker): void {
    this.idle.set(thread, setTimeout(() => void thread.terminate(), IDLE_AFTER_MS).unref());
  }
}

function answerFrom(thread: Worker, question: Question, done: (thread: Worker) => void): Promise<Verdict> {
  return new Promise<Verdict>((resolve, reject) => {
    const lose = (code: number): void => reject(new ComputingLostError('thread', String(code)));
    thread.once('error', reject);
    thread.once('exit', lose);
    thread.once('message', (answer: Answer) => {
      thread.off('error', reject);
      thread.off('exit', lose);
      done(thread);
      if ('verdict' in answer) resolve(answer.verdict);
      else reject(errorOf(answer.error));
    });
    thread.postMessage(question);
  });
}
