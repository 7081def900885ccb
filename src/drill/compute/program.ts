/** The program that computes, one drill or question after another: a thread of a command or server, or a child process of a server. */
import { parentPort, Worker } from 'node:worker_threads';
import { fabricDriver } from '../../drivers/catalog.js';
import { compute } from './compute.js';
import { QUESTIONS, type QuestionName } from './questions.js';
import { thrownOf, type DrillOrder, type DrillReport, type Reply } from './task.js';

// beside its host, which is not done with the task yet
void fabricDriver('simulated').load?.();

let abort = new AbortController();

const tell = (report: DrillReport | Reply): void => {
  if (parentPort !== null) parentPort.postMessage(report);
  else process.send!(report);
};

const thrown = (error: unknown): void => tell({ type: 'thrown', error: thrownOf(error) });

function take(order: DrillOrder): void {
  if (order.type === 'abort') return abort.abort(order.reason);
  if (order.type === 'question') return answer(order.name, order.asked);
  abort = new AbortController();
  compute(order.task, tell, abort.signal).then(() => tell({ type: 'ended' }), thrown);
}

function answer(name: QuestionName, asked: unknown): void {
  const answering = (QUESTIONS[name] as (asked: unknown) => Promise<unknown>)(asked);
  answering.then((told) => tell({ type: 'answer', answer: told }), thrown);
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

tell({ type: 'loaded' });

/** By a thread of its own: what computes may not look up for long, and nobody else would end it. */
function endWithParent(): void {
  const watch = `const parent = process.ppid;
    setInterval(() => process.ppid === parent || process.kill(process.pid, 'SIGKILL'), 500)`;
  new Worker(watch, { eval: true, execArgv: [] }).unref();
}
