import { describe, expect, it } from '@jest/globals';
import type { Scores } from '../scoring/scorecard.js';
import { figureValues, GATE_FIGURES } from './figures.js';

const NOTHING = { step_time_s: null, faulted_step_time_s: null };

describe('figures of a run', () => {
  it('are how fast training is and all of the scores, yes being 1 and what is no number unknown', () => {
    const none = { score: null, metrics: {} };
    const scores = {
      recovery: { score: 80, metrics: { time_to_recover_s: 3.5, recovered: true } },
      isolation: { score: 60, metrics: { blast_ratio: Infinity } },
      explainability: none,
    } as unknown as Scores;
    const values = figureValues(scores, { step_time_s: 0.5, faulted_step_time_s: 0.75 });
    expect(Object.keys(values)).toEqual(GATE_FIGURES.map(({ path }) => path));
    expect(Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null))).toEqual({
      'training.step_time_s': 0.5,
      'training.faulted_step_time_s': 0.75,
      'recovery.score': 80,
      'recovery.time_to_recover_s': 3.5,
      'recovery.recovered': 1,
      'isolation.score': 60,
    });
  });

  it('are unknown where a drill proved nothing', () => {
    expect(new Set(Object.values(figureValues(null, NOTHING)))).toEqual(new Set([null]));
  });
});
