import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { pacerFor } from './pacer.js';
import { FakeFabric } from './testing/fake-fabric.js';

describe('a pacer of simulated time', () => {
  it('comes exactly to the instant, in pieces of at most a second, telling progress after each', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 12_345_678_901 }), async (toNs) => {
        const fabric = new FakeFabric();
        const seen: number[] = [0];
        await pacerFor(fabric).until(toNs, new AbortController().signal, (nowNs) => seen.push(nowNs));
        expect(fabric.nowNs).toBe(toNs);
        for (let index = 1; index < seen.length; index++) {
          const pieceNs = seen[index] - seen[index - 1];
          expect(pieceNs).toBeGreaterThan(0);
          expect(pieceNs).toBeLessThanOrEqual(1e9);
        }
      }),
    );
  });

  it('stops within a piece of an abort', async () => {
    const fabric = new FakeFabric();
    const abort = new AbortController();
    const pacer = pacerFor(fabric);
    await pacer.until(60e9, abort.signal, (nowNs) => {
      if (nowNs >= 3e9) abort.abort();
    });
    expect(pacer.nowNs).toBe(3e9);
    await pacer.until(60e9, abort.signal, () => undefined);
    expect(pacer.nowNs).toBe(3e9);
  });

  it('does not move for an instant that is past', async () => {
    const fabric = new FakeFabric();
    fabric.nowNs = 5e9;
    await pacerFor(fabric).until(4e9, new AbortController().signal, () => undefined);
    expect(fabric.nowNs).toBe(5e9);
  });
});

describe('a pacer of wall-clock time', () => {
  /** A fabric whose clock nobody drives, as a real one's. */
  const real = (): FakeFabric => Object.defineProperty(new FakeFabric(), 'advance', { value: undefined });

  it('counts from the moment it was made and waits', async () => {
    let nowMs = 1_000_000;
    const pacer = pacerFor(real(), () => nowMs++);
    expect(pacer.nowNs).toBe(1e6);
    await pacer.until(8e6, new AbortController().signal, () => undefined);
    expect(pacer.nowNs).toBeGreaterThanOrEqual(8e6);
  });

  it('wakes up for an abort in the middle of a wait', async () => {
    const abort = new AbortController();
    const waiting = pacerFor(real()).until(3600e9, abort.signal, () => undefined);
    abort.abort();
    await expect(waiting).resolves.toBeUndefined();
  });
});
