/**
 * One experiment planned for two fabrics, so that both have their faults at the same elements.
 *
 * The real fabric resolves the selectors, and whoever runs the experiment then is told the elements by name: paths, and with
 * them what a job uses, may differ on the twin.
 */
import { unsupportedError, type PlanView } from '../../../drill/plan/plan.js';
import type { FabricDocument } from '../../../documents/fabric-document.js';
import { refuseFiles } from '../../../documents/fabric-document.js';
import { loadExperiment, type Loaded } from '../../../documents/load.js';
import { InputError } from '../../../core/problem.js';
import type { Config } from '../../../system/config/config.js';
import type { ApiClient } from '../../client/api-client.js';
import { planHere } from '../../client/check.js';
import { withAnswers } from '../../computing.js';
import type { ExperimentFile } from '../../files/definitions.js';
import { fabricChoice, located } from '../run.js';

export interface PlannedPair {
  seed: number;
  /** The experiment with the elements by name. */
  pinned: ExperimentFile;
  /** Element ids of all faults. */
  targets: string[];
  /** Jobs whose routes on the real fabric cross them; null where it can't tell. */
  exposedJobs: readonly string[] | null;
}

export interface PairToPlan {
  client: ApiClient;
  source: ExperimentFile;
  real: Loaded<FabricDocument>;
  twin: Loaded<FabricDocument>;
  seed: number;
  config: Config;
}

/** @throws InputError when one of the two fabrics can't run it, for an impairment or anything else */
export async function planBoth({
  client,
  source,
  real,
  twin,
  seed,
  config,
}: PairToPlan): Promise<PlannedPair> {
  const plan = await planOnServer(client, source, real, seed);
  requireSupported(source, plan);
  const pinned = withTargets(source, plan);
  const prediction = await withAnswers({ config }, (ask) => planHere(pinned, twin, seed, { ask, config }));
  requireSupported(source, prediction);
  return {
    ...{ seed, pinned, exposedJobs: plan.blastRadius.exposedJobs },
    targets: plan.faults.flatMap(({ targets }) => targets.map(({ id }) => id)),
  };
}

function requireSupported(
  { experiment }: ExperimentFile,
  plan: Pick<PlanView, 'fabric' | 'driver' | 'unsupported'>,
): void {
  if (plan.unsupported.length > 0) throw new InputError(experiment.locate(unsupportedError(plan).issues));
}

async function planOnServer(
  client: ApiClient,
  source: ExperimentFile,
  fabric: Loaded<FabricDocument>,
  seed: number,
): Promise<PlanView> {
  try {
    const experiment = await client.json<{ id: string }>('POST', '/v1/experiments', source.experiment.source);
    const body = { fabric: fabricChoice({ document: fabric }), seed };
    return await client.json<PlanView>('POST', `/v1/experiments/${experiment.id}/plan`, body);
  } catch (error) {
    throw located(error, source);
  }
}

interface Stated {
  spec: { faults: Record<string, unknown>[] };
}

function withTargets(source: ExperimentFile, { faults }: PlanView): ExperimentFile {
  const stated = source.experiment.source as Stated;
  const named = stated.spec.faults.map((fault, at) => {
    const { targets } = faults[at];
    if (targets.length === 0) return fault;
    const target = { type: targets[0].type, names: targets.map(({ id }) => id), mode: 'all' };
    return { ...fault, target };
  });
  const document = { ...stated, spec: { ...stated.spec, faults: named } };
  const { locate } = source.experiment;
  return { ...source, experiment: { ...loadExperiment(document, refuseFiles), locate } };
}
