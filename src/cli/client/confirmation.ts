/**
 * `--confirm` at the command line: passed on to the server, which asks for it; checked here by the same rule where a command
 * acts without one, or can refuse before it begins.
 */
import { InputError } from '../../core/problem.js';
import type { FabricDocument } from '../../documents/fabric-document.js';
import { confirmationIssue } from '../../drill/confirmation.js';
import { quoteArgument } from '../../reports/common/report.js';
import type { ProblemError } from '../terminal/failure.js';

/** @throws InputError at --confirm unless it has the name of a real fabric, or names no other than a simulated one */
export function requireConfirmed({ metadata, spec }: FabricDocument, confirm: string | undefined): void {
  const issue = confirmationIssue([{ name: metadata.name, driver: spec.driver }], confirm);
  if (issue === undefined) return;
  const hint =
    issue.code === 'confirmation-required'
      ? addConfirm(issue.fabric)
      : `add --fabric ${quoteArgument(issue.fabric)}, or leave --confirm out`;
  throw InputError.at('--confirm', issue.message, hint);
}

const addConfirm = (fabric: string): string => `add --confirm ${quoteArgument(fabric)}`;

/** What a server says of a confirmation, as one of the flag; any other answer as it is. */
export function atConfirm(error: ProblemError): Error {
  const { code, params, errors = [] } = error.problem;
  if (code === 'confirmation-required') {
    return InputError.at('--confirm', error.message, addConfirm(params?.fabric ?? 'FABRIC'));
  }
  if (errors.length !== 1 || !errors[0].pointer.startsWith('/confirm')) return error;
  return InputError.at(
    '--confirm',
    errors[0].message,
    'name the fabric by --fabric or in the file, or leave --confirm out',
  );
}

/** As a member of a request or of a document, where it was given. */
export const confirmMember = (confirm: string | undefined): { confirm?: string } =>
  confirm === undefined ? {} : { confirm };
