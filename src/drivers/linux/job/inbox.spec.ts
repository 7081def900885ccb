import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Inbox } from './inbox.js';

const still = { pause: () => undefined, resume: () => undefined };

describe('an inbox', () => {
  it('hands out the bytes in order, however they were cut on the way', async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(sizes, sizes, fc.boolean(), async (cuts, wants, early) => {
        const total = wants.reduce((sum, size) => sum + size, 0);
        const bytes = Uint8Array.from({ length: total }, (_, at) => at % 251);
        const inbox = new Inbox(still, 1 << 20);
        const feed = (): void => {
          for (let from = 0, cut = 0; from < total; from += cuts[cut++ % cuts.length]) {
            inbox.feed(bytes.subarray(from, Math.min(total, from + cuts[cut % cuts.length])));
          }
        };
        if (early) feed();
        else setImmediate(feed);
        const got: number[] = [];
        for (const size of wants) {
          const target = new Uint8Array(size);
          await inbox.receive(target);
          got.push(...target);
        }
        expect(Uint8Array.from(got)).toEqual(bytes);
        expect(inbox.receivedBytes).toBe(total);
      }),
      { numRuns: 60 },
    );
  });

  it('tells its sender to pause while too much waits, and to go on when it has been taken', async () => {
    const calls: string[] = [];
    const flow = { pause: () => calls.push('pause'), resume: () => calls.push('resume') };
    const inbox = new Inbox(flow, 10);
    inbox.feed(new Uint8Array(6));
    expect(calls).toEqual([]);
    inbox.feed(new Uint8Array(6));
    expect(calls).toEqual(['pause']);
    await inbox.receive(new Uint8Array(8));
    expect(calls).toEqual(['pause', 'resume']);
  });

  it('gives what came before the end, and tells of the end to whoever wants more', async () => {
    const inbox = new Inbox(still, 10);
    inbox.feed(new Uint8Array(4));
    inbox.fail(new Error('closed'));
    await inbox.receive(new Uint8Array(4));
    await expect(inbox.receive(new Uint8Array(1))).rejects.toThrow('closed');
  });
});
