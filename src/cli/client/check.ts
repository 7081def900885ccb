/**
 * What can be known about files before any server is asked: does the fabric build, do the jobs fit, what would a run
 * do. `validate`, `plan` and `run` share it, so that a mistake costs a moment and leaves nothing behind.
 */
import type { Plan } from '../../drill/plan/plan.js';
import { refuseFiles, type FabricDocument } from '../../documents/fabric-document.js';
import { loadFabric, type Loaded } from '../../documents/load.js';
import { evidenceRoom } from '../../drill/plan/evidence-room.js';
import { planExperiment } from '../../drill/plan/planning.js';
import type { Config } from '../../system/config/config.js';
import { listChoices, nearestHint } from '../../core/nearest.js';
import { InputError, withPointer } from '../../core/problem.js';
import { buildTopology } from '../../model/topology/topology-spec.js';
import { buildJobs } from '../../model/workload/build-jobs.js';
import { FabricError } from '../../drill/plan/fabric-error.js';
import type { Ask } from '../computing.js';
import type { CommandContext } from '../context.js';
import { withStore, type CommandStore } from '../store.js';
import type { ApiClient } from './api-client.js';
import { unknownFabric, type ExperimentFile, type FabricReference } from '../files/definitions.js';
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
  { ask, config }: { ask: Ask; config: Config },
): Promise<Plan> {
  const isSimulated = fabric.value.spec.driver === 'simulated';
  // a real one may not be there to be opened
  if (!isSimulated) checkFabric(fabric);
  const request = {
    experiment: source.experiment.value,
    fabric: fabric.value,
    // what a server elsewhere keeps, it says itself
    ...(config.serverUrl === undefined ? { room: evidenceRoom(config) } : {}),
    ...(seed === undefined ? {} : { seed }),
  };
  try {
    return await (isSimulated ? ask('plan', request) : planExperiment(request));
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new InputError((error instanceof FabricError ? fabric : source.experiment).locate(error.issues));
  }
}

/** The document of a fabric, wherever it is kept. @throws InputError where the experiment or the flag names one that is not there */
export async function fabricDocument(
  reference: FabricReference,
  source: ExperimentFile,
  override: string | undefined,
  context: CommandContext,
  open?: CommandStore,
): Promise<Loaded<FabricDocument>> {
  if ('document' in reference) return reference.document;
  const found = await storedFabric(reference.stored, context, open);
  if (Array.isArray(found)) throw unknownFabric(source, override, reference.stored, found);
  return found;
}

/** The same of a fabric that a flag names, whatever the experiment says. @throws InputError where there is none */
export async function flaggedFabric(
  reference: FabricReference,
  flag: string,
  context: CommandContext,
  open?: CommandStore,
): Promise<Loaded<FabricDocument>> {
  if ('document' in reference) return reference.document;
  const found = await storedFabric(reference.stored, context, open);
  if (!Array.isArray(found)) return found;
  const there = found.length === 0 ? 'none is stored' : `stored are ${listChoices(found)}`;
  const hint =
    nearestHint(reference.stored, found) ?? 'a path of a fabric file has a slash in it or ends in .yaml';
  throw InputError.at(flag, `there is no fabric "${reference.stored}"; ${there}`, hint);
}

/** A stored fabric, or the names of those that are. */
async function storedFabric(
  name: string,
  { config, withServer }: CommandContext,
  open?: CommandStore,
): Promise<Loaded<FabricDocument> | string[]> {
  if (config.serverUrl !== undefined) return withServer((client) => fabricOrNames(client, name));
  return open?.fabric(name) ?? withStore(config, (store) => store.fabric(name));
}

/** A stored fabric's document, from a server. @throws InputError where the experiment or the flag names one that is not there */
export async function fetchFabric(
  client: ApiClient,
  name: string,
  source: ExperimentFile,
  override: string | undefined,
): Promise<Loaded<FabricDocument>> {
  const found = await fabricOrNames(client, name);
  if (Array.isArray(found)) throw unknownFabric(source, override, name, found);
  return found;
}

/** A fabric that a server keeps, or the names of those that it does. */
async function fabricOrNames(client: ApiClient, name: string): Promise<Loaded<FabricDocument> | string[]> {
  try {
    const path = `/v1/fabrics/${encodeURIComponent(name)}`;
    return loadFabric((await client.json<{ definition: unknown }>('GET', path)).definition, refuseFiles);
  } catch (error) {
    if (!(error instanceof ProblemError) || error.status !== 404) throw error;
    const names: string[] = [];
    for await (const fabric of client.pages<{ name: string }>('/v1/fabrics')) names.push(fabric.name);
    return names.sort();
  }
}

function located(document: Loaded<unknown>, step: () => void): void {
  try {
    step();
  } catch (error) {
    throw error instanceof InputError ? new InputError(document.locate(error.issues)) : error;
  }
}
