/**
 * A family of comparisons that are judged at once: how often would any of them look at least as bad by chance?
 *
 * Every comparison has one statistic for each choice (of signs, or of runs), the first of them as observed; the choices
 * are the same for all, so that whatever ties comparisons together is kept. A statistic is compared by its rank among those
 * of its own comparison (min-p, Westfall and Young 1993), and by its size where ranks are equal. By size alone one seed at
 * which a candidate is far worse than at the others would inflate the scatter, and hide a regression at all of them.
 */

export interface FamilyTest {
  /** Chance of a family in which something looks at least as bad as this comparison, were all at their margin. */
  worse: number;
  /** Chance that this comparison alone looks at least as good as it does, were it at its margin. */
  better: number;
}

/** Sums in another order differ in their last digits; what is this near counts as reached. */
const ROUNDING = 1e-9;

interface Observed {
  /** Choices that look at least as bad. */
  rank: number;
  statistic: number;
  better: number;
}

export class Family {
  /** The worst of each choice over all comparisons: its rank, and of equal ranks the largest statistic. */
  private readonly ranks: Float64Array;
  private readonly statistics: Float64Array;
  private readonly observed: Observed[] = [];

  constructor(private readonly choices: number) {
    this.ranks = new Float64Array(choices).fill(Infinity);
    this.statistics = new Float64Array(choices);
  }

  /** @param statistics of one comparison by choice, larger is worse; NaN, a choice that tells nothing, counts as worst and best */
  add(statistics: Float64Array): void {
    const sorted = statistics.map((value) => (Number.isNaN(value) ? Infinity : value)).sort();
    const rankOf = (value: number): number => this.choices - firstAt(sorted, value - ROUNDING);
    let better = 0;
    for (let choice = 0; choice < this.choices; choice++) {
      const value = statistics[choice];
      if (!(value > statistics[0] + ROUNDING)) better++;
      if (Number.isNaN(value)) this.take(choice, 0, Infinity);
      else this.take(choice, rankOf(value), value);
    }
    const first = statistics[0];
    this.observed.push({ rank: rankOf(first), statistic: Number.isNaN(first) ? -Infinity : first, better });
  }

  private take(choice: number, rank: number, statistic: number): void {
    const before = this.ranks[choice];
    if (rank > before || (rank === before && statistic <= this.statistics[choice])) return;
    this.ranks[choice] = rank;
    this.statistics[choice] = statistic;
  }

  /** In the order in which they were added. */
  results(): FamilyTest[] {
    return this.observed.map(({ rank, statistic, better }) => {
      let worse = 0;
      for (let choice = 0; choice < this.choices; choice++) {
        const other = this.ranks[choice];
        if (other < rank || (other === rank && this.statistics[choice] >= statistic - ROUNDING)) worse++;
      }
      return { worse: worse / this.choices, better: better / this.choices };
    });
  }
}

/** Place of the first value that is not below a bound; the length where there is none. */
function firstAt(sorted: Float64Array, bound: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle] < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}
