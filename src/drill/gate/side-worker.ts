/** A thread that executes runs of gates, one at a time, as it is told. */
import { parentPort } from 'node:worker_threads';
import { runSide, type SideInput } from './side-run.js';

parentPort?.on('message', (input: SideInput) => {
  runSide(input).then(
    (outcome) => parentPort?.postMessage({ outcome }),
    (error: unknown) =>
      parentPort?.postMessage({
        bug: error instanceof Error ? (error.stack ?? error.message) : String(error),
      }),
  );
});
