/** A thread that executes runs of one gate, as it is told. Its fabrics and experiments came with its start. */
import { parentPort, workerData } from 'node:worker_threads';
import type { PoolDocuments } from './pool.js';
import type { SideTask } from './conduct.js';
import { runSide } from './side-run.js';

const documents = workerData as PoolDocuments;

parentPort?.on('message', ({ id, task }: { id: number; task: SideTask }) => {
  const { experiment, side, seed, needs } = task;
  runSide(documents.experiments[experiment], documents[side], seed, needs).then(
    (outcome) => parentPort?.postMessage({ id, outcome }),
    (error: unknown) =>
      parentPort?.postMessage({
        id,
        bug: error instanceof Error ? (error.stack ?? error.message) : String(error),
      }),
  );
});
