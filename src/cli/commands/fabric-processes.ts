/** `fabrics running`, `fabrics log INSTANCE` and `fabrics down INSTANCE`: fabrics that are processes of their own here. */
import { fabricProcesses } from '../../drivers/catalog.js';
import type { FabricProcess } from '../../fabric-api/fabric-processes.js';
import { InputError } from '../../core/problem.js';
import { formatDurationNs } from '../../core/units.js';
import { EXIT, type ExitCode } from '../../scoring/exit-codes.js';
import type { RunView } from '../client/api-client.js';
import type { CommandContext } from '../context.js';
import { parseChoice } from '../terminal/flags.js';
import { table } from '../terminal/table.js';

const all = async (): Promise<FabricProcess[]> =>
  (await Promise.all(fabricProcesses().map((processes) => processes.list()))).flat();

/** As anybody may see it: what is in place while a seal holds would tell what is injected. */
const publicly = (found: FabricProcess): FabricProcess =>
  found.sealed ? { ...found, inPlace: null } : found;

export async function listProcesses(options: { output: string }, context: CommandContext): Promise<ExitCode> {
  const format = parseChoice('--output', options.output, ['text', 'json']);
  const found = (await all()).map(publicly);
  if (format === 'json') context.out(`${JSON.stringify(found, null, 2)}\n`);
  else if (found.length > 0) {
    const head = ['instance', 'fabric', 'pace', 'state', 'clock', 'in place', 'behind'];
    context.out(table(head, found.map(cells)));
  } else
    context.note(`no paced simulation; try: ${context.command('run experiments/link-down.yaml --pace 1x')}`);
  return EXIT.passed;
}

function cells(one: FabricProcess): string[] {
  const { instance, fabric, pace, state, reason, nowNs, inPlace, behindMs } = one;
  return [
    instance,
    fabric,
    pace,
    reason === null ? state : `${state}: ${reason}`,
    nowNs === null ? '' : formatDurationNs(nowNs),
    one.sealed && state === 'up' ? 'sealed' : inPlace === null ? '' : String(inPlace.length),
    behindMs === null ? '' : `${behindMs}ms`,
  ];
}

/** One line beside the stored ones, where any run. */
export async function noteProcesses(context: CommandContext): Promise<void> {
  const up = (await all()).filter(({ state }) => state === 'up').length;
  if (up > 0) context.note(`paced simulations on this machine: ${up}; ${context.command('fabrics running')}`);
}

export async function processLog(instance: string, context: CommandContext): Promise<ExitCode> {
  const sealed = (await all()).some((one) => one.instance === instance && one.sealed);
  if (sealed) await refuseSealed(instance, context);
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

/** Its record says what was so when it began; whether the seal holds still, only the server knows. */
async function refuseSealed(instance: string, context: CommandContext): Promise<void> {
  const run = await context.withServer((client) =>
    client.json<RunView>('GET', `/v1/runs/${encodeURIComponent(instance)}`),
  );
  if (!run.sealed) return;
  throw InputError.at(
    '',
    `the log of run ${instance} is sealed until the team has committed its diagnosis`,
    context.command(`game-days commit ${run.gameDayId} --run ${instance} --verdict FILE`),
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
