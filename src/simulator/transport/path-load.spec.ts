/** Source ports chosen by path: loads stay level, and a ring with a queue pair an edge never meets itself on an uplink. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { flowSimulator, samplesOf } from '../../../test/support/simulated-fabric.js';
import { PathLoad } from './path-load.js';

const path = (...directions: number[]): Int32Array => Int32Array.from(directions);

describe('a choice of paths', () => {
  it('keeps any number of equal choices level', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 60 }), (links, ways) => {
        const load = new PathLoad();
        const carried = new Int32Array(links);
        for (let way = 0; way < ways; way++)
          carried[load.choose(way, (candidate) => path(candidate % links)) % links]++;
        expect(Math.max(...carried) - Math.min(...carried)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('looks at the busiest link of a path first, then at the sum', () => {
    const load = new PathLoad();
    load.choose(0, () => path(1));
    load.choose(1, () => path(1));
    load.choose(2, () => path(2));
    load.choose(3, () => path(3));
    // two links with one each beat one with two; one with one beats both
    expect(load.choose(4, (candidate) => (candidate === 0 ? path(1) : path(2, 3)))).toBe(1);
    expect(load.choose(5, (candidate) => (candidate === 0 ? path(2, 3) : path(3)))).toBe(1);
  });

  it('forgets what was given up, and passes over candidates without a path', () => {
    const load = new PathLoad();
    load.choose(0, () => path(1));
    load.release(0);
    load.choose(1, () => path(2));
    expect(load.choose(2, (candidate) => path(candidate === 0 ? 2 : 1))).toBe(1);
    expect(load.choose(3, (candidate) => (candidate === 3 ? path(9) : path()))).toBe(3);
    expect(load.choose(4, () => path())).toBe(0);
  });
});

describe('a ring that takes turns between two leaves', () => {
  const stepS = (seed: number, sourcePorts: string): number => {
    const simulator = flowSimulator(
      {
        topology: {
          builder: 'leaf-spine',
          leaves: 2,
          spines: 2,
          hostsPerLeaf: 2,
          gpusPerHost: 1,
          hostRate: '10Gbps',
          fabricRate: '10Gbps',
        },
        settings: { sourcePorts, hashSeed: seed },
        jobs: [
          {
            ...{ name: 'ring', hosts: ['host-1', 'host-3', 'host-2', 'host-4'], queuePairs: 1 },
            step: { compute: '1ms', collectives: [{ collective: 'all-reduce', bytes: '100MB' }] },
          },
        ],
      },
      seed,
    );
    simulator.startJobs();
    simulator.advance(1.5e9);
    return samplesOf(simulator.evidence(0, 1.5e9), 'job_step_time_s', 'job:ring').at(-1)![1];
  };
  const seeds = [1, 2, 3, 4, 5, 6, 7, 8];

  it('is as fast with every seed where ports are spread, and halved by chance where they are drawn', () => {
    const spread = seeds.map((seed) => stepS(seed, 'spread'));
    const drawn = seeds.map((seed) => stepS(seed, 'drawn'));
    // 150 MB cross each NIC
    for (const one of spread) expect(one).toBeLessThan(0.13);
    expect(Math.max(...drawn)).toBeGreaterThan(0.2);
  });
});
