/** Seconds a step, weighted by GPUs, before the fault and from it on. */
import { describe, expect, it } from '@jest/globals';
import { EvidenceIndex } from '../../model/telemetry/series.js';
import { drill, END_S, INJECTED_S, jobs, STEP_S, type Story } from '../testing/synthetic-drill.js';
import { trainingPace } from './training.js';

const S = 1e9;
const pace = (story: Partial<Story>, injectedS: number | null = INJECTED_S, of = jobs) =>
  trainingPace(
    new EvidenceIndex(drill(story).evidence),
    of,
    injectedS === null ? null : injectedS * S,
    END_S * S,
  );

describe('training', () => {
  it('takes its usual time a step before the fault, and longer by the share that it loses from there on', () => {
    const { step_time_s: before, faulted_step_time_s: after } = pace({ exposedStallS: 8 });
    expect(before).toBeCloseTo(STEP_S, 9);
    // one of two jobs of a size stands still for 8 of 40 seconds
    expect(after).toBeCloseTo((STEP_S + STEP_S / (1 - 8 / 40)) / 2, 6);
  });

  it('weighs jobs by their GPUs', () => {
    const [exposed, bystander] = jobs;
    const small = { ...bystander, placement: bystander.placement.slice(0, 1) };
    const weight = exposed.placement.length;
    const { faulted_step_time_s: after } = pace({ exposedStallS: 8 }, INJECTED_S, [exposed, small]);
    expect(after).toBeCloseTo((weight * (STEP_S / 0.8) + STEP_S) / (weight + 1), 6);
  });

  it('of a control is that of the whole run, and was never hurt', () => {
    expect(pace({ exposedStallS: 0 }, null)).toEqual({
      step_time_s: expect.closeTo(STEP_S, 9),
      faulted_step_time_s: null,
    });
  });

  it('is not known as soon as that of one job is not, nor without jobs', () => {
    const unknown = { step_time_s: null, faulted_step_time_s: null };
    expect(pace({}, INJECTED_S, [])).toEqual(unknown);
    expect(pace({}, INJECTED_S, [...jobs, { ...jobs[0], name: 'silent' }])).toEqual(unknown);
  });

  it('has no figure where no step was ever finished', () => {
    expect(pace({ exposedDiesS: INJECTED_S, exposedStallS: 100 }).faulted_step_time_s).toBeNull();
  });
});
