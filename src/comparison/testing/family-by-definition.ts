/** What a family's tests are, word for word: every choice against every other, without sorting and without a running worst. */
import type { FamilyTest } from '../family.js';

const NEAR = 1e-9;

/** @param statistics by comparison and choice, larger is worse; the first choice is what was observed */
export function familyByDefinition(statistics: readonly (readonly number[])[]): FamilyTest[] {
  const choices = statistics[0].map((_, choice) => choice);
  const ranks = statistics.map((row) =>
    row.map((value) => row.filter((other) => other >= value - NEAR).length),
  );
  return statistics.map((row, at) => {
    const asBad = (choice: number): boolean =>
      statistics.some((other, place) => {
        const ahead = ranks[at][0] - ranks[place][choice];
        return ahead > 0 || (ahead === 0 && other[choice] >= row[0] - NEAR);
      });
    return {
      worse: choices.filter(asBad).length / choices.length,
      better: row.filter((value) => value <= row[0] + NEAR).length / choices.length,
    };
  });
}
