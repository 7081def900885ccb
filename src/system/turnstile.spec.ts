import { describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { Turnstile, through } from './turnstile.js';

describe('a turnstile', () => {
  it('lets only so many in at once, and all of them in the end, in their order', async () => {
    const gates = [new Turnstile(3), new Turnstile(2)];
    let [within, most] = [0, 0];
    const order: number[] = [];
    await Promise.all(
      Array.from({ length: 9 }, (_, one) =>
        through(gates, async () => {
          order.push(one);
          most = Math.max(most, ++within);
          await sleep(1);
          within--;
        }),
      ),
    );
    expect(most).toBe(2);
    expect(order).toEqual([...order].sort((one, other) => one - other));
    expect(order).toHaveLength(9);
  });

  it('is left by work that fails', async () => {
    const gate = new Turnstile(1);
    await expect(through([gate], () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await through([gate], () => Promise.resolve('in'))).toBe('in');
  });
});
