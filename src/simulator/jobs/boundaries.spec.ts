/**
 * Running up to a boundary of a job, so that something else can be aligned with it.
 */
import { describe, expect, it } from '@jest/globals';
import { flowSimulator, samplesOf } from '../../../test/support/simulated-fabric.js';

const spec = {
  topology: { builder: 'leaf-spine', leaves: 1, spines: 0, hostsPerLeaf: 2, gpusPerHost: 1 },
  jobs: [
    {
      name: 'ring',
      gpus: 2,
      start: '500ms',
      step: {
        compute: '100ms',
        collectives: [
          { name: 'one', collective: 'all-reduce', bytes: '10MB' },
          { name: 'two', collective: 'all-reduce', bytes: '20MB' },
        ],
      },
    },
  ],
};

type Simulator = ReturnType<typeof flowSimulator>;

const toBoundary = (
  simulator: Simulator,
  kind: 'step' | 'collective' | 'checkpoint',
  untilNs: number,
  number?: number,
): number | undefined => simulator.advanceToFirstBoundary([{ job: 0, kind, number }], untilNs)?.beganNs;

const started = () => {
  const simulator = flowSimulator(spec);
  simulator.startJobs();
  return simulator;
};

describe('advancing to a boundary', () => {
  it('stops at the instant at which the first step, or a later one, begins', () => {
    const simulator = started();
    expect(toBoundary(simulator, 'step', 10e9)).toBe(500e6);
    expect(simulator.nowNs).toBe(500e6);
    const beganNs = toBoundary(simulator, 'step', 10e9, 4)!;
    const ends = samplesOf(simulator.evidence(0, beganNs), 'job_steps', 'job:ring');
    expect(ends.at(-1)).toEqual([beganNs / 1e9, 3]);
    expect(simulator.nowNs).toBe(beganNs);
  });

  it('counts collectives over the fabric, not computations', () => {
    const simulator = started();
    expect(toBoundary(simulator, 'collective', 10e9)).toBe(600e6);
    const secondNs = toBoundary(simulator, 'collective', 10e9, 2)!;
    expect(secondNs).toBeGreaterThan(600e6);
    expect(secondNs).toBeLessThan(toBoundary(simulator, 'step', 10e9)!);
  });

  it('goes as far as it was told when there is none, and says so', () => {
    const simulator = started();
    expect(toBoundary(simulator, 'step', 400e6)).toBeUndefined();
    expect(simulator.nowNs).toBe(400e6);
  });

  it('changes nothing about what the fabric does', () => {
    const stopped = started();
    toBoundary(stopped, 'collective', 3e9, 5);
    stopped.advance(3e9);
    const straight = started();
    straight.advance(3e9);
    expect(stopped.evidence(0, 3e9)).toEqual(straight.evidence(0, 3e9));
  });
});
