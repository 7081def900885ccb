/**
 * A gate between real fabrics: few drills, one after another, on fabrics that were named twice. What is said before the
 * first is what can't be taken back: which fabrics, how many drills, and how long they take at least.
 */
import { fabricDriver, labBuilders } from '../../../drivers/catalog.js';
import type { Execute } from '../../../drill/gate/conduct.js';
import { SIDES, type CheckedGate } from '../../../drill/gate/gate-input.js';
import { InputError } from '../../../core/problem.js';
import { EXIT } from '../../../scoring/exit-codes.js';
import type { CommandContext } from '../../context.js';
import { GateDrills } from './gate-drills.js';
import type { GateDocuments } from './gate-source.js';
import { Interrupts } from '../../terminal/interrupts.js';
import { sameKeyMs } from '../../terminal/invocation.js';

/** Flags that only drills on real fabrics have. */
export interface RealChoice {
  confirm?: string[];
  up?: boolean;
}

/** @throws InputError for a flag that a gate between simulated fabrics does not take */
export function refuseRealFlags({ up, confirm }: RealChoice): void {
  if (up === true) throw InputError.at('--up', 'a simulated fabric needs no building', 'leave --up out');
  if (confirm !== undefined) {
    throw InputError.at('--confirm', 'simulated fabrics need no confirmation', 'leave --confirm out');
  }
}

/** @throws InputError unless each fabric is named twice, so that no typing slip breaks a cluster, and can be built if it is to be */
export function checkReal(
  gate: CheckedGate,
  { confirm = [], up = false, threads }: RealChoice & { threads?: string },
): void {
  if (threads !== undefined) {
    throw InputError.at('--threads', 'drills on real fabrics go on one after another', 'leave --threads out');
  }
  const names = [...new Set(SIDES.map((side) => gate[side].metadata.name))];
  const missing = names.filter((name) => !confirm.includes(name));
  if (missing.length > 0) {
    const said = missing.map((name) => `"${name}"`).join(' and ');
    throw InputError.at(
      '--confirm',
      missing.length === 1 ? `${said} is a real fabric` : `${said} are real fabrics`,
      `add ${missing.map((name) => `--confirm ${name}`).join(' ')}`,
    );
  }
  const other = confirm.find((name) => !names.includes(name));
  if (other !== undefined) {
    throw InputError.at(
      '--confirm',
      `"${other}" is none of the gate's fabrics; they are ${names.join(' and ')}`,
    );
  }
  if (!up) return;
  for (const side of SIDES) {
    const { driver } = gate[side].spec;
    if (fabricDriver(driver).labs !== undefined) continue;
    const builders = labBuilders().map((one) => one.driver);
    const message = `the driver ${driver} builds nothing; drivers that do are ${builders.join(', ')}`;
    throw InputError.at('--up', message, 'leave --up out');
  }
}

/** Runs work with the drills of a gate, on a server with a worker. */
export async function withDrills<T>(
  given: GateDocuments & { up: boolean; confirm: readonly string[] },
  context: CommandContext,
  work: (execute: Execute) => Promise<T>,
): Promise<T> {
  const interrupts = new Interrupts(
    {
      first: () => context.note('stopping; nothing was injected'),
      second: () => process.exit(EXIT.aborted),
    },
    sameKeyMs(context.config),
  );
  try {
    return await context.withServer(
      (client) => work(new GateDrills(client, { ...given, interrupts, context }).execute),
      { worker: true, interrupts },
    );
  } finally {
    interrupts.close();
  }
}

/** `6 drills, which take 3 min at least`, beside which everything else takes its time. */
export function drillsAhead({ experiments, seeds }: CheckedGate): string {
  const lengths = experiments.map(({ spec }) => spec.duration ?? lastEndNs(spec.faults));
  const seconds = (lengths.reduce((sum, ns) => sum + ns, 0) / 1e9) * seeds * SIDES.length;
  const count = experiments.length * seeds * SIDES.length;
  const time = seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`;
  return `${count} drills on real fabrics, which take ${time} at least`;
}

const lastEndNs = (faults: readonly { at?: number; duration: number }[]): number =>
  Math.max(0, ...faults.map(({ at = 0, duration }) => at + duration));
