/**
 * One seed for all property tests, so that the same sources give the same result everywhere, today and tomorrow.
 *
 * FABRICDRILL_PROPERTY_SEED chooses another one: a whole number, or `random` to look in new places. A property that
 * fails prints the command that fails again. Loaded by jest before every spec (setupFilesAfterEnv).
 */
import { expect } from '@jest/globals';
import { randomInt } from 'node:crypto';
import { relative } from 'node:path';
import fc from 'fast-check';

const VARIABLE = 'FABRICDRILL_PROPERTY_SEED';
const FIXED_SEED = 20251;
/** Seeds of fast-check are 32 bits wide. */
const SEED_MOST = 2 ** 31 - 1;

/**
 * The seed that a value of the variable means; the fixed one where it is not set.
 * @throws Error for anything else: a slip must not look like a green run with that seed
 */
export function propertySeed(text: string | undefined): number {
  if (text === undefined || text === '') return FIXED_SEED;
  if (text === 'random') return randomInt(SEED_MOST);
  const seed = Number(text);
  if (/^-?\d+$/.test(text) && Math.abs(seed) <= SEED_MOST) return seed;
  throw new Error(`${VARIABLE}=${text} is no seed; it must be "random" or a whole number up to ${SEED_MOST}`);
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The command that runs one test again with a seed. */
export function replayCommand(seed: number, spec: string | undefined, test: string | undefined): string {
  const pattern = test?.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return [
    `${VARIABLE}=${seed} NODE_OPTIONS=--experimental-vm-modules npx jest`,
    ...(spec === undefined ? [] : [relative(process.cwd(), spec)]),
    ...(pattern === undefined ? [] : ['-t', quoted(pattern)]),
  ].join(' ');
}

/** As fast-check reports by default, with the command behind it. */
function report(details: fc.RunDetails<unknown>): void {
  if (!details.failed) return;
  const { testPath, currentTestName } = expect.getState();
  const replay = replayCommand(details.seed, testPath, currentTestName);
  const cause = details.errorInstance;
  const why = cause instanceof Error ? `\n\n${cause.message}` : '';
  throw new Error(`${fc.defaultReportMessage(details) ?? 'the property failed'}${why}\n\nReplay: ${replay}`, {
    cause,
  });
}

fc.configureGlobal({ seed: propertySeed(process.env[VARIABLE]), reporter: report });
