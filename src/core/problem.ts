/**
 * Errors whose reader is a person: what is wrong, where, and what to do next.
 *
 * An `InputError` collects every issue found in one pass, so that a user mends a file once and not once per
 * mistake. It maps to exit code 2 and HTTP 400. An `EnvironmentError` says that the machine, not the input, stands
 * in the way (no database, unknown platform, newer schema); it maps to exit code 3 and HTTP 503. Anything else
 * that escapes is our own bug (exit code 70, HTTP 500).
 */

/** One thing that is wrong with an input. */
export interface InputIssue {
  /** JSON pointer (RFC 6901) into the document; `''` is the document itself. */
  pointer: string;
  /** What is wrong, with the valid choices where there are few. A sentence without a full stop. */
  message: string;
  /** The next step: nearest key, an example value, a command. */
  hint?: string;
  /** File as the user named it, where the input came from a file. */
  file?: string;
  /** 1-based line and column in that file (or in the YAML text sent over REST). */
  line?: number;
  column?: number;
}

/** Nobody reads more at once. */
export const MOST_ISSUES_TOLD = 100;

/** Input that can't be accepted; nothing was stored and nothing injected. */
export class InputError extends Error {
  override readonly name = 'InputError';
  /** At most 100, and that there are more. */
  readonly issues: readonly InputIssue[];

  constructor(issues: readonly InputIssue[], summary?: string) {
    const told = issues.length <= MOST_ISSUES_TOLD ? issues : cutOff(issues);
    super(summary ?? told.map(formatIssue).join('\n'));
    this.issues = told;
  }

  /** A single issue, the common case. */
  static at(pointer: string, message: string, hint?: string): InputError {
    return new InputError([hint === undefined ? { pointer, message } : { pointer, message, hint }]);
  }
}

function cutOff(issues: readonly InputIssue[]): InputIssue[] {
  const told = issues.slice(0, MOST_ISSUES_TOLD);
  const { file } = told[0];
  const message = 'and more mistakes, which are told when these are mended';
  return [...told, { pointer: '', message, ...(file === undefined ? {} : { file }) }];
}

/** The environment is at fault: a service, platform or permission that a run needs is not there. */
export class EnvironmentError extends Error {
  override readonly name = 'EnvironmentError';

  constructor(
    message: string,
    /** What the user can do about it. */
    readonly hint?: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

/** `file:line:column pointer: message (hint)`, leaving out what is not known. */
export function formatIssue(issue: InputIssue): string {
  const position =
    issue.line === undefined ? '' : `:${issue.line}${issue.column === undefined ? '' : `:${issue.column}`}`;
  const file =
    issue.file === undefined
      ? position === ''
        ? ''
        : `line ${position.slice(1)}`
      : `${issue.file}${position}`;
  const place = [file, issue.pointer].filter((part) => part !== '').join(' ');
  const hint = issue.hint === undefined ? '' : ` (${issue.hint})`;
  return visible(`${place === '' ? '' : `${place}: `}${issue.message}${hint}`);
}

/** Control characters written out: text from files must not steer a terminal. */
function visible(text: string): string {
  return text.replace(/\p{Cc}/gu, (character) =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Escapes one reference token of a JSON pointer (RFC 6901 section 3). */
export function pointerToken(key: string | number): string {
  return String(key).replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Joins path parts to a JSON pointer: `['spec', 'faults', 0]` gives `/spec/faults/0`. */
export function toPointer(path: readonly PropertyKey[]): string {
  return path.map((key) => `/${pointerToken(String(key))}`).join('');
}

/** Runs a step whose issues point into a part of a document, and points them into the whole. */
export function withPointer<T>(prefix: string, step: () => T): T {
  try {
    return step();
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new InputError(error.issues.map((issue) => ({ ...issue, pointer: prefix + issue.pointer })));
  }
}

/** What was thrown, in words; anything may be. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
