/** The thread that answers questions, one after another. */
import { open } from 'node:fs/promises';
import { parentPort } from 'node:worker_threads';
import type { Verdict } from '../../diagnosis/verdict.js';
import { examineFabric, examineFile } from '../examine.js';
import type { Answer, Question } from './answers.js';
import { thrownOf } from './task.js';

async function verdictOn(question: Question): Promise<Verdict> {
  if (question.type === 'fabric') return examineFabric(question.fabric, question.seed, question.window);
  const { source, fabric, window } = question;
  if (typeof source !== 'number') return examineFile(source, fabric, window);
  // of this process, and without a name of its own
  const file = await open(`/dev/fd/${source}`);
  try {
    return await examineFile(file, fabric, window);
  } finally {
    await file.close();
  }
}

const tell = (answer: Answer): void => parentPort!.postMessage(answer);

parentPort!.on('message', (question: Question) => {
  verdictOn(question).then(
    (verdict) => tell({ verdict }),
    (error: unknown) => tell({ error: thrownOf(error) }),
  );
});
