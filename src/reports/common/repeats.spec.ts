import { describe, expect, it } from '@jest/globals';
import { failedScorecard, inconclusiveScorecard, passedScorecard } from '../testing/sample-scorecards.js';
import { repeatsJson, repeatsText } from './repeats.js';

const runs = [passedScorecard, failedScorecard, inconclusiveScorecard];
const figure = (path: string, known: number) => ({
  path,
  known,
  of: 3,
  median: 80,
  low: 70,
  high: 90,
  confidence: 0.75,
});
const all = {
  runs,
  figures: [
    figure('recovery.score', 3),
    figure('recovery.time_to_recover_s', 2),
    { ...figure('recovery.recovered', 3), median: 2 / 3, low: null, high: null, confidence: null },
    { ...figure('isolation.score', 0), median: null, low: null, high: null, confidence: null },
  ],
};

describe('several seeds', () => {
  it('are shown run by run, then figure by figure with how sure the median is', () => {
    const text = repeatsText(all);
    for (const { run } of runs) expect(text).toMatch(new RegExp(`^ {2}${run.seed} +${run.state} `, 'm'));
    expect(text).toMatch(/^ {2}score +80 \(70 to 90, 75 % sure\)$/m);
    expect(text).toMatch(/95 % pace again after +80 s \(70 s to 90 s, 75 % sure\), known for 2 of 3/);
    expect(text).toMatch(/^ {2}recovered +66.67 % yes$/m);
    expect(text).not.toMatch(/^Isolation$/m);
    for (const reason of failedScorecard.reasons) expect(text).toContain(reason.slice(0, 30));
  });

  it('give a program all of it', () => {
    const parsed = JSON.parse(repeatsJson(all)) as { runs: { seed: number }[]; figures: unknown[] };
    expect(parsed.runs.map(({ seed }) => seed)).toEqual(runs.map(({ run }) => run.seed));
    expect(parsed.figures).toEqual(all.figures);
  });
});
