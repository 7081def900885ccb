import { describe, expect, it } from '@jest/globals';
import { Turns } from './turns.js';

describe('turns', () => {
  it('are taken one after the other, in the order in which they were asked for', async () => {
    const turns = new Turns();
    const told: string[] = [];
    const act = (name: string) => async (): Promise<void> => {
      told.push(`${name} asks`);
      await new Promise((resolve) => setImmediate(resolve));
      told.push(`${name} has its answer`);
    };
    await Promise.all(['one', 'other'].map((name) => turns.take(act(name))));
    expect(told).toEqual(['one asks', 'one has its answer', 'other asks', 'other has its answer']);
  });

  it('go on when one fails, which only its own caller hears of', async () => {
    const turns = new Turns();
    const failed = turns.take(() => Promise.reject(new Error('no answer')));
    await expect(turns.take(async () => 'an answer')).resolves.toBe('an answer');
    await expect(failed).rejects.toThrow('no answer');
  });

  it('do not wait for ever for one that never answers', async () => {
    const turns = new Turns();
    void turns.take(() => new Promise<void>(() => undefined));
    await expect(turns.take(async () => 'an answer')).resolves.toBe('an answer');
  });
});
