/** A thread that executes runs of gates, one at a time, as it is told. */
import { parentPort } from 'node:worker_threads';
import type { SideInput } from './pool.js';
import { runSide } from './side-run.js';

parentPort?.on('message', ({ experiment, fabric, seed, needs }: SideInput) => {
  runSide(experiment, fabric, seed, needs).then(
    (outcome) => parentPort?.postMessage({ outcome }),
    (error: unknown) =>
      parentPort?.postMessage({
        bug: error instanceof Error ? (error.stack ?? error.message) : String(error),
      }),
  );
});
