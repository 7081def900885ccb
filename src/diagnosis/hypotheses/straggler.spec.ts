import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { rankId } from '../../core/elements.js';
import { Prng } from '../../core/prng.js';
import { SeriesBuilder } from '../../model/telemetry/series.js';
import { buildTopology, topologySchema } from '../../model/topology/topology-spec.js';
import type { Job } from '../../model/workload/job.js';
import { diagnose } from '../index.js';
import type { Verdict } from '../index.js';
import { Scenario } from '../testing/scenario.js';

const topology = buildTopology(
  topologySchema.parse({ builder: 'leaf-spine', leaves: 2, spines: 2, hostsPerLeaf: 2, gpusPerHost: 2 }),
);
const job: Job = {
  name: 'llm',
  placement: Int32Array.from({ length: 8 }, (_, gpu) => gpu),
  program: { operations: [{ type: 'compute', name: 'forward', durationNs: 4e8, after: [] }] },
  startNs: 0,
  queuePairs: 1,
  priority: 3,
};
const STEP_S = 0.6;
const COMPUTE_S = 0.4;

/** Each rank's compute time at each second, in units of the usual one; steps wait for the slowest. */
function verdictOf(
  paceOf: (rank: number, second: number) => number,
  seed = 1,
  lost = 0,
  longer?: number,
): Verdict {
  const slowest = Math.max(...[...job.placement.keys()].map((rank) => paceOf(rank, 30)));
  // steps grow by what the slowest rank computes longer; where none does, they wait for something else
  const factor = longer ?? (slowest > 1 ? 1 + (COMPUTE_S / STEP_S) * (slowest - 1) : 1.5);
  const input = new Scenario(topology, [job], [], [{ from: 20, to: 40, factor }], seed).input();
  const random = new Prng(seed);
  const compute = [...job.placement.keys()].map(
    (rank) => new SeriesBuilder('rank_compute_time_s', rankId(job.name, rank)),
  );
  const wait = compute.map((_, rank) => new SeriesBuilder('rank_wait_time_s', rankId(job.name, rank)));
  for (let second = 1; second <= 60; second++) {
    const paces = compute.map((_, rank) => paceOf(rank, second));
    const slowestNow = Math.max(...paces);
    paces.forEach((pace, rank) => {
      if (random.uniform() < lost) return;
      const noise = 1 + 0.004 * random.uniform();
      compute[rank].push(second * 1e9, COMPUTE_S * pace * noise);
      wait[rank].push(second * 1e9, STEP_S - COMPUTE_S + COMPUTE_S * (slowestNow - pace));
    });
  }
  const series = [
    ...input.evidence.series,
    ...compute.map((one) => one.build()),
    ...wait.map((one) => one.build()),
  ];
  return diagnose({ ...input, evidence: { ...input.evidence, series } });
}

const held = (second: number): boolean => second > 20 && second <= 40;

describe('a host that computes slower than its peers', () => {
  it('is not blamed for much more than its own slowness can have cost', () => {
    const slowBy = (factor: number): Verdict =>
      verdictOf((rank, second) => (rank === 3 && held(second) ? factor : 1), 1, 0, 2);
    // steps take twice as long; 4 % of computing is 1 % of such a step, which makes nobody a culprit
    expect(slowBy(1.04)).toMatchObject({ culprits: [], faultFound: null });
    const { culprits, shareExplained } = slowBy(1.08);
    expect(culprits).toHaveLength(1);
    expect(shareExplained).toBeLessThan(0.6);
  });

  it('is named, and nothing in the network is, however slow it is and whichever GPU', () => {
    fc.assert(
      fc.property(
        fc.nat(7),
        fc.double({ min: 1.08, max: 5, noNaN: true }),
        fc.integer({ min: 1, max: 1e6 }),
        (slow, factor, seed) => {
          const { culprits, answer } = verdictOf(
            (rank, second) => (rank === slow && held(second) ? factor : 1),
            seed,
          );
          expect(culprits).toHaveLength(1);
          expect(culprits[0]).toMatchObject({
            kind: 'straggler',
            element: { type: 'device', id: `device:host-${1 + Math.floor(slow / 2)}` },
            side: 'host',
            lostTimeShare: 1,
          });
          expect(Math.abs((culprits[0].onset_s ?? NaN) - 20)).toBeLessThanOrEqual(1.5);
          expect(answer).toContain(`rank ${slow} of llm`);
        },
      ),
      { numRuns: 8 },
    );
  });

  it('is named when all its GPUs are slow, and when it is half of what answers', () => {
    const { culprits, answer } = verdictOf((rank, second) => (rank < 2 && held(second) ? 1.5 : 1), 3, 0.3);
    expect(culprits.map(({ element }) => element.id)).toEqual(['device:host-1']);
    expect(answer).toContain('waited for ranks 0, 1 of llm, whose GPUs are slow');
  });

  it('is named when it was slow all along, without an onset', () => {
    const { culprits } = verdictOf((rank) => (rank === 5 ? 1.5 : 1));
    expect(culprits[0]).toMatchObject({ element: { id: 'device:host-3' }, onset_s: null });
  });

  it('is nobody when all compute longer together: that is heavier work', () => {
    const { culprits, faultFound } = verdictOf((_, second) => (held(second) ? 1.5 : 1));
    expect(culprits).toEqual([]);
    expect(faultFound).toBeNull();
  });

  it('is nobody when one poll of one rank sticks out', () => {
    expect(verdictOf((rank, second) => (rank === 3 && second === 25 ? 2 : 1)).culprits).toEqual([]);
  });
});
