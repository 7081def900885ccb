/** A thread that measures one case after another, as it is told. */
import { parentPort } from 'node:worker_threads';
import { measureCase } from './measure-case.js';
import { answersOf } from './perturbations/measure.js';
import type { Task } from './pool.js';

parentPort?.on('message', ({ seed, perturbations }: Task) => {
  const measuring = perturbations === undefined ? measureCase(seed) : answersOf(seed, perturbations);
  measuring.then(
    (result) => parentPort?.postMessage({ seed, result }),
    (error: unknown) =>
      parentPort?.postMessage({
        seed,
        problem: error instanceof Error ? (error.stack ?? error.message) : error,
      }),
  );
});
