/** How far and how long a search goes: by itself, on a fabric with a bottleneck on every tier, and where no search can end. */
import { describe, expect, it } from '@jest/globals';
import { clos, GBPS, reactionPoint, twin } from '../../../../test/support/fluid-twin.js';
import { flowSimulator } from '../../../../test/support/simulated-fabric.js';
import { Effort } from '../../effort.js';
import { Equilibrium } from './equilibrium.js';
import { Pace } from './pace.js';

/** Sweeps until a pace gives up, at most 1000. */
function sweepsOf(pace: Pace, worstAt: (sweep: number) => number): number {
  pace.begin();
  for (let sweep = 1; sweep < 1000; sweep++) if (!pace.goesOn(worstAt(sweep))) return sweep;
  return 1000;
}

describe('the pace of a search', () => {
  it('lets steps grow only after the first sweeps, and goes on while it comes nearer', () => {
    const pace = new Pace(true);
    pace.begin();
    for (let sweep = 1; sweep <= 24; sweep++) pace.goesOn(1);
    expect([pace.mostGain, pace.isLong]).toEqual([1, true]);
    pace.goesOn(0.9);
    expect(pace.mostGain).toBeGreaterThan(1);
    expect(sweepsOf(pace, (sweep) => 0.99 ** sweep)).toBe(1000);
    const unmarked = new Pace(false);
    sweepsOf(unmarked, (sweep) => 0.99 ** sweep);
    expect(unmarked.mostGain).toBe(1);
  });

  it('takes short steps where it goes round in circles, and then gives up', () => {
    const pace = new Pace(true);
    expect(sweepsOf(pace, (sweep) => 0.03 + 0.02 * Math.sin(sweep))).toBeLessThan(150);
    expect(pace.mostGain).toBeLessThan(1);
    expect(sweepsOf(pace, (sweep) => (sweep < 70 ? 0.03 : 0.03 * 0.99 ** (sweep - 70)))).toBe(1000);
  });
});

describe('a search', () => {
  it('of an all-to-all on three oversubscribed tiers ends, or is left with less than 1 %', () => {
    const simulator = flowSimulator({
      topology: {
        ...{ builder: 'fat-tree', pods: 4, leavesPerPod: 2, spinesPerPod: 2, hostsPerLeaf: 2 },
        ...{ uplinksPerSpine: 1, fabricRate: '300Gbps' },
      },
      jobs: [
        {
          name: 'experts',
          gpus: 16,
          queuePairs: 4,
          parallelism: { expert: 16 },
          step: {
            compute: '200ms',
            collectives: [{ collective: 'all-to-all', parallelism: 'expert', bytes: '200MB' }],
          },
        },
      ],
    });
    let sweeps = 0;
    simulator.effort.onWork = () => sweeps++;
    simulator.startJobs();
    simulator.advance(201e6);
    const { searches, worstResidual } = simulator.effort.record;
    expect(searches).toBeGreaterThan(1);
    expect(worstResidual).toBeLessThan(0.01);
    expect(sweeps / searches).toBeLessThan(1000);
  });

  it('without pauses is left as soon as a queue outgrows its switch', () => {
    const marking = { kminBytes: 400e3, kmaxBytes: 1600e3, pmax: 0.2 };
    // sixteen queue pairs that go no slower than 10 Gb/s, to one port of 100
    const dcqcn = { ...reactionPoint, minRate: 10 * GBPS };
    const net = clos({ leaves: 1, spines: 1, hosts: 17, marking, dcqcn });
    const asked = twin(
      net.network,
      Array.from({ length: 16 }, (_, host) => net.flow(host, 16)),
    );
    const effort = new Effort();
    let sweeps = 0;
    effort.onWork = () => sweeps++;
    const { rate, pausedShare } = new Equilibrium(asked.network, effort).solve(asked.flows);
    expect(sweeps).toBeLessThan(200);
    expect(effort.record.stopped).toBe(0);
    expect(rate[0] / GBPS).toBeCloseTo(100 / 16, 1);
    expect(Math.max(...pausedShare)).toBeGreaterThan(0);
  });
});
