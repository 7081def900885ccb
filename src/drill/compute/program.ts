/** The program that computes drills, one after another: a worker thread of a command, or a child process of a server. */
import { parentPort, Worker } from 'node:worker_threads';
import { fabricDriver } from '../../drivers/catalog.js';
import { compute } from './compute.js';
import { thrownOf, type DrillOrder, type DrillReport } from './task.js';

// beside its host, which is not done with the task yet
void fabricDriver('simulated').load?.();

let abort = new AbortController();

const tell = (report: DrillReport): void => {
  if (parentPort !== null) parentPort.postMessage(report);
  else process.send!(report);
};

function take(order: DrillOrder): void {
  if (order.type === 'abort') return abort.abort(order.reason);
  abort = new AbortController();
  compute(order.task, tell, abort.signal).then(
    () => tell({ type: 'ended' }),
    (error: unknown) => tell({ type: 'thrown', error: thrownOf(error) }),
  );
}

if (parentPort !== null) {
  parentPort.on('message', take);
} else {
  process.on('message', take);
  // whoever asked is gone, and nobody else wants to know
  process.on('disconnect', () => process.exit());
  endWithParent();
  // a terminal's signals are for the host, which then says what is to become of the drill
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
}

/** By a thread of its own: what computes may not look up for long, and nobody else would end it. */
function endWithParent(): void {
  const watch = `const parent = process.ppid;
    setInterval(() => process.ppid === parent || process.kill(process.pid, 'SIGKILL'), 500)`;
  new Worker(watch, { eval: true, execArgv: [] }).unref();
}
