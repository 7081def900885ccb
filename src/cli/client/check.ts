/**
 * What can be known about files before any server is asked: does the fabric build, do the jobs fit, what would a run
 * do. `validate`, `plan` and `run` share it, so that a mistake costs a moment and leaves nothing behind.
 */
import type { Plan } from '../../drill/plan.js';
import { refuseFiles, type FabricDocument } from '../../documents/fabric-document.js';
import { loadFabric, type Loaded } from '../../documents/load.js';
import { evidenceRoom } from '../../drill/evidence-room.js';
import { planExperiment } from '../../drill/planning.js';
import type { Config } from '../../system/config/config.js';
import { InputError, withPointer } from '../../core/problem.js';
import { buildTopology } from '../../model/topology/topology-spec.js';
import { buildJobs } from '../../model/workload/build-jobs.js';
import type { ApiClient } from './api-client.js';
import { unknownFabric, type ExperimentFile } from '../files/definitions.js';
import { ProblemError } from '../terminal/failure.js';

/** @throws InputError with the lines of what does not fit together */
export function checkFabric(fabric: Loaded<FabricDocument>): void {
  const { topology, jobs } = fabric.value.spec;
  located(fabric, () => {
    const built = withPointer('/spec/topology', () => buildTopology(topology));
    buildJobs(jobs, built, '/spec/jobs');
  });
}

/** @throws InputError with the lines, in whichever of the two files the mistake is */
export async function planHere(
  source: ExperimentFile,
  fabric: Loaded<FabricDocument>,
  seed: number | undefined,
  config: Config,
): Promise<Plan> {
  checkFabric(fabric);
  try {
    return await planExperiment({
      experiment: source.experiment.value,
      fabric: fabric.value,
      // what a server elsewhere keeps, it says itself
      ...(config.serverUrl === undefined ? { room: evidenceRoom(config) } : {}),
      ...(seed === undefined ? {} : { seed }),
    });
  } catch (error) {
    throw error instanceof InputError ? new InputError(source.experiment.locate(error.issues)) : error;
  }
}

/**
 * A stored fabric's document.
 * @throws InputError where the experiment or the flag names it, with the fabrics there are
 */
export async function fetchFabric(
  client: ApiClient,
  name: string,
  source: ExperimentFile,
  override: string | undefined,
): Promise<Loaded<FabricDocument>> {
  try {
    const path = `/v1/fabrics/${encodeURIComponent(name)}`;
    const { definition } = await client.json<{ definition: unknown }>('GET', path);
    return loadFabric(definition, refuseFiles);
  } catch (error) {
    if (!(error instanceof ProblemError) || error.status !== 404) throw error;
    const names: string[] = [];
    for await (const fabric of client.pages<{ name: string }>('/v1/fabrics')) names.push(fabric.name);
    throw unknownFabric(source, override, name, names.sort());
  }
}

function located(document: Loaded<unknown>, step: () => void): void {
  try {
    step();
  } catch (error) {
    throw error instanceof InputError ? new InputError(document.locate(error.issues)) : error;
  }
}
