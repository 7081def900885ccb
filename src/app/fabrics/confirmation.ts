/**
 * What a server asks of whoever wants something of a real fabric: its name a second time (`confirm`), and a token.
 *
 * Both are asked for before anything else of the request is looked at, a replay by its key aside; so a Fabric document is
 * read here as it was written, whether this version takes it or not.
 */
import { z } from 'zod';
import { InputError } from '../../core/problem.js';
import { confirmationIssue, type DrilledFabric } from '../../drill/confirmation.js';
import { ConflictError, ForbiddenError } from '../../system/errors.js';

export const CONFIRMATION_REQUIRED = 'confirmation-required';

export const confirmation = z
  .string()
  .min(1)
  .max(63)
  .optional()
  .describe('name of the real fabric that this goes to; 409 `confirmation-required` without it');

/** @throws ConflictError with the code `confirmation-required`, or InputError for a name that nothing here bears */
export function requireConfirmation(
  fabrics: readonly DrilledFabric[],
  confirm: string | undefined,
  pointer = '/confirm',
): void {
  const issue = confirmationIssue(fabrics, confirm);
  if (issue === undefined) return;
  const { code, fabric, message } = issue;
  if (code === 'confirmation-mismatch') throw InputError.at(pointer, message, 'leave confirm out');
  throw new ConflictError(message, `confirm it: ${bodyMember(pointer, fabric)}`, CONFIRMATION_REQUIRED, {
    fabric,
  });
}

/** `/confirm/baseline` → `"confirm": { "baseline": "rack" }` */
const bodyMember = (pointer: string, value: string): string =>
  pointer
    .split('/')
    .slice(1)
    .reduceRight(
      (inner, key, at) => (at === 0 ? `"${key}": ${inner}` : `{ "${key}": ${inner} }`),
      `"${value}"`,
    );

interface Written {
  metadata?: { name?: unknown };
  spec?: { driver?: unknown; transport?: unknown; orchestrator?: unknown };
}

/** @param definition a Fabric document as it was written */
export function drilledFabric(definition: unknown): DrilledFabric {
  const { metadata, spec } = definition as Written;
  const [name, driver] = [metadata?.name, spec?.driver].map((word) =>
    typeof word === 'string' ? word : undefined,
  );
  return { name: name ?? '', driver: driver ?? 'simulated' };
}

/**
 * A server without a token serves whoever is on its machine, and so nothing beyond it.
 * @throws ForbiddenError for a fabric that is neither simulated nor a lab of this machine
 */
export function requireServed(definition: unknown, { token }: { token?: string | undefined }): void {
  if (token !== undefined) return;
  const { name, driver } = drilledFabric(definition);
  const { spec } = definition as Written;
  const isLab = driver === 'linux' && spec?.transport === undefined && spec?.orchestrator === undefined;
  if (driver === 'simulated' || isLab) return;
  throw new ForbiddenError(
    `"${name}" is no lab of this machine, and a server without a token serves simulated fabrics and labs only`,
    'start the server with FABRICDRILL_TOKEN set, as from: openssl rand -hex 32',
    'token-required',
    { fabric: name },
  );
}
