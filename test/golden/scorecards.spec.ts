/**
 * Every shipped experiment, drilled in memory with its own seed, passes and scores as it did at 5e5372a. With another seed:
 * scorecards-other-seed.spec.ts.
 */
import { describe, expect, it } from '@jest/globals';
import type { Scorecard } from '../../src/scoring/scorecard.js';
import { drillShipped, SHIPPED } from '../support/shipped-experiments.js';
import { expectGolden } from './golden.js';
import { goldenOf, printed } from './printed-scorecard.js';

/** What some of them must show beyond that, whatever is recorded. */
const CLAIMS: Record<string, (scorecard: Scorecard, undo: readonly string[]) => void> = {
  // no port or switch shows a straggler, so its own ranks must
  'experiments/straggler.yaml': ({ scores }) => {
    expect(scores.recovery.metrics.time_to_detect_s).toBeGreaterThan(0);
    expect(scores.recovery.metrics.time_to_detect_s).toBeLessThanOrEqual(2);
  },
  // each has its own time and its own place in the truth, and they are undone one after the other
  'experiments/two-faults.yaml': ({ truth }, undo) => {
    expect(truth.map(({ kind, from_s, to_s }) => [kind, from_s, to_s])).toEqual([
      ['speed-downgrade', 20, 50],
      ['straggler', 30, 55],
    ]);
    expect(undo.map((step) => step.slice(0, step.indexOf(':')))).toEqual(['at 50 s', 'at 55 s']);
  },
  // a control has no truth, and nothing to recover from
  'experiments/none.yaml': ({ truth, scores }) => {
    expect(truth).toEqual([]);
    expect(scores.explainability.score).toBe(100);
    expect([scores.recovery.score, scores.isolation.score]).toEqual([null, null]);
  },
};

describe.each(SHIPPED)('%s', (file) => {
  it('passes and scores as it did', async () => {
    const { plan, scorecard } = await drillShipped(file);
    expect(plan.unsupported).toEqual([]);
    expect(scorecard.reasons).toEqual([]);
    expect(scorecard.run.state).toBe('passed');
    CLAIMS[file]?.(scorecard, plan.undo);
    await expectGolden(goldenOf(file), printed(scorecard));
  });
});
