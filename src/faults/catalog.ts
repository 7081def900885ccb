/**
 * The fault catalogue: one explicit line per kind. CLI help, JSON Schema, OpenAPI, docs and the plan read it.
 */
import type { z } from 'zod';
import { InputError } from '../core/problem.js';
import { listChoices, nearestHint } from '../core/nearest.js';
import type { FaultKind } from './fault.js';
import { ecmpCollision } from './ecmp-collision.js';
import { ecnMisconfig } from './ecn-misconfig.js';
import { incast } from './incast.js';
import { jobMigration } from './job-migration.js';
import { linkDown } from './link-down.js';
import { none } from './none.js';
import { opticError } from './optic-error.js';
import { pauseStorm } from './pause-storm.js';
import { pfcMisconfig } from './pfc-misconfig.js';
import { slowReceiver } from './slow-receiver.js';
import { speedDowngrade } from './speed-downgrade.js';
import { straggler } from './straggler.js';

/** Parameters differ per kind; whoever takes a kind from here parses them with the kind's own schema first. */
export type AnyFaultKind = Omit<FaultKind<never>, 'parameters'> & { parameters: z.ZodType };

export const FAULT_KINDS: readonly AnyFaultKind[] = [
  none,
  linkDown,
  speedDowngrade,
  opticError,
  incast,
  jobMigration,
  straggler,
  slowReceiver,
  pauseStorm,
  ecmpCollision,
  ecnMisconfig,
  pfcMisconfig,
];

export const faultKindNames = (): string[] => FAULT_KINDS.map((kind) => kind.name);

/** @throws InputError naming all kinds when there is none of that name */
export function faultKind(name: string, pointer = ''): AnyFaultKind {
  const kind = FAULT_KINDS.find((candidate) => candidate.name === name);
  if (kind === undefined) {
    const names = faultKindNames();
    throw InputError.at(
      pointer,
      `there is no fault kind "${name}"; the kinds are ${listChoices(names)}`,
      nearestHint(name, names),
    );
  }
  return kind;
}
