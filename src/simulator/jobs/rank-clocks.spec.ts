/**
 * Who computes and who waits: clocks of ranks against hand-made steps, and a slowed GPU in a whole simulation.
 */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { samplesOf, simulatedFabric, twoJobs, valueAt } from '../../../test/support/simulated-fabric.js';
import { RankClocks } from './rank-clocks.js';

describe('rank clocks', () => {
  it('give each rank its own compute time and the rest of the step as waiting', () => {
    const clocks = new RankClocks();
    clocks.setSlowdown(0, 3, 2);
    expect(clocks.begin(0, 100e6)).toBe(200e6);
    clocks.endStep(250e6);
    expect([clocks.computeNs(0), clocks.waitNs(0)]).toEqual([100e6, 150e6]);
    expect([clocks.computeNs(3), clocks.waitNs(3)]).toEqual([200e6, 50e6]);
  });

  it('stretch what is left when a rank slows down, and shrink it when it recovers', () => {
    const clocks = new RankClocks();
    clocks.begin(0, 100e6);
    clocks.setSlowdown(40e6, 1, 3);
    clocks.endStep(220e6);
    expect(clocks.computeNs(1)).toBe(40e6 + 3 * 60e6);
    clocks.begin(220e6, 100e6);
    clocks.setSlowdown(220e6 + 150e6, 1, 1);
    clocks.endStep(200e6);
    expect(clocks.computeNs(1)).toBe(150e6 + 50e6);
    expect(clocks.computeNs(0)).toBe(100e6);
    expect(clocks.slowdown).toBe(1);
  });

  it('know nothing before the first step has ended', () => {
    expect(new RankClocks().computeNs(0)).toBeNaN();
  });

  it('never let a rank compute longer than its share of work times its factor, nor less than its work', () => {
    const step = fc.record({
      workNs: fc.integer({ min: 1e6, max: 1e9 }),
      factor: fc.double({ min: 1, max: 10, noNaN: true }),
      atShare: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 20 }), (steps) => {
        const clocks = new RankClocks();
        let nowNs = 0;
        for (const { workNs, factor, atShare } of steps) {
          const before = clocks.slowdown;
          clocks.begin(nowNs, workNs);
          clocks.setSlowdown(nowNs + atShare * workNs, 5, factor);
          clocks.endStep(workNs * 20);
          const [least, most] = [Math.min(before, factor), Math.max(before, factor)];
          expect(clocks.computeNs(5)).toBeGreaterThanOrEqual(workNs * least - 2e3);
          expect(clocks.computeNs(5)).toBeLessThanOrEqual(workNs * most + 2e3);
          nowNs += workNs * 20;
        }
      }),
    );
  });
});

describe('a GPU at half its speed', () => {
  const under = async (impaired: boolean) => {
    const fabric = simulatedFabric(twoJobs);
    await fabric.startJobs();
    await fabric.advance(4e9);
    const impairment = { type: 'compute-slowdown', device: 'device:host-1', gpu: 3, factor: 2 } as const;
    const saved = await fabric.readBack(impairment);
    if (impaired) await fabric.apply('slow', impairment);
    await fabric.advance(10e9);
    await fabric.revert('slow', impairment, saved);
    await fabric.advance(16e9);
    return fabric.observe({ fromNs: 0, toNs: 16e9 });
  };

  it('adds its compute time to each step of its job, makes everyone else wait, and leaves the other job alone', async () => {
    const [slow, control] = [await under(true), await under(false)];
    const step = (evidence: typeof slow, job: string, atNs: number): number =>
      valueAt(evidence, 'job_step_time_s', `job:${job}`, atNs);
    const normal = step(control, 'llm-a', 9e9);
    // 300 ms of computation, twice as long; the collective that overlaps its second half still fits beside it.
    expect(step(slow, 'llm-a', 9e9) - normal).toBeCloseTo(0.3, 2);
    expect(step(slow, 'llm-a', 15e9)).toBeCloseTo(normal, 6);
    expect(samplesOf(slow, 'job_step_time_s', 'job:llm-b')).toEqual(
      samplesOf(control, 'job_step_time_s', 'job:llm-b'),
    );
    const rank = (metric: string, one: number): number => valueAt(slow, metric, `rank:llm-a/${one}`, 9e9);
    expect(rank('rank_compute_time_s', 3)).toBeCloseTo(0.6, 5);
    expect(rank('rank_compute_time_s', 4)).toBeCloseTo(0.3, 5);
    expect(rank('rank_wait_time_s', 4) - rank('rank_wait_time_s', 3)).toBeCloseTo(0.3, 5);
    expect(valueAt(slow, 'rank_compute_time_s', 'rank:llm-a/3', 15e9)).toBeCloseTo(0.3, 5);
  });

  it('leaves the bandwidth of collectives as it was', async () => {
    const [slow, control] = [await under(true), await under(false)];
    const busbw = (evidence: typeof slow): number =>
      valueAt(evidence, 'job_busbw_gbytes_per_s', 'job:llm-a', 9e9);
    expect(busbw(slow)).toBeCloseTo(busbw(control), 6);
  });
});
