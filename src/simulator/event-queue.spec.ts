import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { EventQueue } from './event-queue.js';

describe('event queue', () => {
  it('hands out events by time, equal times in the order they were scheduled', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 300 }), (times) => {
        const queue = new EventQueue();
        times.forEach((timeNs, index) => queue.schedule(timeNs, timeNs, index, index / 2));
        const seen = times.map(() => {
          const timeNs = queue.nextNs;
          queue.pop();
          return { timeNs, kind: queue.kind, index: queue.subject, detail: queue.detail };
        });
        const expected = times
          .map((timeNs, index) => ({ timeNs, kind: timeNs, index, detail: index / 2 }))
          .sort((a, b) => a.timeNs - b.timeNs || a.index - b.index);
        expect(seen).toEqual(expected);
        expect(queue.nextNs).toBe(Infinity);
      }),
    );
  });

  it('forgets cancelled events and reuses their slots', () => {
    const queue = new EventQueue();
    const first = queue.schedule(1, 0, 10);
    queue.schedule(2, 0, 20);
    queue.cancel(first);
    queue.cancel(first);
    expect(queue.schedule(3, 0, 30)).toBe(first);
    queue.pop();
    expect(queue.subject).toBe(20);
    queue.pop();
    expect(queue.subject).toBe(30);
  });
});
