import { describe, expect, it } from '@jest/globals';
import { buildLeafSpine, leafSpineSchema } from '../builders/leaf-spine.js';
import { RoutingGraph } from './graph.js';
import { flowHash, murmurFinish, murmurWord, nodeSeeds } from './hash.js';

/** 99.9 % quantile of chi-square with 7 degrees of freedom. */
const CHI_SQUARE_7 = 24.32;

const chiSquare = (counts: readonly number[]): number => {
  const expected = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
};

describe('equal-cost hash', () => {
  it('agrees with published MurmurHash3 test vectors', () => {
    const hashOfWord = (word: number, seed: number): number => murmurFinish(murmurWord(seed, word), 4);
    expect(hashOfWord(0, 0)).toBe(0x2362f9de);
    expect(hashOfWord(0x87654321, 0)).toBe(0xf55b516b);
    expect(hashOfWord(0x87654321, 0x5082edee)).toBe(0x2362f9de);
    expect(hashOfWord(0xffffffff, 0)).toBe(0x76293b50);
  });

  it('spreads source ports evenly over a group, for nearly every seed', () => {
    let uneven = 0;
    for (let seed = 0; seed < 200; seed++) {
      const counts = new Array<number>(8).fill(0);
      for (let port = 49152; port < 49152 + 4096; port++) {
        counts[flowHash(seed * 7919, 0x0a000001, 0x0a000101, port) % 8]++;
      }
      if (chiSquare(counts) > CHI_SQUARE_7) uneven++;
    }
    // One seed in a thousand is expected to be beyond the quantile; four of 200 has a chance below 1e-4.
    expect(uneven).toBeLessThan(4);
  });

  it('spreads structured addresses evenly when the port is fixed', () => {
    const counts = new Array<number>(8).fill(0);
    for (let host = 0; host < 64; host++) {
      for (let other = 0; other < 64; other++) {
        counts[flowHash(99, 0x0a000001 + (host << 8), 0x0a000001 + (other << 8), 4791) % 8]++;
      }
    }
    expect(chiSquare(counts)).toBeLessThan(CHI_SQUARE_7);
  });

  it('gives every node a seed of its own that depends on the hash seed', () => {
    const graph = new RoutingGraph(
      buildLeafSpine(leafSpineSchema.parse({ builder: 'leaf-spine', leaves: 8, spines: 8, hostsPerLeaf: 4 })),
    );
    const seeds = nodeSeeds(graph, 1);
    expect(new Set(seeds).size).toBe(graph.nodeCount);
    expect([...nodeSeeds(graph, 1)]).toEqual([...seeds]);
    expect([...nodeSeeds(graph, 2)].filter((seed, node) => seed === seeds[node])).toEqual([]);
    expect(new Set(nodeSeeds(graph, 1, true)).size).toBe(1);
    expect(nodeSeeds(graph, 1, true)[0]).not.toBe(nodeSeeds(graph, 2, true)[0]);
  });
});
