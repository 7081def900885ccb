/**
 * From stored or sent definitions to a plan on an opened fabric. Used by REST and by the command line alike.
 */
import { planDrill, type Plan } from './plan.js';
import { openFabric } from '../../drivers/catalog.js';
import { InputError } from '../../core/problem.js';
import type { Experiment } from '../../documents/experiment.js';
import type { FabricDocument } from '../../documents/fabric-document.js';
import { withJobs } from '../../documents/stored.js';
import type { Fabric } from '../../fabric-api/fabric.js';
import { checkEvidenceRoom, type EvidenceRoom } from './evidence-room.js';
import { FabricError } from './fabric-error.js';

export interface PlanRequest {
  experiment: Experiment;
  fabric: FabricDocument;
  seed?: number;
  /** Where the evidence is to be kept; not looked at when left out. */
  room?: EvidenceRoom;
}

/**
 * Opens the fabric, plans, closes it. Changes nothing anywhere.
 * @throws FabricError when the fabric can't be opened; InputError when targets, jobs or limits don't fit it, or its evidence nowhere
 */
export async function planExperiment({
  experiment,
  fabric: document,
  room,
  ...more
}: PlanRequest): Promise<Plan> {
  const seed = more.seed ?? experiment.spec.seed;
  const fabric = await openFor(experiment, document, seed);
  try {
    return await planOn(fabric, { experiment, seed, room });
  } finally {
    await fabric.close();
  }
}

/**
 * The fabric with the jobs that an experiment has on it.
 * @throws FabricError with pointers into the Fabric document; InputError with pointers into the experiment
 */
export async function openFor(
  experiment: Experiment,
  document: FabricDocument,
  seed: number,
): Promise<Fabric> {
  const { metadata, spec } = withJobs(document, experiment);
  if (spec.jobs.length === 0) {
    throw InputError.at(
      '/spec/jobs',
      `neither the experiment nor the fabric "${metadata.name}" has a job, so nothing could suffer`,
      'add jobs to the experiment',
    );
  }
  try {
    return await openFabric({ metadata, spec }, seed);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const isOfJobs = error.issues.some(({ pointer }) => pointer.startsWith('/spec/jobs'));
    throw isOfJobs && spec !== document.spec ? error : new FabricError(error.issues);
  }
}

/** Plans on a fabric that is open. @throws InputError with pointers into the experiment */
export async function planOn(
  fabric: Fabric,
  { experiment, seed, room }: Pick<PlanRequest, 'experiment' | 'room'> & { seed: number },
): Promise<Plan> {
  const plan = await planDrill({ name: experiment.metadata.name, spec: experiment.spec, fabric, seed });
  if (room !== undefined) await checkEvidenceRoom(fabric, plan.durationNs, room);
  return plan;
}
