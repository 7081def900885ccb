/** Samples that went out of memory come back as they were, from few blocks. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CourseStore, type Backing } from './course-store.js';
import { PollClock } from './poll-clock.js';
import { PollColumn } from './poll-column.js';

const SIZE = 40;
const indices = Int32Array.from({ length: SIZE }, (_, element) => element);

/** Room that counts how often it is asked. */
class Memory implements Backing {
  private bytes = new Uint8Array(0);
  reads = 0;

  append(bytes: Uint8Array): number {
    const at = this.bytes.length;
    const grown = new Uint8Array(at + bytes.length);
    grown.set(this.bytes);
    grown.set(bytes, at);
    this.bytes = grown;
    return at;
  }

  read(at: number, into: Uint8Array): void {
    this.reads++;
    into.set(this.bytes.subarray(at, at + into.length));
  }
}

const columnOf = (
  rounds: number,
  valueOf: (element: number, round: number) => number,
  store?: CourseStore,
) => {
  const column = new PollColumn(new PollClock(10, 0), indices, store);
  for (let round = 0; round < rounds; round++) {
    column.clock.rounds++;
    column.begin();
    column.fill(0, SIZE, indices, (element) => valueOf(element, round));
  }
  return column;
};

describe('courses out of memory', () => {
  it('are read as those in memory, whatever was left in it and however few blocks are at hand', () => {
    const anything = fc.tuple(
      fc.integer({ min: 1, max: 120 }),
      fc.integer({ min: 1, max: 9 }),
      fc.constantFrom(0, 3000, 1e9),
      fc.constantFrom(1, 2, 100),
    );
    fc.assert(
      fc.property(anything, ([rounds, alike, mostBytes, mostBlocks]) => {
        const valueOf = (element: number, round: number): number =>
          element % 5 === 0 ? 7 : Math.sin(round * (element % alike)) + round;
        const backing = new Memory();
        const store = new CourseStore({ open: () => backing, mostBytes, mostBlocks });
        const [kept, moved] = [columnOf(rounds, valueOf), columnOf(rounds, valueOf, store)];
        for (const range of [
          { from: 0, to: rounds },
          { from: rounds >> 1, to: rounds },
        ]) {
          for (let element = 0; element < SIZE; element++) {
            expect(moved.readValues(element, range)).toEqual(kept.readValues(element, range));
          }
        }
      }),
      { numRuns: 30 },
    );
  });

  it('are asked for in blocks that neighbours share', () => {
    const backing = new Memory();
    const store = new CourseStore({ open: () => backing, mostBytes: 0 });
    const column = columnOf(80, (element, round) => element * 1e3 + round, store);
    for (let element = 0; element < SIZE; element++) column.readValues(element, { from: 0, to: 80 });
    expect(backing.reads).toBe(1);
  });

  it('stay where they are as long as there is room, and then no room is opened', () => {
    const store = new CourseStore({
      open: () => {
        throw new Error('opened');
      },
    });
    expect(() => columnOf(80, (element, round) => element + round, store)).not.toThrow();
  });
});
