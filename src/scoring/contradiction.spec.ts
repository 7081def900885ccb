/** Which objectives can't be met together. */
import { describe, expect, it } from '@jest/globals';
import { contradiction } from './contradiction.js';
import { parseObjective } from './objectives.js';

describe('objectives', () => {
  it.each([
    [['recovery.score >= 90', 'recovery.score < 50'], true],
    [['recovery.score >= 90', 'recovery.score < 90'], true],
    [['recovery.score >= 90', 'recovery.score <= 90'], false],
    [['recovery.score > 90', 'recovery.score <= 91'], false],
    [['recovery.score == 10', 'recovery.score != 10'], true],
    [['recovery.recovered == true', 'recovery.recovered == false'], true],
    [['recovery.recovered > 0', 'recovery.recovered < 1'], true],
    [['recovery.time_to_recover_s > 1e9', 'recovery.time_to_recover_s < 2e9'], false],
    [['recovery.score >= 90', 'isolation.score < 50', 'explainability.top1 == 1'], false],
    [['recovery.score >= 0', 'recovery.score != 3', 'recovery.score <= 0', 'recovery.score > 0'], true],
  ])('%j exclude one another: %p', (expressions, expected) => {
    const found = contradiction(expressions.map((one) => parseObjective(one)));
    expect(found !== undefined).toBe(expected);
  });
});
