import { describe, expect, it } from '@jest/globals';
import { Unawaited } from './unawaited.js';

describe('work that nobody waits for', () => {
  it('goes on by itself, tells what failed, and can be waited for at the end', async () => {
    const told: string[] = [];
    const done: string[] = [];
    const unawaited = new Unawaited({ warn: (text) => void told.push(text) });
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    unawaited.begin('slow', () => answered.then(() => void done.push('slow')));
    unawaited.begin('broken', () => Promise.reject(new Error('no queue')));
    unawaited.begin('quick', () => Promise.resolve(void done.push('quick')));
    expect(done).toEqual(['quick']);
    const ended = unawaited.ended().then(() => done.push('ended'));
    answer();
    await ended;
    expect(done).toEqual(['quick', 'slow', 'ended']);
    expect(told).toEqual(['broken: no queue']);
  });
});
