/**
 * Argument vectors as text that a POSIX shell takes for exactly these arguments.
 *
 * Needed in two places only: a timer that must outlive us keeps its commands as a script, and sshd hands what it gets to
 * the shell of the account. Every word is quoted; nothing in it is interpreted.
 */

/** @throws RangeError for a NUL byte, which no argument can have */
export function quoteWord(word: string): string {
  if (word.includes('\0')) throw new RangeError('an argument with a NUL byte');
  return /^[A-Za-z0-9_./:=,@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

export const quoteCommand = (command: readonly string[]): string => command.map(quoteWord).join(' ');

/** One command, with what it reads from its standard input. */
export interface Step {
  command: readonly string[];
  input?: string;
}

const asText = ({ command, input }: Step): string =>
  input === undefined ? quoteCommand(command) : `printf %s ${quoteWord(input)} | ${quoteCommand(command)}`;

/** A line that does the steps one after another, going on past failures. */
export const script = (steps: readonly Step[]): string => steps.map(asText).join('; ');

/** A line that does the steps one after another as far as they succeed. */
export const strictScript = (steps: readonly Step[]): string => steps.map(asText).join(' && ');
