/**
 * From an error to what a person reads and a script gets: message on stderr, exit code.
 */
import { EnvironmentError, formatIssue, InputError } from '../kernel/problem.js';
import { EXIT, type ExitCode } from '../scoring/exit-codes.js';

/** The server's answer to a request that failed (RFC 9457). */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';

  constructor(
    readonly status: number,
    readonly problem: { title?: string; detail?: string; hint?: string; errors?: InputError['issues'] },
  ) {
    super(problem.detail ?? problem.title ?? `the server answered ${status}`);
  }
}

/** Prints the failure; the exit code says whose turn it is: the user's (2), the environment's (3), ours (70). */
export function printFailure(error: unknown): ExitCode {
  const { lines, exitCode } = describeFailure(error);
  process.stderr.write(`${lines.join('\n')}\n`);
  return exitCode;
}

export function describeFailure(error: unknown): { lines: string[]; exitCode: ExitCode } {
  if (error instanceof InputError) {
    return { lines: error.issues.map((issue) => `error: ${formatIssue(issue)}`), exitCode: EXIT.badInput };
  }
  if (error instanceof EnvironmentError) {
    return { lines: withHint(error.message, error.hint), exitCode: EXIT.inconclusive };
  }
  if (error instanceof ProblemError) return describeProblem(error);
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return {
    lines: [`internal error: ${detail}`, '  please report this with the command you ran'],
    exitCode: EXIT.bug,
  };
}

function describeProblem(error: ProblemError): { lines: string[]; exitCode: ExitCode } {
  const issues = error.problem.errors ?? [];
  const lines =
    issues.length > 0
      ? issues.map((issue) => `error: ${formatIssue(issue)}`)
      : withHint(error.message, error.problem.hint);
  if (error.status >= 500 && error.status !== 503) return { lines, exitCode: EXIT.bug };
  const environment = error.status === 503 || error.status === 401 || error.status === 403;
  return { lines, exitCode: environment ? EXIT.inconclusive : EXIT.badInput };
}

const withHint = (message: string, hint: string | undefined): string[] => [
  `error: ${message}`,
  ...(hint === undefined ? [] : [`  ${hint}`]),
];
