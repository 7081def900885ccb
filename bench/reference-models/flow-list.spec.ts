import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Prng } from '../../src/core/prng.js';
import { runFlowList, type ListedFlow } from './flow-list.js';

const flow = (links: number[], wireBytes: number, more: Partial<ListedFlow> = {}): ListedFlow => ({
  links: Int32Array.from(links),
  coefficients: new Float64Array(links.length).fill(1),
  wireBytes,
  ...more,
});

describe('runFlowList', () => {
  it('shares a link until the shorter flow is done, then gives the rest to the longer one', () => {
    const { finishNs, makespanNs } = runFlowList(Float64Array.of(10), [flow([0], 100), flow([0], 300)]);
    expect([...finishNs]).toEqual([20, 40]);
    expect(makespanNs).toBe(40);
  });

  it('lets flows on one path have the same rate, whenever they start, and end by what each has to send', () => {
    const { finishNs, rateChanges } = runFlowList(Float64Array.of(10, 10), [
      flow([0], 300),
      flow([0], 100),
      flow([0], 100),
      flow([0, 1], 400),
      flow([0], 100, { startNs: 40 }),
    ]);
    // Four share until 40; then one has 200 to go, the newcomer 100, and the one over two links 300.
    expect([...finishNs]).toEqual([90, 40, 40, 100, 70]);
    expect(rateChanges).toBeLessThan(10);
  });

  it('solves once for all that happens at one instant', () => {
    const { solves } = runFlowList(
      Float64Array.of(10, 10, 10),
      [0, 1, 2].map((link) => flow([link], 100, { startNs: 5 })),
    );
    expect(solves).toBe(2);
  });

  it('starts a flow when the last of those it waits for is finished, latency included, and not before its time', () => {
    const { startNs, finishNs } = runFlowList(Float64Array.of(10, 10, 10), [
      flow([0], 100, { latencyNs: 7 }),
      flow([1], 120),
      flow([0], 50, { startAfter: [0, 1] }),
      flow([2], 50, { startAfter: [0], startNs: 100 }),
    ]);
    expect([...startNs]).toEqual([0, 0, 17, 100]);
    expect([...finishNs]).toEqual([17, 12, 22, 105]);
  });

  it('reports Infinity for flows that a link without capacity holds up, and for those that wait for them', () => {
    const { startNs, finishNs } = runFlowList(Float64Array.of(0, 10), [
      flow([0, 1], 10),
      flow([1], 10),
      flow([1], 10, { startAfter: [0] }),
    ]);
    expect([...startNs]).toEqual([0, 0, Infinity]);
    expect([...finishNs]).toEqual([Infinity, 1, Infinity]);
  });

  it('refuses a flow that waits for one that is not there, or for itself', () => {
    const capacities = Float64Array.of(10);
    expect(() => runFlowList(capacities, [flow([0], 1, { startAfter: [4] })])).toThrow(
      '/flows/0/start_after/0',
    );
    const circle = [flow([0], 1), flow([0], 1, { startAfter: [2] }), flow([0], 1, { startAfter: [1] })];
    expect(() => runFlowList(capacities, circle)).toThrow('/flows/1/start_after: the flow waits');
  });

  it('never lets a flow beat its narrowest link, nor a link carry more than its capacity, and repeats to the byte', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 31 - 1 }), (seed) => {
        const random = new Prng(seed);
        const capacities = Float64Array.from({ length: 6 }, () => 1 + 20 * random.uniform());
        const flows = Array.from({ length: 40 }, (_, index) => {
          const links = random.shuffle([0, 1, 2, 3, 4, 5]).slice(0, 1 + random.below(4));
          const startAfter = index > 0 && random.below(3) === 0 ? [random.below(index)] : [];
          return flow(links, 1 + 1000 * random.uniform(), { startNs: 100 * random.uniform(), startAfter });
        });
        const { startNs, finishNs, makespanNs } = runFlowList(capacities, flows);
        flows.forEach(({ links, wireBytes, startAfter }, index) => {
          const bestNs = wireBytes / Math.min(...[...links].map((link) => capacities[link]));
          expect(finishNs[index] - startNs[index]).toBeGreaterThanOrEqual(bestNs * (1 - 1e-9));
          for (const other of startAfter!) expect(startNs[index]).toBeGreaterThanOrEqual(finishNs[other]);
        });
        capacities.forEach((capacity, link) => {
          const bytes = flows.reduce(
            (sum, { links, wireBytes }) => sum + (links.includes(link) ? wireBytes : 0),
            0,
          );
          expect(bytes).toBeLessThanOrEqual(capacity * makespanNs * (1 + 1e-9));
        });
        const again = runFlowList(capacities, flows);
        expect(Buffer.from(again.finishNs.buffer).equals(Buffer.from(finishNs.buffer))).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});
