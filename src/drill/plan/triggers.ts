/**
 * When a fault begins: at an instant of the run, or with something that a job begins.
 *
 * A boundary that is named by its number is watched for from the start; about when it will come follows from how fast a
 * step could be at best, and is for people to read. Jobs that can't come to such a boundary are refused here.
 */
import type { FaultSpec, TriggerSpec } from '../../documents/experiment.js';
import { watchesJobs, type Fabric, type FabricDescription } from '../../fabric-api/fabric.js';
import { listChoices, nearestHint } from '../../core/nearest.js';
import { InputError } from '../../core/problem.js';
import { idealStepNs } from '../../model/workload/closed-form.js';
import type { Job } from '../../model/workload/job.js';
import type { PlannedTrigger } from './planned.js';

export interface PlannedTime {
  atNs: number;
  trigger?: PlannedTrigger;
}

/** @throws InputError with pointers into the fault: a job that isn't there, or never begins such a thing */
export function planTime(fault: FaultSpec, fabric: Fabric, description: FabricDescription): PlannedTime {
  const { trigger } = fault;
  if (trigger === undefined) return { atNs: fault.at ?? 0 };
  const job = jobOf(trigger, description);
  if (!watchesJobs(fabric)) {
    throw InputError.at(
      '/trigger',
      `the fabric "${description.name}" can't tell when a job begins a ${trigger.at}`,
      'write at, with a time',
    );
  }
  const { number } = trigger;
  const boundary = {
    job: job.name,
    kind: trigger.at,
    ...(number === undefined ? {} : { number }),
  };
  if (number === undefined) {
    const fromNs = fault.at ?? trigger.after ?? 0;
    return { atNs: fromNs, trigger: { boundary, fromNs, untilNs: fromNs + trigger.within } };
  }
  const expectedNs = expectedAtNs(job, trigger.at, number, description);
  return { atNs: expectedNs, trigger: { boundary, fromNs: 0, untilNs: expectedNs + trigger.within } };
}

function jobOf(trigger: TriggerSpec, { name, jobs }: FabricDescription): Job {
  const job = jobs.find((candidate) => candidate.name === trigger.job);
  const names = jobs.map((candidate) => candidate.name);
  if (job === undefined) {
    throw InputError.at(
      '/trigger/job',
      `there is no job "${trigger.job}" on ${name}; the jobs are ${listChoices(names) || '(none)'}`,
      nearestHint(trigger.job, names),
    );
  }
  if (trigger.at === 'checkpoint' && job.checkpoint === undefined) {
    const writing = jobs.filter(({ checkpoint }) => checkpoint !== undefined).map((other) => other.name);
    throw InputError.at(
      '/trigger/at',
      `the job "${job.name}" writes no checkpoints; those that do are ${listChoices(writing) || '(none)'}`,
      'give the job a checkpoint in the fabric file, or take a step',
    );
  }
  if (trigger.at === 'collective' && !job.program.operations.some(({ type }) => type === 'collective')) {
    throw InputError.at('/trigger/at', `the job "${job.name}" has no collectives`, 'take a step');
  }
  return job;
}

/** The earliest that the boundary could come, whole ns. */
function expectedAtNs(
  job: Job,
  kind: TriggerSpec['at'],
  number: number,
  { topology, transport }: FabricDescription,
): number {
  const { mtuBytes: mtu, headerBytes, ackBytes } = transport;
  const stepNs = idealStepNs(job, topology, { mtu, headerBytes, ackBytes });
  const collectives = job.program.operations.filter(({ type }) => type === 'collective').length;
  const stepsBefore = {
    step: number - 1,
    collective: Math.floor((number - 1) / Math.max(1, collectives)),
    checkpoint: number * (job.checkpoint?.everySteps ?? 1),
  }[kind];
  return Math.round(job.startNs + stepsBefore * stepNs);
}
