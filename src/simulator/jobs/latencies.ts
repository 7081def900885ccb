/**
 * Durations of collectives and flows of one job, gathered between two polls: their mean and their p99.
 *
 * p99 is the nearest-rank quantile: the smallest value that at least 99 % of the values do not exceed. It is selected, not
 * sorted for, since a step of a large all-to-all ends as many flows as there are rank pairs.
 */
import { valueAtPlace } from '../../core/selection.js';

export class Durations {
  private values = new Float64Array(64);
  private count = 0;

  add(durationNs: number): void {
    if (this.count === this.values.length) {
      const grown = new Float64Array(this.count * 2);
      grown.set(this.values);
      this.values = grown;
    }
    this.values[this.count++] = durationNs;
  }

  /** Mean of what was added since the last `clear`, NaN without any. */
  get meanNs(): number {
    let sum = 0;
    for (let index = 0; index < this.count; index++) sum += this.values[index];
    return sum / this.count;
  }

  /** p99 of the same, NaN without any; the values are left in another order. */
  get p99Ns(): number {
    if (this.count === 0) return NaN;
    return valueAtPlace(this.values, this.count, Math.ceil(0.99 * this.count) - 1);
  }

  clear(): void {
    this.count = 0;
  }
}

/** What a job's NCCL profiler has seen since the last poll. */
export class JobLatencies {
  readonly allReduce = new Durations();
  readonly allToAll = new Durations();
  readonly flows = new Durations();
}
