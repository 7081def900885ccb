/**
 * Executes runs of a gate on several threads. Each gets its next run when it is done with the last one.
 *
 * A thread is started when there is something for it to do. A run that throws is our own bug and ends the gate with the
 * experiment and the seed that do it again.
 */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { CheckedGate } from './gate-input.js';
import type { ExecutedRun, SideTask } from './conduct.js';
import type { SideOutcome } from './side-run.js';

export type PoolDocuments = Pick<CheckedGate, 'experiments' | 'baseline' | 'candidate'>;

interface Waiting {
  task: SideTask;
  resolve: (run: ExecutedRun) => void;
  reject: (error: Error) => void;
}

type Answer = { id: number; outcome: SideOutcome } | { id: number; bug: string };

/** More threads than these gain nothing that their memory is worth. */
const MOST_THREADS = 16;

export const defaultThreads = (): number => Math.min(MOST_THREADS, availableParallelism());

export class RunPool {
  private readonly queue: Waiting[] = [];
  private readonly idle: Worker[] = [];
  private readonly workers = new Map<Worker, Waiting | undefined>();
  private readonly documents: PoolDocuments;
  private ids = 0;
  private closed = false;

  constructor(
    { experiments, baseline, candidate }: PoolDocuments,
    private readonly threads = defaultThreads(),
  ) {
    this.documents = { experiments, baseline, candidate };
  }

  readonly execute = (task: SideTask): Promise<ExecutedRun> =>
    new Promise((resolve, reject) => {
      if (this.closed) return reject(new Error('the gate was stopped'));
      this.queue.push({ task, resolve, reject });
      this.handOut();
    });

  async close(): Promise<void> {
    this.closed = true;
    for (const { reject } of this.queue.splice(0)) reject(new Error('the gate was stopped'));
    await Promise.all([...this.workers.keys()].map((worker) => worker.terminate()));
  }

  private handOut(): void {
    while (this.queue.length > 0) {
      const worker = this.idle.pop() ?? (this.workers.size < this.threads ? this.start() : undefined);
      if (worker === undefined) return;
      const waiting = this.queue.shift()!;
      this.workers.set(worker, waiting);
      worker.postMessage({ id: this.ids++, task: waiting.task });
    }
  }

  private start(): Worker {
    const worker = new Worker(new URL('./side-worker.js', import.meta.url), { workerData: this.documents });
    this.workers.set(worker, undefined);
    worker.on('message', (answer: Answer) => {
      const waiting = this.workers.get(worker)!;
      this.workers.set(worker, undefined);
      this.idle.push(worker);
      if ('bug' in answer) waiting.reject(this.bugOf(waiting.task, answer.bug));
      else waiting.resolve({ outcome: answer.outcome });
      this.handOut();
    });
    worker.on('error', (error) => this.lost(worker, error));
    worker.on('exit', (code) => this.lost(worker, new Error(`a thread of the gate ended with ${code}`)));
    return worker;
  }

  private lost(worker: Worker, error: Error): void {
    const waiting = this.workers.get(worker);
    this.workers.delete(worker);
    waiting?.reject(this.bugOf(waiting.task, error.stack ?? error.message));
  }

  private bugOf({ experiment, side, seed }: SideTask, detail: string): Error {
    const { name } = this.documents.experiments[experiment].metadata;
    return new Error(`${name} on the ${side} with seed ${seed} failed: ${detail}`);
  }
}
