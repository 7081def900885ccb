/**
 * The three scores of a run, from evidence, truth and verdict; and the truth in its published shape.
 */
import type { TruthEntry } from '../faults/ground-truth.js';
import { scoreExplainability } from './explainability/explainability.js';
import type { ScoringInput } from './input.js';
import { scoreIsolation } from './isolation/isolation.js';
import { scoreRecovery } from './recovery/recovery.js';
import type { PublishedTruth, Scores } from './scorecard.js';
import { NS_PER_S } from './measures/statistics.js';

/** Scores a run. Pure: same input, same figures. */
export const scoreRun = (input: ScoringInput): Scores => ({
  recovery: scoreRecovery(input),
  isolation: scoreIsolation(input),
  explainability: scoreExplainability(input),
});

/** Truth as the scorecard shows it, times in seconds from the run's start. */
export const publishTruth = (truth: readonly TruthEntry[]): PublishedTruth[] =>
  truth.map((entry) => ({
    kind: entry.kind,
    elements: entry.elements.map(({ type, id }) => ({ type, id })),
    side: entry.side,
    direction: entry.direction,
    from_s: entry.fromNs / NS_PER_S,
    to_s: entry.toNs / NS_PER_S,
  }));
