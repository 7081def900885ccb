/**
 * What counters gain per ns while nothing changes, as lists of the few that gain anything.
 */
import { assertFinite } from '../../core/assertion.js';

/** One array of counters: which of them gain, and how much per ns. */
export interface Gain {
  readonly counter: Float64Array;
  readonly index: Int32Array;
  readonly perNs: Float64Array;
}
export type Gains = readonly Gain[];

/** Adds up gains by counter. */
export class GainBook {
  private readonly byCounter = new Map<Float64Array, Map<number, number>>();

  add(counter: Float64Array, index: number, perNs: number): void {
    if (perNs === 0) return;
    let gains = this.byCounter.get(counter);
    if (gains === undefined) this.byCounter.set(counter, (gains = new Map<number, number>()));
    gains.set(index, (gains.get(index) ?? 0) + perNs);
  }

  close(): Gain[] {
    for (const gains of this.byCounter.values()) {
      for (const [index, perNs] of gains) assertFinite(perNs, 'what a counter gains', 'counter', index);
    }
    return [...this.byCounter].map(([counter, gains]) => ({
      counter,
      index: Int32Array.from(gains.keys()),
      perNs: Float64Array.from(gains.values()),
    }));
  }
}

/** Counts a span of time, ns. */
export function gain(gains: Gains, spanNs: number): void {
  for (const { counter, index, perNs } of gains) {
    for (let at = 0; at < index.length; at++) counter[index[at]] += perNs[at] * spanNs;
  }
}
