import { describe, expect, it } from '@jest/globals';
import { simulatedFabric, twoJobs } from '../../../test/support/simulated-fabric.js';
import { idealStepNs } from '../../model/workload/closed-form.js';
import type { PlannedFault } from './planned.js';
import { stepNotes } from './step-notes.js';

const description = simulatedFabric(twoJobs).describe();
const { jobs, topology, transport } = description;
const wire = { mtu: transport.mtuBytes, headerBytes: transport.headerBytes, ackBytes: transport.ackBytes };
const [exposed, bystander] = jobs;
const stepNs = idealStepNs(exposed, topology, wire);
const lasting = (durationNs: number): PlannedFault => ({ name: 'cut', durationNs }) as PlannedFault;

describe('a fault that is shorter than steps', () => {
  it('is told with the job and its step', () => {
    expect(stepNotes([lasting(1.5 * stepNs)], description, [exposed.name])).toEqual([
      expect.stringMatching(new RegExp(`^cut lasts .* a step of ${exposed.name} .*fewer than 2 steps`)),
    ]);
  });

  it('is no matter where two steps of the jobs that it hits lie within it', () => {
    expect(stepNotes([lasting(2 * stepNs)], description, [exposed.name])).toEqual([]);
    expect(stepNotes([lasting(1)], description, [])).toEqual([]);
  });

  it('is told of all jobs where nobody knows whom it hits', () => {
    const longest = Math.max(stepNs, idealStepNs(bystander, topology, wire));
    expect(stepNotes([lasting(1.9 * longest)], description, null)).toHaveLength(1);
  });
});
