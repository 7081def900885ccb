import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { IndexedHeap } from './heap.js';

interface Entry {
  item: number;
  key: number;
  order: number;
}

/** What the heap must say next, by sorting: smallest key, then earliest insertion or change. */
const first = (entries: Map<number, Entry>): Entry | undefined =>
  [...entries.values()].sort((a, b) => a.key - b.key || a.order - b.order)[0];

const operation = fc.record({
  kind: fc.constantFrom('set', 'set', 'set', 'remove', 'pop'),
  item: fc.integer({ min: 0, max: 30 }),
  // Few keys, so that ties are common.
  key: fc.integer({ min: 0, max: 6 }),
});

describe('IndexedHeap', () => {
  it('gives items by key, and equal keys in the order of insertion or last change', () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 200 }), (operations) => {
        const heap = new IndexedHeap(4);
        const entries = new Map<number, Entry>();
        operations.forEach(({ kind, item, key }, order) => {
          if (kind === 'set') {
            heap.set(item, key);
            entries.set(item, { item, key, order });
          } else if (kind === 'remove') {
            heap.remove(item);
            entries.delete(item);
          } else {
            const popped = heap.pop();
            expect(popped).toBe(first(entries)?.item ?? -1);
            entries.delete(popped);
          }
          expect(heap.size).toBe(entries.size);
          expect(heap.peek()).toBe(first(entries)?.item ?? -1);
          expect(heap.peekKey()).toBe(first(entries)?.key ?? Infinity);
          expect(heap.has(item)).toBe(entries.has(item));
        });
      }),
    );
  });
});
