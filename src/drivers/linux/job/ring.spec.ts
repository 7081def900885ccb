import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Inbox } from './inbox.js';
import { elementsFor, Ring } from './ring.js';
import { addTo, expectedSum, fillGradient, firstWrong, firstWrongWeight } from './training-state.js';

/** Rings of ranks that share memory: what one sends is fed to the other, byte by byte as over a wire. */
function ringOf(ranks: readonly number[], bytes: number): Map<number, Ring> {
  const inboxes = new Map<string, Inbox>();
  const still = { pause: () => undefined, resume: () => undefined };
  const inboxOf = (from: number, to: number): Inbox => {
    const key = `${from}-${to}`;
    if (!inboxes.has(key)) inboxes.set(key, new Inbox(still, 1 << 24));
    return inboxes.get(key)!;
  };
  return new Map(
    ranks.map((rank) => {
      const connections = {
        send: async (to: number, data: Uint8Array) => inboxOf(rank, to).feed(Uint8Array.from(data)),
        inbox: (from: number) => inboxOf(from, rank),
      };
      const data = new Int32Array(elementsFor(bytes, ranks.length));
      return [rank, new Ring(connections, ranks, rank, data)];
    }),
  );
}

const rankSets = fc.uniqueArray(fc.integer({ min: 0, max: 20 }), { minLength: 2, maxLength: 7 });

describe('a ring', () => {
  it('ends an all-reduce with the same sum everywhere, whatever the size and the order of ranks', async () => {
    await fc.assert(
      fc.asyncProperty(
        rankSets,
        fc.integer({ min: 1, max: 4000 }),
        fc.nat(5000),
        async (ranks, bytes, step) => {
          const rings = ringOf(ranks, bytes);
          for (const [rank, { data }] of rings) fillGradient(data, rank, step, 1);
          await Promise.all([...rings.values()].map((ring) => ring.allReduce()));
          for (const { data } of rings.values()) {
            expect(firstWrong(data, { from: 0, to: data.length }, ranks, step, 1)).toBe(-1);
          }
        },
      ),
      { numRuns: 25 },
    );
  });

  it('leaves each rank its own chunk after a reduce-scatter, and all chunks after an all-gather', async () => {
    await fc.assert(
      fc.asyncProperty(rankSets, async (ranks) => {
        const rings = ringOf(ranks, 4000);
        for (const [rank, { data }] of rings) fillGradient(data, rank, 3, 0);
        await Promise.all([...rings.values()].map((ring) => ring.reduceScatter()));
        for (const ring of rings.values()) {
          expect(firstWrong(ring.data, ring.ownedSpan(), ranks, 3, 0)).toBe(-1);
        }
        for (const [rank, { data }] of rings) fillGradient(data, rank, 3, 0);
        await Promise.all([...rings.values()].map((ring) => ring.allGather()));
        for (const ring of rings.values()) {
          ranks.forEach((rank, place) => {
            expect(firstWrong(ring.data, ring.span(place), [rank], 3, 0)).toBe(-1);
          });
        }
      }),
      { numRuns: 10 },
    );
  });
});

describe('the state of training', () => {
  it('finds a single changed element', () => {
    const data = Int32Array.from({ length: 3000 }, (_, index) => expectedSum(index, [0, 1, 2], 9, 4));
    expect(firstWrong(data, { from: 0, to: 3000 }, [0, 1, 2], 9, 4)).toBe(-1);
    data[1234] ^= 1;
    expect(firstWrong(data, { from: 0, to: 3000 }, [0, 1, 2], 9, 4)).toBe(1234);
  });

  it('knows in closed form what so many steps add up to, and that one step more or less is not it', () => {
    const weights = new Int32Array(16);
    const sum = new Int32Array(16);
    for (let step = 1; step <= 1005; step++) {
      for (let index = 0; index < sum.length; index++) sum[index] = expectedSum(index, [4, 2], step, 1);
      addTo(weights, sum);
    }
    expect(firstWrongWeight(weights, [4, 2], 1005, 1)).toBe(-1);
    expect(firstWrongWeight(weights, [4, 2], 1004, 1)).toBe(0);
  });
});
