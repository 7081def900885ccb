/**
 * Exit codes, as published. Over several runs the worst wins, in the order of `WORST_FIRST`.
 */
import type { FinalState } from './scorecard.js';

export const EXIT = {
  passed: 0,
  failed: 1,
  badInput: 2,
  inconclusive: 3,
  aborted: 4,
  rollbackFailed: 5,
  bug: 70,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export const WORST_FIRST: readonly ExitCode[] = [
  EXIT.rollbackFailed,
  EXIT.bug,
  EXIT.badInput,
  EXIT.aborted,
  EXIT.failed,
  EXIT.inconclusive,
  EXIT.passed,
];

/** The exit code of a final state; `error` is our own bug unless the environment was at fault. */
export function exitCodeOf(state: FinalState): ExitCode {
  switch (state) {
    case 'rollback-failed':
      return EXIT.rollbackFailed;
    case 'error':
      return EXIT.bug;
    case 'aborted':
      return EXIT.aborted;
    case 'failed':
      return EXIT.failed;
    case 'inconclusive':
      return EXIT.inconclusive;
    case 'passed':
      return EXIT.passed;
  }
}

/** The worst of several exit codes. */
export function worstExit(codes: readonly ExitCode[]): ExitCode {
  return WORST_FIRST.find((code) => codes.includes(code)) ?? EXIT.inconclusive;
}
