/**
 * What a gate comes to: one verdict an objective, the worst of them for the whole, and what each rests on.
 *
 * Everything outside `run` depends on the two fabrics, the suite, its seeds and the version alone: same input, same bytes.
 */
import { EXIT, type ExitCode } from '../scoring/exit-codes.js';
import type { Look } from './looks.js';
import type { Interval } from './intervals.js';
import type { SampleDesign } from './samples.js';

/** Worst first; the worst wins. */
export const GATE_VERDICTS = ['regression', 'inconclusive', 'none'] as const;
export type GateVerdict = (typeof GATE_VERDICTS)[number];

/** Without anything to judge nothing is proved. */
export const worstVerdict = (verdicts: readonly GateVerdict[]): GateVerdict =>
  GATE_VERDICTS.find((verdict) => verdicts.includes(verdict)) ?? 'inconclusive';

export const gateExitCode = (verdict: GateVerdict): ExitCode =>
  ({ regression: EXIT.failed, inconclusive: EXIT.inconclusive, none: EXIT.passed })[verdict];

/** An objective on one experiment. */
export interface CellResult {
  experiment: string;
  verdict: GateVerdict;
  /** Why, one sentence. */
  reason: string;
  /** Seeds run, and those at which both sides are known (for an absolute objective: the candidate). */
  seeds: number;
  known: number;
  meanBaseline: number | null;
  meanCandidate: number | null;
  /** By how much the candidate is worse, mean over seeds with an interval; null for an absolute objective. */
  worseBy: Interval | null;
  /** p-values of the two tests; null where there are none. */
  pRegression: number | null;
  pNone: number | null;
  /** The seed that shows it best; null when none was run. */
  worstSeed: number | null;
}

export interface ObjectiveVerdict {
  name: string;
  type: 'relative' | 'absolute';
  metric: string;
  unit: string;
  verdict: GateVerdict;
  reason: string;
  /** Where the suite states it, when it came from a file. */
  file?: string;
  line?: number;
  experiments: CellResult[];
}

export interface GateResult {
  gate: {
    suite: string;
    baseline: string;
    candidate: string;
    version: string;
    seeds: number;
    firstSeed: number;
    alpha: number;
    looks: readonly Look[];
    /** Pairs of simulated runs, or independent drills on real fabrics. */
    samples: SampleDesign['name'];
  };
  verdict: GateVerdict;
  objectives: ObjectiveVerdict[];
  /** What the fabrics differ in, one line each. */
  differences: string[];
  /** What a reader should know beside the verdict, one sentence each. */
  notes: string[];
  /** How it was done: no part of the verdict. */
  run: { runs: number; fromCache: number };
}
