/**
 * From stored or sent definitions to a plan on an opened fabric. Used by REST and by the command line alike.
 */
import { planDrill, type Plan } from './plan.js';
import { openFabric } from '../drivers/catalog.js';
import { InputError } from '../core/problem.js';
import type { Experiment } from '../documents/experiment.js';
import type { FabricDocument } from '../documents/fabric-document.js';
import { withJobs } from '../documents/stored.js';
import { checkEvidenceRoom, type EvidenceRoom } from './evidence-room.js';

export interface PlanRequest {
  experiment: Experiment;
  fabric: FabricDocument;
  seed?: number;
  /** Where the evidence is to be kept; not looked at when left out. */
  room?: EvidenceRoom;
}

/**
 * Opens the fabric, plans, closes it. Changes nothing anywhere.
 * @throws InputError when targets, jobs or limits don't fit this fabric, or its evidence nowhere
 */
export async function planExperiment(request: PlanRequest): Promise<Plan> {
  const { experiment } = request;
  const fabricDocument = withJobs(request.fabric, experiment);
  if (fabricDocument.spec.jobs.length === 0) {
    throw InputError.at(
      '/spec/jobs',
      `neither the experiment nor the fabric "${fabricDocument.metadata.name}" has a job, so nothing could suffer`,
      'add jobs to the experiment',
    );
  }
  const seed = request.seed ?? experiment.spec.seed;
  const fabric = await openFabric(fabricDocument, seed);
  try {
    const plan = await planDrill({ name: experiment.metadata.name, spec: experiment.spec, fabric, seed });
    if (request.room !== undefined) await checkEvidenceRoom(fabric, plan.durationNs, request.room);
    return plan;
  } finally {
    await fabric.close();
  }
}
