/**
 * From an error to what a person reads and a script gets: message on stderr, exit code.
 */
import { EnvironmentError, formatIssue, InputError } from '../../core/problem.js';
import { EXIT, type ExitCode } from '../../scoring/exit-codes.js';
import { hintAsCommand, type CommandForm } from '../client/hints.js';

export interface Failure {
  lines: string[];
  exitCode: ExitCode;
}

/** A command that was interrupted before it had done anything that needs undoing. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';

  constructor(readonly exitCode: ExitCode) {
    super('interrupted');
  }
}

/** The server's answer to a request that failed (RFC 9457). */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';

  constructor(
    readonly status: number,
    readonly problem: {
      title?: string;
      detail?: string;
      hint?: string;
      /** A name that programs go by, and what it is about. */
      code?: string;
      params?: Readonly<Record<string, string>>;
      /** The path that was asked for, or `urn:uuid:` and the id of a log entry. */
      instance?: string;
      errors?: InputError['issues'];
    },
  ) {
    super(problem.detail ?? problem.title ?? `the server answered ${status}`);
  }
}

/** Prints the failure; the exit code says whose turn it is: the user's (2), the environment's (3), ours (70). */
export function printFailure(error: unknown, command?: CommandForm): ExitCode {
  const { lines, exitCode } = describeFailure(error, command);
  process.stderr.write(lines.map((line) => `${line}\n`).join(''));
  return exitCode;
}

export function describeFailure(
  error: unknown,
  command: CommandForm = (args) => `fabricdrill ${args}`,
): Failure {
  if (error instanceof InterruptedError) return { lines: [], exitCode: error.exitCode };
  if (error instanceof InputError) {
    return { lines: error.issues.map((issue) => `error: ${formatIssue(issue)}`), exitCode: EXIT.badInput };
  }
  if (error instanceof EnvironmentError) {
    return { lines: withHint(error.message, error.hint), exitCode: EXIT.inconclusive };
  }
  if (error instanceof ProblemError) return describeProblem(error, command);
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return {
    lines: [`internal error: ${detail}`, '  please report this with the command you ran'],
    exitCode: EXIT.bug,
  };
}

function describeProblem(error: ProblemError, command: CommandForm): Failure {
  const issues = error.problem.errors ?? [];
  const told = <Hinted extends { hint?: string; message?: string }>(one: Hinted): Hinted =>
    one.hint === undefined
      ? one
      : { ...one, hint: hintAsCommand(one.hint, one.message ?? error.message, command) };
  const lines =
    issues.length > 0
      ? issues.map((issue) => `error: ${formatIssue(told(issue))}`)
      : withHint(error.message, told(error.problem).hint);
  if (error.status >= 500 && error.status !== 503) {
    return { lines: [...lines, ...logEntry(error)], exitCode: EXIT.bug };
  }
  const environment = error.status === 503 || error.status === 401 || error.status === 403;
  return { lines, exitCode: environment ? EXIT.inconclusive : EXIT.badInput };
}

/** Where the server's log has more, unless the message says it already. */
function logEntry({ message, problem }: ProblemError): string[] {
  const id = /^urn:uuid:(.+)$/.exec(problem.instance ?? '')?.[1];
  return id === undefined || message.includes(id) ? [] : [`  log entry ${id}`];
}

const withHint = (message: string, hint: string | undefined): string[] => [
  `error: ${message}`,
  ...(hint === undefined ? [] : [`  ${hint}`]),
];
