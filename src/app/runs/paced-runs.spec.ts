import { describe, expect, test } from '@jest/globals';
import { PacedRuns } from './paced-runs.js';

/** Runs that end when they are told to. */
function runs(places: number) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const paced = new PacedRuns((runId) => {
    begun.push(runId);
    return new Promise((resolve) => ends.set(runId, resolve));
  }, places);
  const end = async (runId: string): Promise<void> => {
    ends.get(runId)!();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { paced, begun, end };
}

describe('paced runs', () => {
  test('go on at once up to the places, the others in the order in which they came', async () => {
    const { paced, begun, end } = runs(2);
    for (const one of ['a', 'b', 'c', 'd']) paced.begin(one);
    expect(begun).toEqual(['a', 'b']);
    await end('b');
    expect(begun).toEqual(['a', 'b', 'c']);
    await end('a');
    expect(begun).toEqual(['a', 'b', 'c', 'd']);
  });

  test('are begun once, however often they are offered', async () => {
    const { paced, begun, end } = runs(1);
    for (const one of ['a', 'a', 'b', 'b', 'a']) paced.begin(one);
    await end('a');
    await end('b');
    expect(begun).toEqual(['a', 'b']);
  });

  test('that wait when the worker closes are left to others, and those under way come to their end', async () => {
    const { paced, begun, end } = runs(1);
    paced.begin('a');
    paced.begin('b');
    let closed = false;
    const closing = paced.close().then(() => (closed = true));
    paced.begin('c');
    await new Promise((resolve) => setImmediate(resolve));
    expect(closed).toBe(false);
    await end('a');
    await closing;
    expect(begun).toEqual(['a']);
  });
});
