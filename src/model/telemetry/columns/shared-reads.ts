/**
 * Arrays of values that many series have in common: those that stand still, and those that move in step.
 *
 * Readers hold on to what they have read; with one array for all elements of equal course that costs little, however
 * many elements there are. For one window at a time; a bounded number of courses.
 */
import type { RoundRange } from './poll-clock.js';

const MOST_COURSES = 4096;

export class SharedReads {
  private range: RoundRange = { from: 0, to: 0 };
  private readonly constants = new Map<number, Float64Array>();
  private readonly courses = new Map<string, Float64Array>();

  constant(value: number, range: RoundRange): Float64Array {
    this.turnTo(range);
    const key = Object.is(value, -0) ? Infinity : value;
    let values = this.constants.get(key);
    // Infinity stands for -0 above, and is so no key of its own.
    if (values === undefined || !Object.is(values[0], value)) {
      values = new Float64Array(range.to - range.from).fill(value);
      if (this.constants.size >= MOST_COURSES) this.constants.clear();
      this.constants.set(key, values);
    }
    return values;
  }

  /** @param key of the course; undefined when it is shared with nobody */
  course(key: string | undefined, range: RoundRange, read: () => Float64Array): Float64Array {
    if (key === undefined) return read();
    this.turnTo(range);
    let values = this.courses.get(key);
    if (values === undefined) {
      values = read();
      if (this.courses.size >= MOST_COURSES) this.courses.clear();
      this.courses.set(key, values);
    }
    return values;
  }

  private turnTo(range: RoundRange): void {
    if (range.from === this.range.from && range.to === this.range.to) return;
    this.range = range;
    this.constants.clear();
    this.courses.clear();
  }
}
