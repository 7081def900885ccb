/**
 * A worker in a process of its own, for suites that kill, stop and end it.
 *
 * It is the product's worker with shorter times and fabrics whose settings outlive it. A fabric named `at-STEP` holds
 * its drill when it first comes to that step: the worker prints `STEP` and goes on when it reads a line. One named `slow-…` takes real time
 * to advance.
 */
import { compileProgram, startProgram, type ChildProgram, type RunningProgram } from './child-program.js';

/** Short, for tests: what production takes seconds for happens in a moment. */
export const SHORT_TIMES = { leaseMs: 2500, heartbeatMs: 100, sweepMs: 200 };

const SOURCE = `
  import { once } from 'node:events';
  import { serveUntilSignal } from './src/cli/commands/service.js';
  import { loadConfig } from './src/system/config/config.js';
  import { outsideFabrics } from './test/support/outside-fabric.js';

  const [world, times] = process.argv.slice(2);
  process.stdin.resume();
  const held = new Set();
  const hold = async (fabric, step) => {
    if (fabric.startsWith('slow-')) await new Promise((resolve) => setTimeout(resolve, 100));
    if (fabric !== 'at-' + step || held.has(fabric)) return;
    held.add(fabric);
    process.stdout.write(step + '\\n');
    await once(process.stdin, 'data');
  };
  const openFabric = outsideFabrics({ world, hold });
  await serveUntilSignal(loadConfig(), { api: false, worker: { ...JSON.parse(times), openFabric } }, () =>
    process.stdout.write('ready\\n'),
  );
  process.stdin.unref();
`;

export const compileWorker = (): ChildProgram => compileProgram(SOURCE);

/** Resolves when the worker takes runs. */
export async function startWorker(
  program: ChildProgram,
  world: string,
  environment: NodeJS.ProcessEnv,
): Promise<RunningProgram> {
  const worker = startProgram(program, [world, JSON.stringify(SHORT_TIMES)], {
    env: { ...process.env, LOG_LEVEL: 'warn', ...environment },
  });
  const first = await worker.line();
  if (first !== 'ready') throw new Error(`the worker said ${first}`);
  return worker;
}
