/**
 * Measures cases on as many threads as there are cores, and gives the results in the order of the seeds.
 *
 * A thread gets its next case when it is done with the last one. A case that throws ends the run with its seed: a bench
 * skips nothing in silence.
 */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { CaseResult } from './measure-case.js';
import type { Answers } from './perturbations/measure.js';

const MOST_THREADS = 8;

/** What a thread is asked: a case as it is, or with each of some perturbations. */
export interface Task {
  seed: number;
  perturbations?: readonly string[];
}

type Answer<Result> = { seed: number; result: Result } | { seed: number; problem: unknown };

type OnCase = (seed: number, index: number) => void;

/** @param onCase told when a case is handed out */
export const measureCases = (seeds: readonly number[], onCase: OnCase): Promise<CaseResult[]> =>
  onThreads<CaseResult>(seeds, (seed) => ({ seed }), onCase);

export const measurePerturbed = (
  seeds: readonly number[],
  perturbations: readonly string[],
  onCase: OnCase,
): Promise<(Answers | null)[]> => onThreads(seeds, (seed) => ({ seed, perturbations }), onCase);

async function onThreads<Result>(
  seeds: readonly number[],
  taskOf: (seed: number) => Task,
  onCase: OnCase,
): Promise<Result[]> {
  const results = new Map<number, Result>();
  const threads = Math.min(MOST_THREADS, availableParallelism(), seeds.length);
  let next = 0;
  const handOut = (worker: Worker): boolean => {
    if (next >= seeds.length) return false;
    onCase(seeds[next], next);
    worker.postMessage(taskOf(seeds[next++]));
    return true;
  };
  await Promise.all(
    Array.from({ length: threads }, async () => {
      const worker = new Worker(new URL('./worker.js', import.meta.url));
      try {
        await new Promise<void>((resolve, reject) => {
          worker.on('message', (answer: Answer<Result>) => {
            if ('problem' in answer) return reject(caseProblem(answer.seed, answer.problem));
            results.set(answer.seed, answer.result);
            if (!handOut(worker)) resolve();
          });
          worker.on('error', reject);
          worker.on('exit', (code) => reject(new Error(`a measuring thread ended with ${code}`)));
          if (!handOut(worker)) resolve();
        });
      } finally {
        worker.removeAllListeners('exit');
        await worker.terminate();
      }
    }),
  );
  return seeds.map((seed) => results.get(seed)!);
}

const caseProblem = (seed: number, problem: unknown): Error =>
  new Error(`the case of seed ${seed} failed (bench explain --seeds ${seed}..${seed}): ${String(problem)}`);
