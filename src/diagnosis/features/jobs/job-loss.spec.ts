import { describe, expect, it } from '@jest/globals';
import { SeriesBuilder } from '../../../model/telemetry/series.js';
import type { Job } from '../../../model/workload/job.js';
import type { Topology } from '../../../model/topology/model.js';
import { Context } from '../../series/context.js';
import type { Interval } from '../../series/context.js';
import { observeJobLosses } from './job-loss.js';

const topology: Topology = {
  devices: [],
  nics: [],
  ports: [],
  links: [],
  gpus: [],
  gpusPerHost: 8,
  scaleUpGbps: 0,
  scaleUpDelayNs: 0,
};
const job: Job = {
  name: 'llm',
  placement: new Int32Array(8),
  program: { operations: [] },
  startNs: 0,
  queuePairs: 1,
  priority: 3,
};

function lossOf(
  stepEndsS: readonly number[],
  toS: number,
  suspects: [number, number][] = [],
  diedS?: number,
) {
  const steps = new SeriesBuilder('job_steps', 'job:llm');
  steps.push(0, 0);
  stepEndsS.forEach((endS, index) => steps.push(endS * 1e9, index + 1));
  const state = new SeriesBuilder('job_state', 'job:llm');
  state.push(0, 1);
  if (diedS !== undefined) state.push(diedS * 1e9, 0);
  const series = [steps.build(), state.build()];
  const context = new Context({ topology, jobs: [job], evidence: { fromNs: 0, toNs: toS * 1e9, series } });
  return observeJobLosses(
    context,
    suspects.map(([fromS, untilS]) => ({ fromNs: fromS * 1e9, toNs: untilS * 1e9 })),
  )[0];
}

describe('lost time of a job', () => {
  it('is nothing while steps keep their pace, an open step included', () => {
    expect(lossOf([1, 2, 3, 4, 5], 5.9).lostNs).toBe(0);
  });

  it('is what slow steps took longer than the normal one, though most steps are slow', () => {
    const loss = lossOf([1, 2, 3, 5, 7, 9, 11, 13, 15, 17], 17);
    expect(loss.normalStepNs).toBe(1e9);
    expect(loss.lostNs).toBe(7e9);
  });

  it('counts the step that is still open at the end', () => {
    expect(lossOf([1, 2, 3, 4], 20).lostNs).toBe(15e9);
  });

  it('is everything since the last step once the job died, save the step that was due', () => {
    const loss = lossOf([1, 2, 3, 4], 20, [], 10);
    expect(loss.diedNs).toBe(10e9);
    expect(loss.lostNs).toBe(15e9);
  });

  it('is not known without steps', () => {
    expect(lossOf([], 20).normalStepNs).toBeNull();
  });

  it('takes its pace from the time before the suspect, and sums small losses under it', () => {
    const ends = [1, 2, 3, 4, 5, 6, 7.05, 8.1, 9.15, 10.2, 11.25, 12.25, 13.25];
    const loss = lossOf(ends, 13.25, [[6, 11]]);
    expect(loss.normalStepNs).toBe(1e9);
    expect(loss.lostNs).toBeCloseTo(0.25e9, -2);
  });

  it('is nothing under a suspect that made no difference to noisy steps', () => {
    const ends = [1, 2.1, 3, 4.1, 5.1, 6, 7.1, 8, 9.1, 10.1, 11, 12.1];
    expect(lossOf(ends, 12.1, [[6.5, 9]]).lostNs).toBe(0);
  });

  it('is also what lasts beside a suspect, of which it is no work', () => {
    const ends = [0];
    for (let step = 0; step < 60; step++) ends.push(ends[step] + (step >= 30 && step < 50 ? 1.3 : 1));
    const { lostNs, losses } = lossOf(ends.slice(1), 66, [[10, 15]]);
    // blocks of steps on both edges are slow in part only
    expect(lostNs / 1e9).toBeGreaterThan(5);
    expect(lostNs / 1e9).toBeLessThanOrEqual(6.001);
    expect(losses.every(({ fromNs }) => fromNs > 25e9)).toBe(true);
  });

  it('is none where another job starts and takes its share of the links, and is where the company stays', () => {
    const ends = (slowFrom: number): number[] => {
      const all = [0];
      for (let step = 0; step < 40; step++) all.push(all[step] + (step < slowFrom ? 1 : 1.4));
      return all.slice(1);
    };
    const lostBeside = (startS: number, suspects: Interval[] = []): number => {
      const steps = new SeriesBuilder('job_steps', 'job:llm');
      steps.push(0, 0);
      ends(20).forEach((endS, index) => steps.push(endS * 1e9, index + 1));
      const context = new Context({
        topology,
        jobs: [job, { ...job, name: 'other', startNs: startS * 1e9 }],
        evidence: { fromNs: 0, toNs: 48e9, series: [steps.build()] },
      });
      return observeJobLosses(context, suspects)[0].lostNs;
    };
    expect(lostBeside(20)).toBe(0);
    expect(lostBeside(20, [{ fromNs: 5e9, toNs: 8e9 }])).toBe(0);
    expect(lostBeside(2, [{ fromNs: 8e9, toNs: 10e9 }]) / 1e9).toBeCloseTo(8, 0);
    expect(lostBeside(0) / 1e9).toBeCloseTo(8, 0);
    expect(lostBeside(2) / 1e9).toBeCloseTo(8, 0);
  });
});
