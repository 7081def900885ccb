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

/**
 * A Fabric document that evidence was recorded on: how its devices are reached, and whose settings said so then, does not
 * matter any more.
 */
export function fabricAsRecorded(definition: unknown): FabricDocument {
  const { transport: _, orchestrator: __, prometheus: ___, ...spec } = specOf(definition);
  return loadFabric({ ...(definition as object), spec }, refuseFiles).value;
}

/** The fabric of a run; one without jobs of its own takes the experiment's. */
export function fabricFromStored(definition: unknown, experiment: Experiment): FabricDocument {
  return withJobs(loadFabric(definition, refuseFiles).value, experiment);
}

export function withJobs(fabric: FabricDocument, experiment: Experiment): FabricDocument {
  if (fabric.spec.jobs.length > 0 || experiment.spec.jobs === undefined) return fabric;
  return { ...fabric, spec: { ...fabric.spec, jobs: experiment.spec.jobs } };
}

/** The same for documents as they were written, before any default is filled in. */
export function withJobsAsWritten(fabric: unknown, experiment: unknown): unknown {
  const own = specOf(fabric).jobs;
  const { jobs } = specOf(experiment);
  if (jobs === undefined || (Array.isArray(own) && own.length > 0)) return fabric;
  return { ...(fabric as object), spec: { ...specOf(fabric), jobs } };
}

const specOf = (document: unknown): Record<string, unknown> =>
  (document as { spec?: Record<string, unknown> } | null)?.spec ?? {};
