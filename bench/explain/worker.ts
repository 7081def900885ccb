/** A thread that measures one case after another, as it is told. */
import { parentPort } from 'node:worker_threads';
import { measureCase } from './measure-case.js';

parentPort?.on('message', (seed: number) => {
  measureCase(seed).then(
    (result) => parentPort?.postMessage({ seed, result }),
    (error: unknown) =>
      parentPort?.postMessage({
        seed,
        problem: error instanceof Error ? (error.stack ?? error.message) : error,
      }),
  );
});
