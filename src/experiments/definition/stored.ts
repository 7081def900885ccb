/**
 * Definitions that were stored with a run, read back.
 *
 * They were checked when the run was asked for; a failure here means that they were written by another version.
 */
import type { Experiment } from './experiment.js';
import { refuseFiles, type FabricDocument } from './fabric-document.js';
import { loadExperiment, loadFabric } from './load.js';

export const experimentFromStored = (definition: unknown): Experiment =>
  loadExperiment(definition, refuseFiles).value;

/** The fabric of a run; one without jobs of its own takes the experiment's. */
export function fabricFromStored(definition: unknown, experiment: Experiment): FabricDocument {
  return withJobs(loadFabric(definition, refuseFiles).value, experiment);
}

export function withJobs(fabric: FabricDocument, experiment: Experiment): FabricDocument {
  if (fabric.spec.jobs.length > 0 || experiment.spec.jobs === undefined) return fabric;
  return { ...fabric, spec: { ...fabric.spec, jobs: experiment.spec.jobs } };
}
