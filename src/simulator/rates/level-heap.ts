/**
 * A min-heap of (level, item) pairs, for progressive filling and for lists of flows.
 *
 * Unlike the kernel's indexed heap it keeps no places: an item may be in it several times, and the reader drops the
 * entries that have become stale. Levels only rise during a filling, so this is cheaper than moving keys about.
 * Equal levels leave in an order that depends on the sequence of pushes alone.
 */
import { grownFloat64, grownInt32 } from './incidence.js';

export class LevelHeap {
  private levels: Float64Array;
  private items: Int32Array;
  private count = 0;

  /** @param capacity pairs expected; grows by doubling */
  constructor(capacity = 256) {
    this.levels = new Float64Array(capacity);
    this.items = new Int32Array(capacity);
  }

  get size(): number {
    return this.count;
  }

  clear(): void {
    this.count = 0;
  }

  /** Level at the top, Infinity when empty. */
  peekLevel(): number {
    return this.count === 0 ? Infinity : this.levels[0];
  }

  /** Item at the top; undefined behaviour when empty. */
  peekItem(): number {
    return this.items[0];
  }

  push(item: number, level: number): void {
    if (this.count === this.items.length) {
      this.items = grownInt32(this.items, this.count + 1);
      this.levels = grownFloat64(this.levels, this.count + 1);
    }
    const levels = this.levels;
    const items = this.items;
    let place = this.count++;
    while (place > 0) {
      const parent = (place - 1) >> 2;
      if (levels[parent] <= level) break;
      levels[place] = levels[parent];
      items[place] = items[parent];
      place = parent;
    }
    levels[place] = level;
    items[place] = item;
  }

  /** Drops the top; the heap must not be empty. */
  pop(): void {
    const last = --this.count;
    if (last > 0) this.sink(this.items[last], this.levels[last]);
  }

  /** Gives the top another level, not below its present one. */
  raiseTop(level: number): void {
    this.sink(this.items[0], level);
  }

  private sink(item: number, level: number): void {
    const levels = this.levels;
    const items = this.items;
    const count = this.count;
    let place = 0;
    for (;;) {
      const first = place * 4 + 1;
      if (first >= count) break;
      const end = first + 4 < count ? first + 4 : count;
      let least = first;
      for (let child = first + 1; child < end; child++) if (levels[child] < levels[least]) least = child;
      if (levels[least] >= level) break;
      levels[place] = levels[least];
      items[place] = items[least];
      place = least;
    }
    levels[place] = level;
    items[place] = item;
  }
}
