/** `fabrics running`, `fabrics log INSTANCE` and `fabrics down INSTANCE`: fabrics that are processes of their own here. */
import { fabricProcesses } from '../fabrics/catalog.js';
import type { FabricProcess } from '../fabrics/contract/fabric-processes.js';
import { InputError } from '../kernel/problem.js';
import { formatDurationNs } from '../kernel/units.js';
import { EXIT, type ExitCode } from '../scoring/exit-codes.js';
import type { CommandContext } from './context.js';
import { parseChoice } from './flags.js';
import { table } from './table.js';

const all = async (): Promise<FabricProcess[]> =>
  (await Promise.all(fabricProcesses().map((processes) => processes.list()))).flat();

export async function listProcesses(options: { output: string }, context: CommandContext): Promise<ExitCode> {
  const format = parseChoice('--output', options.output, ['text', 'json']);
  const found = await all();
  if (format === 'json') context.out(`${JSON.stringify(found, null, 2)}\n`);
  else if (found.length > 0) {
    const head = ['instance', 'fabric', 'pace', 'state', 'clock', 'in place', 'behind'];
    context.out(table(head, found.map(cells)));
  } else
    context.note(`no paced simulation; try: ${context.command('run experiments/link-down.yaml --pace 1x')}`);
  return EXIT.passed;
}

function cells({ instance, fabric, pace, state, reason, nowNs, inPlace, behindMs }: FabricProcess): string[] {
  return [
    instance,
    fabric,
    pace,
    reason === null ? state : `${state}: ${reason}`,
    nowNs === null ? '' : formatDurationNs(nowNs),
    inPlace === null ? '' : String(inPlace.length),
    behindMs === null ? '' : `${behindMs}ms`,
  ];
}

/** One line beside the stored ones, where any run. */
export async function noteProcesses(context: CommandContext): Promise<void> {
  const up = (await all()).filter(({ state }) => state === 'up').length;
  if (up > 0) context.note(`paced simulations on this machine: ${up}; ${context.command('fabrics running')}`);
}

export async function processLog(instance: string, context: CommandContext): Promise<ExitCode> {
  for (const processes of fabricProcesses()) {
    const log = processes.log(instance);
    if (log === undefined) continue;
    context.out(log);
    return EXIT.passed;
  }
  throw InputError.at(
    '',
    `there was no paced simulation "${instance}" on this machine of late`,
    context.command('fabrics running'),
  );
}

/** @returns false when none of this name runs */
export async function endProcess(instance: string, context: CommandContext): Promise<boolean> {
  for (const processes of fabricProcesses()) {
    if (!(await processes.end(instance))) continue;
    context.out(`paced simulation ${instance}: everything is reverted, and it has ended\n`);
    return true;
  }
  return false;
}
