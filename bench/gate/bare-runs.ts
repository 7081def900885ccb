/**
 * What this machine gives at most for a second process: the same runs as a gate's by processes that share nothing, neither
 * queue nor database nor order, with all compiled before the clock starts. What a gate gains by a second worker is held
 * beside it.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { sideInput } from '../../src/drill/gate/pool.js';
import type { SideInput } from '../../src/drill/gate/side-run.js';
import { checkGate } from '../../src/drill/gate/gate-input.js';
import type { Pair } from './measure-pair.js';

const PROGRAM = fileURLToPath(new URL('./bare-process.js', import.meta.url));
const SEEDS = 4;
const ROUNDS = 3;

function inputsOf({ suite, experiments, baseline, candidate }: Pair, firstSeed: number): SideInput[] {
  const gate = checkGate({ suite, experiments, baseline, candidate });
  return Array.from({ length: SEEDS }, (_, at) => firstSeed + at).flatMap((seed) =>
    experiments.flatMap((_, experiment) =>
      (['baseline', 'candidate'] as const).map((side) => sideInput(gate, { experiment, side, seed })),
    ),
  );
}

async function secondsOf(processes: readonly ChildProcess[], inputs: SideInput[]): Promise<number> {
  const startMs = performance.now();
  await Promise.all(
    processes.map(
      (child) =>
        new Promise<void>((resolve, reject) => {
          child.once('message', () => resolve());
          child.once('exit', (code) => reject(new Error(`a process of the bench ended with ${code}`)));
          child.send(inputs);
        }),
    ),
  );
  return (performance.now() - startMs) / 1000;
}

/** How many times as much two processes make as one: the median of a few rounds. */
export async function gainOfBareProcesses(pair: Pair): Promise<number> {
  const processes = [1, 2].map(() => fork(PROGRAM, [], { serialization: 'advanced' }));
  try {
    await secondsOf(processes, inputsOf(pair, 1));
    const inputs = inputsOf(pair, 1 + SEEDS);
    const gains: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const alone = await secondsOf(processes.slice(0, 1), inputs);
      gains.push((2 * alone) / (await secondsOf(processes, inputs)));
    }
    return gains.sort((a, b) => a - b)[ROUNDS >> 1];
  } finally {
    for (const child of processes) child.kill();
  }
}
