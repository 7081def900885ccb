import { describe, expect, test } from '@jest/globals';
import { dueMs } from './decide.js';

describe('the start of a tick', () => {
  const jitterMs = 600_000;
  const nominals = Array.from({ length: 1000 }, (_, day) => Date.UTC(2027, 0, 1, 4) + day * 86_400_000);
  const addedTo = (id: string): number[] => nominals.map((ms) => dueMs({ id, jitterMs }, ms) - ms);

  test('is put off by less than its jitter, evenly, and by the same in every replica', () => {
    const added = addedTo('nightly');
    expect(addedTo('nightly')).toEqual(added);
    expect(Math.min(...added)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...added)).toBeLessThan(jitterMs);
    const tenths = Array.from(
      { length: 10 },
      (_, at) => added.filter((ms) => Math.floor(ms / 60_000) === at).length,
    );
    // 100 each by expectation, with a standard deviation of 9.5
    expect(Math.min(...tenths)).toBeGreaterThan(55);
    expect(Math.max(...tenths)).toBeLessThan(145);
  });

  test('differs between schedules, so that those of the same minute do not start together', () => {
    const starts = new Set(
      Array.from({ length: 100 }, (_, at) => dueMs({ id: `s${at}`, jitterMs }, nominals[0])),
    );
    expect(starts.size).toBe(100);
  });

  test('is the nominal time without jitter', () => {
    expect(dueMs({ id: 'nightly', jitterMs: 0 }, nominals[0])).toBe(nominals[0]);
  });
});
