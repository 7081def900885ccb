/**
 * Executes runs of gates on several threads. Each gets its next run when it is done with the last one.
 *
 * A thread is started when there is something for it to do, and knows no gate: fabric and experiment come with each run,
 * which costs little beside the run itself. A run that throws is our own bug, told with the experiment and the seed that
 * do it again.
 */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Execute } from './conduct.js';
import type { CheckedGate } from './gate-input.js';
import type { SideTask } from './rounds.js';
import { needsOf, type SideInput, type SideOutcome } from './side-run.js';

export function sideInput(gate: CheckedGate, { experiment, side, seed }: SideTask): SideInput {
  return {
    experiment: gate.experiments[experiment],
    fabric: gate[side],
    seed,
    needs: needsOf(gate.objectives),
  };
}

/** The runs of a gate by these threads. */
export const executeOn =
  (pool: RunPool, gate: CheckedGate): Execute =>
  async (task) => ({ outcome: await pool.run(sideInput(gate, task)) });

interface Waiting {
  input: SideInput;
  resolve: (outcome: SideOutcome) => void;
  reject: (error: Error) => void;
}

type Answer = { outcome: SideOutcome } | { bug: string };

/** More threads than these gain nothing that their memory is worth. */
const MOST_THREADS = 16;

export const defaultThreads = (): number => Math.min(MOST_THREADS, availableParallelism());

export class RunPool {
  private readonly queue: Waiting[] = [];
  private readonly idle: Worker[] = [];
  private readonly workers = new Map<Worker, Waiting | undefined>();
  private closed = false;

  constructor(private readonly threads = defaultThreads()) {}

  run(input: SideInput): Promise<SideOutcome> {
    return new Promise((resolve, reject) => {
      if (this.closed) return reject(new Error('the gate was stopped'));
      this.queue.push({ input, resolve, reject });
      this.handOut();
    });
  }

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
      worker.postMessage(waiting.input);
    }
  }

  private start(): Worker {
    const worker = new Worker(new URL('./side-worker.js', import.meta.url));
    this.workers.set(worker, undefined);
    worker.on('message', (answer: Answer) => {
      const waiting = this.workers.get(worker)!;
      this.workers.set(worker, undefined);
      this.idle.push(worker);
      if ('bug' in answer) waiting.reject(bugOf(waiting.input, answer.bug));
      else waiting.resolve(answer.outcome);
      this.handOut();
    });
    worker.on('error', (error) => this.lost(worker, error));
    worker.on('exit', (code) => this.lost(worker, new Error(`a thread of the gate ended with ${code}`)));
    return worker;
  }

  private lost(worker: Worker, error: Error): void {
    const waiting = this.workers.get(worker);
    this.workers.delete(worker);
    const idle = this.idle.indexOf(worker);
    if (idle >= 0) this.idle.splice(idle, 1);
    waiting?.reject(
      this.closed ? new Error('the gate was stopped') : bugOf(waiting.input, error.stack ?? error.message),
    );
  }
}

const bugOf = ({ experiment, fabric, seed }: SideInput, detail: string): Error =>
  new Error(`${experiment.metadata.name} on ${fabric.metadata.name} with seed ${seed} failed: ${detail}`);
