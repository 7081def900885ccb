/**
 * What a fault of a traffic class needs of the fabric: a queue for the class, PFC on it, NICs that heed marks.
 *
 * A fault of a guard that the fabric does not have would be held for its time and change nothing; that belongs into the
 * plan, with what is in its way. A fabric that can't tell how it is set is not held to any of it.
 */
import { listChoices } from '../core/nearest.js';
import { InputError } from '../core/problem.js';
import type { CongestionDescription } from '../fabric-api/fabric.js';

type Known = CongestionDescription | undefined;

/** @throws InputError when no queue serves the priority */
export function requireClass(priority: number, known: Known): void {
  if (known === undefined || known.priorities.includes(priority)) return;
  throw InputError.at(
    '/params/priority',
    `no queue serves priority ${priority}; the fabric's classes are ${listChoices(known.priorities.map(String))}`,
    'choose one of them, or name it in settings.pfc.priorities of the fabric',
  );
}

/**
 * @param what the fault does, as in "a NIC's pause"
 * @throws InputError when nothing is ever paused on the fabric
 */
export function requirePfc(what: string, known: Known): void {
  if (known === undefined || known.losslessPriorities.length > 0) return;
  throw InputError.at(
    '/kind',
    `PFC is off on this fabric, so ${what} changes nothing`,
    'set settings.pfc.on of the fabric, with a class in settings.pfc.priorities, or take another kind',
  );
}

/** @throws InputError when the fabric would not heed a pause of the class */
export function requireLossless(priority: number, known: Known): void {
  requirePfc('a pause', known);
  requireClass(priority, known);
  if (known === undefined || known.losslessPriorities.includes(priority)) return;
  throw InputError.at(
    '/params/priority',
    `priority ${priority} is no PFC class of this fabric, so its pauses are not heeded; PFC classes are ${listChoices(known.losslessPriorities.map(String))}`,
    'choose one of them, or name it in settings.pfc.priorities of the fabric',
  );
}

/** @throws InputError when no NIC would slow down, or not slow down, for a mark */
export function requireDcqcn(known: Known): void {
  if (known === undefined || known.dcqcn) return;
  throw InputError.at(
    '/kind',
    'DCQCN is off on this fabric, so no NIC heeds marks, and when a switch marks changes nothing',
    'set settings.dcqcn.on of the fabric, or take pfc-misconfig',
  );
}
